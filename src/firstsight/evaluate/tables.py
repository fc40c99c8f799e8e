"""Results as tables, our figures beside the paper's: means and population deviations over seeds."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np

HEADER = ("data", "bits", "method", "order", "All", "Old", "New", "found / true", "runs", "paper's All/Old/New")


@dataclass(frozen=True)
class Line:
    """One row of a table: All, Old and New in per cent with their deviation over seeds."""

    data: str
    bits: int
    method: str
    order: str
    means: tuple[float, float, float]
    deviations: tuple[float, float, float]
    categories: float
    true_categories: int
    runs: int

    def cells(self) -> list[str]:
        figures = [f"{m:.1f} ± {d:.1f}" for m, d in zip(self.means, self.deviations, strict=True)]
        paper = paper_figure(self.data, self.method, self.bits)
        beside = "/".join(f"{value:.1f}" for value in paper) if paper else ""
        found = f"{self.categories:.0f} / {self.true_categories}"
        return [self.data, str(self.bits), self.method, self.order, *figures, found, str(self.runs), beside]


def lines(results: Iterable[Mapping[str, Any]], orders: Sequence[str] = ("random", "fixed", "bursty")) -> list[Line]:
    """Every method and rule of these runs, the row that never discovers last, averaged over seeds."""
    groups: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    for result in results:
        for i, (rule, rows) in enumerate(result["rows"].items()):
            for row in rows:
                order = row["name"].split(" ")[0]
                if order == "closed-set":
                    if i == 0:
                        key = (result["data"], result["bits"], f"{result['method']}, closed-set", "any")
                        groups.setdefault(key, []).append((result, row))
                elif order in orders:
                    method = result["method"] if i == 0 else f"{result['method']}, {rule} rule"
                    groups.setdefault((result["data"], result["bits"], method, order), []).append((result, row))
    return [_line(key, members) for key, members in groups.items()]


def markdown(table: Sequence[Line]) -> str:
    rows = [" | ".join(line.cells()) for line in table]
    rule = "|".join("---" for _ in HEADER)
    return "\n".join([f"| {' | '.join(HEADER)} |", f"|{rule}|", *(f"| {row} |" for row in rows)]) + "\n"


def csv(table: Sequence[Line]) -> str:
    return "\n".join([",".join(HEADER), *(",".join(line.cells()) for line in table)]) + "\n"


def paper_figure(data: str, method: str, bits: int) -> tuple[float, float, float] | None:
    """All/Old/New of PHE in the paper at this code length, with DINO ViT-B/16, fixed order; None where it has none."""
    if not method.startswith("phe") or "closed-set" in method:
        return None
    tables = paper_tables()
    rows = tables["tab:method-comparison"]["rows"] if bits == 12 else tables["tab:codelength"].get(str(bits), {})
    for name, row in rows.items():
        if name.startswith("PHE") and data in row:
            return row[data]["all"], row[data]["old"], row[data]["new"]
    return None


@cache
def paper_tables() -> dict[str, Any]:
    """Every figure of the paper's tables."""
    text = files("firstsight.evaluate").joinpath("paper_tables.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def _line(key: tuple[Any, ...], members: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Line:
    shares = np.array([[row["accuracy"][part] for part in ("all", "old", "new")] for _, row in members]) * 100
    means, deviations = shares.mean(0), shares.std(0)
    data, bits, method, order = key
    return Line(
        data=data,
        bits=bits,
        method=method,
        order=order,
        means=(float(means[0]), float(means[1]), float(means[2])),
        deviations=(float(deviations[0]), float(deviations[1]), float(deviations[2])),
        categories=float(np.mean([row["categories"] for _, row in members])),
        true_categories=members[0][0]["true_categories"],
        runs=len(members),
    )
