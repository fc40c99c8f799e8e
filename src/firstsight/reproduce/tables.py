"""Results as tables, our figures beside the paper's: means and population deviations over seeds."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable, Mapping, Sequence
from csv import writer as csv_writer
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import isnan, nan
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.core.cells import cell
from firstsight.core.files import write_file
from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.benchmark import OTHERS, PARTS, read_result

HEADER = ("data", "bits", "method", "order", "All", "Old", "New", "found / true", "runs", "paper's All/Old/New")
ORDERS = ("random", "fixed", "bursty")
BESIDE = ("closed-set", "offline k-means")  # rows of a run that have no order


@dataclass(frozen=True)
class Line:
    """One row of a table: All, Old and New in per cent with their deviation over seeds."""

    data: str
    bits: int | None
    method: str
    order: str
    means: tuple[float, float, float]
    deviations: tuple[float, float, float]
    categories: float
    true_categories: int
    runs: int
    paper: tuple[float, float, float] | None
    more: Mapping[str, float]  # everything else that was measured, by name
    varied: tuple[tuple[str, float], ...] = ()
    known_share: int = 50
    orders: int | None = None  # random ones, of every run

    def cells(self) -> list[str]:
        pairs = zip(self.means, self.deviations, strict=True)
        spread = self.runs > 1  # one seed has none
        figures = ["-" if isnan(mean) else f"{mean:.1f}" + f" ± {by:.1f}" * spread for mean, by in pairs]
        beside = "/".join(f"{value:.1f}" for value in self.paper if not isnan(value)) if self.paper else ""
        found = f"{self.categories:.0f} / {self.true_categories}"
        bits = "" if self.bits is None else str(self.bits)
        return [self.data, bits, self.method, self.order, *figures, found, str(self.runs), beside]


def read_results(folder: Path, data: str | None = None, tried: bool = False) -> list[dict[str, Any]]:
    """All runs on a data set, or on any, that lie in a folder, in the order methods are listed.

    Those with settings tried out and those with a closer look only if asked: they are no part of a benchmark's table.
    """
    found = [read_result(path) for path in folder.glob(f"{data or '*'}-*-seed*.json")]
    found = [result for result in found if tried or not (result["varied"] or result["closer"])]
    place = {name: i for i, name in enumerate(METHODS)}

    def order(r: Mapping[str, Any]) -> tuple[Any, ...]:
        method = r["method"]
        return (
            r["data"],
            r["known_share"],
            place.get(method, len(place)),
            method,
            r["bits"] or 0,
            r["varied"],
            r["seed"],
        )

    return sorted((result for result in found if data in (None, result["data"])), key=order)


def lines(results: Iterable[Mapping[str, Any]], orders: Sequence[str] = ORDERS) -> list[Line]:
    """Every method and rule of these runs, the rows beside it last, averaged over seeds."""
    groups: dict[tuple[Any, ...], list[tuple[Mapping[str, Any], Mapping[str, Any]]]] = {}
    for result in results:
        for i, (rule, rows) in enumerate(result["rows"].items()):
            for row in rows:
                name = _name(result["method"], rule if i else None, row["name"], orders)
                if name is not None:
                    share = result["known_share"]
                    data = result["data"] if share == 50 else f"{result['data']}, {share} % known"
                    key = (data, result["bits"], *name, result.get("varied", ()), share)
                    groups.setdefault(key, []).append((result, row))
    return [_line(key, members) for key, members in groups.items()]


def write_tables(table: Sequence[Line], path: Path) -> None:
    """The table as PATH.md, PATH.txt and, with everything that was measured, PATH.csv."""
    for suffix, form in ((".md", markdown), (".txt", text), (".csv", csv)):
        write_file(path.with_suffix(suffix), form(table).encode())


def markdown(table: Sequence[Line]) -> str:
    rows = [" | ".join(line.cells()) for line in table]
    rule = "|".join("---" for _ in HEADER)
    return "\n".join([f"| {' | '.join(HEADER)} |", f"|{rule}|", *(f"| {row} |" for row in rows)]) + "\n"


def text(table: Sequence[Line]) -> str:
    rows = [list(HEADER), *(line.cells() for line in table)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(HEADER))]
    return "".join(f"{'  '.join(map(str.ljust, row, widths)).rstrip()}\n" for row in rows)


def csv(table: Sequence[Line]) -> str:
    """One number per cell, in per cent where it is a share; empty where there is none."""
    content = io.StringIO()
    writer = csv_writer(content, lineterminator="\n")
    names = [f"{part}{of}" for part in PARTS for of in ("", "_deviation")]
    papers = [f"paper_{part}" for part in PARTS]
    measured = list(dict.fromkeys(name for line in table for name in line.more))
    writer.writerow(["data", "bits", "method", "order", *names, "found", "true", "runs", *measured, *papers])
    for line in table:
        figures = [figure for pair in zip(line.means, line.deviations, strict=True) for figure in pair]
        values = [*figures, line.categories, line.true_categories, line.runs]
        values += [line.more.get(name, nan) for name in measured] + list(line.paper or [nan] * 3)
        numbers = ["" if isnan(value) else f"{value:.2f}".removesuffix(".00") for value in values]
        writer.writerow([cell(line.data), line.bits, cell(line.method), line.order, *numbers])
    return content.getvalue()


def paper_figure(
    data: str, method: str, bits: int | None, variant: str = "", share: int = 50
) -> tuple[float, float, float] | None:
    """All/Old/New of a method in the paper, with DINO ViT-B/16, fixed order; None where it has none."""
    tables = paper_tables()
    if method not in METHODS or METHODS[method].paper is None or variant == "closed-set":
        return None
    if share != 50:
        shares = tables["tab:accuracy-comparison-split (All)"].get((METHODS[method].paper or ("", ""))[1], {})
        alone = shares.get(data, {}).get(str(share)) if bits == 12 and not variant else None
        return (alone, nan, nan) if alone else None
    dimensions = tables["tab:dim-smile"].get(str(bits)) if (data, method) == ("cub", "smile") else None
    if variant == "offline k-means":
        return (dimensions["offline k-means"], nan, nan) if dimensions else None
    if dimensions:
        return dimensions["all"], dimensions["old"], dimensions["new"]
    table, row = METHODS[method].paper or ("", "")
    found: Mapping[str, Any] = tables[table].get("rows", tables[table]).get(row, {})
    if bits is not None:
        found = found.get(str(bits), found if bits == 12 else tables["tab:codelength"].get(str(bits), {}).get(row, {}))
    figures = found.get(data)
    return (figures["all"], figures["old"], figures["new"]) if figures else None


@cache
def paper_tables() -> dict[str, Any]:
    """Every figure of the paper's tables."""
    text = files("firstsight.reproduce").joinpath("paper_tables.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def _name(method: str, rule: str | None, row: str, orders: Sequence[str]) -> tuple[str, str] | None:
    """What a row of a run is called, and the order it is in; None where it is not to be shown."""
    decides = METHODS[method].decides if method in METHODS else "ball"
    if decides == "offline" or (decides == "never discovers" and row == "closed-set"):
        return method, "any"
    if row in BESIDE:
        return f"{method}, {row}", "any"
    order = row.split(" ")[0]
    if order not in orders or decides == "never discovers":
        return None
    return f"{method}, {rule} rule" if rule else method, order


def _line(key: tuple[Any, ...], members: Sequence[tuple[Mapping[str, Any], Mapping[str, Any]]]) -> Line:
    shares = np.array([[_share(row["accuracy"][part]) for part in PARTS] for _, row in members]) * 100
    means, deviations = shares.mean(0), shares.std(0)
    rows = [row for _, row in members]
    data, bits, name, order, varied, share = key
    method, _, variant = name.partition(", ")
    return Line(
        data=data,
        bits=bits,
        method=name,
        order=order,
        means=(float(means[0]), float(means[1]), float(means[2])),
        deviations=(float(deviations[0]), float(deviations[1]), float(deviations[2])),
        categories=float(np.mean([row["categories"] for _, row in members])),
        true_categories=members[0][0]["true_categories"],
        runs=len(members),
        paper=None if varied else paper_figure(members[0][0]["data"], method, bits, variant, share),
        more=_more(rows),
        varied=varied,
        known_share=share,
        orders=min((orders for result, _ in members if (orders := result.get("orders"))), default=None),
    )


def _more(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """The other two accuracies and all that accuracy does not say, means in per cent."""
    values = {
        f"{variant}_{part}": [_share(row[variant][part]) for row in rows if variant in row]
        for variant in ("largest", "separate")
        for part in PARTS
    }
    values |= {name: [_share(row[name]) for row in rows if name in row] for name in OTHERS}
    return {name: 100 * float(np.mean(some)) for name, some in values.items() if some}


def _share(value: float | None) -> float:
    return nan if value is None else value
