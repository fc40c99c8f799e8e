"""The paper's own figures, from its tables: with DINO ViT-B/16, in its fixed order."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from math import nan
from typing import Any, TypeAlias

from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.runs import USUAL_SHARE

Figures: TypeAlias = tuple[float, float, float]  # All, Old and New in per cent

ORDERS = {"fixed": "fixed", "random": "random (mean of 10)"}  # as its Table 9 calls them


@cache
def paper_tables() -> dict[str, Any]:
    """Every figure of the paper's tables."""
    text = files("firstsight.reproduce").joinpath("paper_tables.json").read_text(encoding="utf-8")
    content: dict[str, Any] = json.loads(text)
    return content


def paper_figure(
    data: str, method: str, bits: int | None, variant: str = "", share: int = USUAL_SHARE
) -> Figures | None:
    """All/Old/New of a method in the paper; None where it has none."""
    tables = paper_tables()
    if method not in METHODS or METHODS[method].paper is None or variant == "closed-set":
        return None
    table, row = METHODS[method].paper or ("", "")
    if share != USUAL_SHARE:
        shares = tables["tab:accuracy-comparison-split (All)"].get(row, {})
        alone = shares.get(data, {}).get(str(share)) if bits == 12 and not variant else None
        return (alone, nan, nan) if alone else None
    dimensions = tables["tab:dim-smile"].get(str(bits)) if (data, method) == ("cub", "smile") else None
    if variant == "offline k-means":
        return (dimensions["offline k-means"], nan, nan) if dimensions else None
    if dimensions:
        return _triple(dimensions)
    found: Mapping[str, Any] = tables[table].get("rows", tables[table]).get(row, {})
    if bits is not None:
        found = found.get(str(bits), found if bits == 12 else tables["tab:codelength"].get(str(bits), {}).get(row, {}))
    return _triple(found.get(data))


def paper_in_order(data: str, method: str, order: str) -> Figures | None:
    """The paper's figures of PHE in the same order, which it has for the fixed one and for random ones."""
    if method != "phe":
        return None
    return _triple(paper_tables()["tab:infer_squence"].get(ORDERS.get(order, ""), {}).get(data))


def paper_found(data: str, method: str, bits: int | None) -> int | None:
    """How many categories the paper found, which it says for some code lengths."""
    row = METHODS[method].paper if method in METHODS else None
    found = paper_tables()["tab:codelength"].get(str(bits), {}).get(row[1] if row else "", {}).get("estimated")
    return dict(zip(("cub", "scars"), found, strict=True)).get(data) if found else None


def paper_deviation(data: str, method: str) -> Figures | None:
    """How far the paper's seeds of PHE are apart."""
    found = paper_tables()["tab:complete_results std of PHE over three runs"].get(data) if method == "phe" else None
    return (found[0], found[1], found[2]) if found else None


def paper_minutes(data: str, method: str) -> float:
    """Its training time on an RTX A6000; NaN where it says none."""
    minutes = paper_tables()["tab:training-time-all (minutes, RTX A6000, 200 epochs)"]
    row = {"smile": "SMILE", "phe": "PHE"}[method]
    return float(minutes[row].get(data, nan))


def paper_seconds_per_image(data: str) -> float:
    """PHE's training time over support images."""
    return float(paper_tables()["tab:training-time-persample"]["seconds per sample"].get(data, nan))


def _triple(cell: Mapping[str, float] | None) -> Figures | None:
    return (cell["all"], cell["old"], cell["new"]) if cell else None
