"""How long training takes, beside the paper's times."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

from firstsight.data.benchmarks import BENCHMARKS
from firstsight.reproduce.paper import paper_minutes, paper_seconds_per_image
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.tables.sheet import Cell, Sheet

NOTE = (
    "Seconds of training alone, of one run; `of PHE` is the time over that of PHE. The paper has DINO ViT-B/16 on "
    "an RTX A6000, so only ratios compare."
)


def training_time(results: Sequence[RunResult]) -> Sheet:
    """How long training takes, and how SMILE's time is to PHE's."""
    rows: list[list[Cell]] = []
    for (data, method), seconds in training_seconds(results).items():
        ours, theirs = ratio_to_phe(results, data, method)
        made = {r.made_by.hardware for r in results if (r.run.data, r.run.method) == (data, method)}
        minutes = paper_minutes(data, method)
        rows.append([data, method, seconds, minutes, ours, theirs, ours - theirs, ", ".join(sorted(made))])
    header = ("data", "method", "seconds", "paper's minutes", "of PHE", "paper's of PHE", "difference", "hardware")
    return Sheet(header, rows, (NOTE,) if rows else ())


def time_per_sample(results: Sequence[RunResult]) -> Sheet:
    """Training time over support images, which the paper says goes with the number of categories."""
    rows: list[list[Cell]] = []
    for (data, method), seconds in training_seconds(results).items():
        of = BENCHMARKS.get(data)
        if of is not None and of.support and method == "phe":
            ours, theirs = 1000 * seconds / of.support, 1000 * paper_seconds_per_image(data)
            rows.append([data, len(of.known), of.support, seconds, ours, theirs, ours - theirs])
    header = ("data", "known categories", "support images", "seconds", "ms per image", "paper's ms", "difference")
    return Sheet(header, rows, (NOTE,) if rows else ())


def training_seconds(results: Sequence[RunResult]) -> dict[tuple[str, str], float]:
    """By data set and method."""
    return {(result.run.data, result.run.method): result.seconds.steps for result in results}


def ratio_to_phe(results: Sequence[RunResult], data: str, method: str) -> tuple[float, float]:
    """A method's training time over PHE's, ours and the paper's; NaN where one is not known or too short to tell."""
    seconds = training_seconds(results)
    ours = seconds[data, method] / (seconds.get((data, "phe")) or nan)
    return ours, paper_minutes(data, method) / paper_minutes(data, "phe")
