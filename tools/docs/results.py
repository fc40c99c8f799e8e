"""The tables of results, from the run files in reproductions/results/."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import cache
from pathlib import Path
from typing import Any

from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.run_files import read_results
from firstsight.reproduce.tables.benchmark import csv
from firstsight.reproduce.tables.lines import Line, lines
from tools.docs.reference import table

RESULTS = Path(__file__).parents[2] / "reproductions" / "results"
# What decides, and no more. Ours; the best other rule on the fly; the strongest row here of Table 2 but PHE;
# PHE; a classifier that never discovers, which discovery must better; and k-means, which is told the number of
# categories and sees the whole stream at once.
SHOWN = {
    "firstsight-frozen": "`firstsight`, the backbone as it came",
    "online-clustering": "`online-clustering`, the best other rule",
    "slc": "`slc`, the best but PHE in the paper's Table 2",
    "phe": "`phe`, the paper, 12 bits",
    "closed-set-ce": "`closed-set-ce`, a classifier that never discovers",
    "firstsight-frozen, offline k-means": "k-means on the same features, told the number",
}
DATA = {"cub": "CUB", "pets": "Pets"}
THREE = {"cub": "CUB", "scars": "Cars", "pets": "Pets"}


@cache
def runs(data: str) -> list[RunResult]:
    return read_results(RESULTS / "benchmark", data)


def half_known(data: str) -> list[RunResult]:
    """The runs under the usual split."""
    return [result for result in runs(data) if result.run.known_share == 50]


def everything(data: str) -> str:
    """All that was measured, as CSV."""
    return csv(lines(runs(data)))


def full(data: str, longer: bool) -> str:
    """A row for every method; codes of 12 bits with the methods that have no codes, best first, or all longer codes."""
    found = lines(half_known(data))
    heads = [line for line in found if _is_head(line) and (line.bits not in (12, None)) == longer]
    rows = []
    for line in heads if longer else sorted(heads, key=lambda line: -line.means[0]):
        _, bits, method, _, *figures, categories, seeds, paper = line.cells()
        beside = _all_of(found, line, "fixed", "bursty", "reference rule", "closed-set", "offline k-means")
        rows.append([method, bits, *figures, categories, *beside, seeds, paper])
    header = ["method", "bits", "All", "Old", "New", "found / true", "fixed", "bursty", "reference rule", "closed set"]
    return table([*header, "k-means", "seeds", "paper's All/Old/New"], rows)


def frozen(data: str) -> str:
    """The later rules where nothing of the backbone learns, best first."""
    found = lines(read_results(RESULTS / "frozen", data))
    rows = []
    for line in sorted(filter(_is_head, found), key=lambda line: -line.means[0]):
        _, _, method, _, *figures, categories, _, _ = line.cells()
        beside = _all_of(found, line, "fixed", "bursty", "closed-set", "offline k-means")
        rows.append([method, *figures, categories, *beside])
    return table(["method", "All", "Old", "New", "found / true", "fixed", "bursty", "closed set", "k-means"], rows)


def whole() -> str:
    """Rules and features under one recipe of training, seed 0: by what a backbone learned, and which rules decided."""
    found: dict[tuple[str, str, str], Mapping[str, Any]] = {}
    for folder in ("adapted", "whole"):
        for data in THREE:
            for result in read_results(RESULTS / folder, data):
                if result.run.seed == 0:
                    found[data, result.run.method, result.run.method] = asdict(result.headline)
        for line in map(json.loads, (RESULTS / folder / "registers.jsonl").read_text().splitlines()):
            if "rows" in line:
                found[line["data"], line["features"], line["rule"]] = line["rows"][0]
    pairs = [key[1:] for key in found if key[1] != "firstsight-frozen"]
    rows = [
        [features, rule, *(_figures(found.get((data, features, rule))) for data in THREE)]
        for features, rule in sorted(dict.fromkeys(pairs), key=lambda pair: (_place(pair[0]), _place(pair[1])))
    ]
    return table(["features learned by", "rule", *THREE.values()], rows)


def _place(method: str) -> int:
    return list(METHODS).index(method)


def _figures(row: Mapping[str, Any] | None) -> str:
    if row is None:
        return "not run"
    accuracy = " / ".join(f"{100 * row['accuracy'][name]:.1f}" for name in ("all", "old", "new"))
    return f"{accuracy}; {row['categories']:.0f}"


def _is_head(line: Line) -> bool:
    """Whether this is the headline of a method: its own rule, in random orders or any."""
    return line.order in ("random", "any") and ", " not in line.method


def _all_of(found: Sequence[Line], line: Line, *others: str) -> list[str]:
    """All of the same method in other orders, or decided otherwise; empty where that was not run."""
    by_name = {(each.bits, each.method, each.order): each for each in found}
    names = {other: (f"{line.method}, {other}", "any") for other in ("closed-set", "offline k-means")}
    names |= {"reference rule": (f"{line.method}, reference rule", "random")}
    keys = [(line.bits, *names.get(other, (line.method, other))) for other in others]
    return [f"{by_name[key].means[0]:.1f}" if key in by_name else "" for key in keys]


def short() -> str:
    """The rows that decide, both data sets side by side: 12 bits or none, random orders."""
    found = {
        data: {line.method: line for line in lines(half_known(data), ["random"]) if line.bits in (12, None)}
        for data in DATA
    }
    rows = [
        [words, *(cell for data in DATA for cell in _beside(found[data][method]))] for method, words in SHOWN.items()
    ]
    header = ["method"]
    for data, name in DATA.items():
        header += [f"{name}: All", "Old", "New", f"found, of {found[data]['firstsight-frozen'].true_categories}"]
    return table(header, rows)


def _beside(line: Line) -> list[str]:
    _, _, _, _, *figures, categories, _, _ = line.cells()
    return [*figures, categories.split(" / ")[0]]


def prototypes() -> str:
    """What the images of a stream are most like, by how they are answered."""
    header = ("data", "known categories", "images", "how many", "three or more of five", "similarity", "categories")
    rows = []
    for path in sorted((RESULTS / "prototypes").glob("*.json")):
        result = json.loads(path.read_text())
        for group, r in result["groups"].items():
            shares = [
                f"{r['share_with_three_or_more']:.1%}",
                f"{r['mean_similarity']:.2f}",
                f"{r['mean_categories']:.1f}",
            ]
            rows.append([result["data"], result["known_categories"], group, r["images"], *shares])
    return table(header, rows)
