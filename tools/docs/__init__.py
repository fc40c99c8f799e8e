"""Writes what the docs show of the code and of the runs: `python -m tools.docs`, or `--check` to change nothing.

A generated part of a page stands between two comments, `<!-- NAME: begin ... -->` and `<!-- NAME: end -->`.
`catalogue.py` says what makes each part. A test compares what is made with what is committed.
"""
