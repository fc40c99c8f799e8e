"""`firstsight methods`: every method there is, how it decides, and where it stands in the paper."""

from __future__ import annotations

from firstsight.cli.console import Grid, Json, print_json, print_table
from firstsight.methods.catalogue import METHODS, Method

HEADER = ("method", "decides by", "code lengths", "what it is", "in the paper")


def methods(
    as_json: Json = False,
) -> None:
    """List every method: `fit --method NAME` trains it, `benchmark --methods NAME,...` compares it with others."""
    if as_json:
        rows = [dict(zip(HEADER, cells(method), strict=True)) for method in METHODS.values()]
        return print_json(rows)
    table = Grid(*HEADER, padding=(0, 1, 0, 0))
    for method in METHODS.values():
        table.add_row(*cells(method))
    print_table(table)
    return None


def cells(method: Method) -> list[str]:
    """A method as a row of a table."""
    few = method.changes if len(method.changes) <= 2 else {}
    settings = ", ".join(f"{name} {value}" for name, value in few.items())
    about = f"{method.about} (`{settings}`)" if settings else method.about
    paper = f"{method.paper[1]}, {method.paper[0]}" if method.paper else ""
    return [method.name, method.decides, method.bits, about, paper]
