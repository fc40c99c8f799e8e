"""The paper's tables that need no run: data sets, settings, d_max, from the code that others use them by."""

from __future__ import annotations

from collections.abc import Sequence

from firstsight.core.bounds import ball_radius, distance_by_eq7, minimum_distance
from firstsight.data.benchmarks import BENCHMARKS
from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.reproduction import Result
from firstsight.reproduce.sheets import Cell, Sheet
from firstsight.reproduce.tables import paper_tables


def datasets(results: Sequence[Result]) -> Sheet:
    """Categories and images of every data set of the paper, as the readers and splits here have them."""
    paper = paper_tables()["tab:dataset"]
    rows: list[list[Cell]] = []
    for name in paper["Y_Q"]:
        of = BENCHMARKS[name]
        support, query = of.sizes or (None, None)
        theirs = [paper[key][name] for key in ("Y_S", "Y_Q", "D_S (thousands)", "D_Q (thousands)")]
        gap = len(of.known) - theirs[0], of.categories - theirs[1]
        rows.append([of.title, len(of.known), of.categories, support, query, *theirs, *gap])
    ours = ("known", "categories", "support", "query")
    theirs_too = ("paper's known", "paper's categories", "paper's support, k", "paper's query, k")
    notes = (
        "Empty: those images are not counted here before they are read.",
        "Pets has 37 breeds; the paper's table says 38.",
    )
    return Sheet(("data", *ours, *theirs_too, "known: difference", "categories: difference"), rows, notes)


def settings(results: Sequence[Result]) -> Sheet:
    """What each setting of category discovery may know, and what each method here is told."""
    columns = ("train old", "train new", "train needs #cls", "test old", "test new", "test needs #cls", "online")
    rows: list[list[Cell]] = [
        [f"{name}, the paper's", *(_word(setting[key]) for key in columns)]
        for name, setting in paper_tables()["tab:setting"].items()
    ]
    for name, method in METHODS.items():
        told = name == "phe-paper"
        needs = "Old and New" if told or not method.on_the_fly else "Old"
        discovers = method.decides != "never discovers"
        rows.append(
            [name, "yes", "no", needs if told else "Old", "yes", _word(discovers), needs, _word(method.on_the_fly)]
        )
    note = "OCD gives the number of known categories; `phe-paper` is told that of the stream, as the paper's d_max is."
    return Sheet(("setting or method", *columns), rows, (note,))


def distances(results: Sequence[Result]) -> Sheet:
    """d_max for every code length and data set, by the released rule and as Eq. 7 is printed."""
    categories = paper_tables()["tab:dataset"]["Y_Q"]
    rows: list[list[Cell]] = []
    for bits, cells in paper_tables()["tab:dmax"].items():
        for name, theirs in cells.items():
            ours = minimum_distance(int(bits), categories[name])
            printed = distance_by_eq7(int(bits), categories[name])
            rows.append([int(bits), name, categories[name], ours, theirs, ours - theirs, printed, ball_radius(ours)])
    header = ("bits", "data", "categories", "d_max", "paper's", "difference", "Eq. 7 as printed", "radius")
    return Sheet(header, rows)


def _word(value: object) -> str:
    return value if isinstance(value, str) else "yes" if value else "no"
