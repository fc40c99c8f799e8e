"""The paper's tables and figures, made of runs of ours, and the paper's figures beside them.

A `Run` (runs) is carried out (execute, inspection) by this process or others (workers) and becomes a `RunResult`
(results), a line in its data set's file (run_files). Lines are averaged into tables and drawn as figures; catalogue
has every table and figure by name. Imports `evaluate`, `evidence` and what lies below them; only `cli` imports this.
"""
