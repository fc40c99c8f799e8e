"""How well it went: what a pass over a labelled stream comes to, in several orders.

`orders` says in which order images arrive, `metrics` how two groupings are compared, `scores` what is measured of a
pass, `stream` lets registers decide. Labels are used for scoring alone. Imports `discoverer` and what lies below it.
"""
