"""Results of runs as tests want them, made by hand."""

from __future__ import annotations

from math import nan
from typing import Any

from firstsight.core.accuracy import Accuracy
from firstsight.evaluate.scores import Row
from firstsight.reproduce.provenance import MadeBy
from firstsight.reproduce.results import (
    CaseStudies,
    Centres,
    Changed,
    Codes,
    Inspection,
    Likeness,
    MadeOf,
    Report,
    RunResult,
    Seconds,
)
from firstsight.reproduce.runs import Run


def a_row(name: str = "random x 10", share: float = 0.25, **others: Any) -> Row:
    """All as shares given."""
    accuracy = Accuracy(share, share, share)
    content: dict[str, Any] = {
        "accuracy": accuracy,
        "largest": accuracy,
        "separate": accuracy,
        "categories": 5.0,
        "confirmed": 4.0,
        "hindsight": accuracy,
        "by_name": 0.5,
        "false_births": nan,
        "mutual_information": 0.75,
        "rand_index": 0.125,
        "course": [share] * 20,
        "growth": [float(i) for i in range(20)],
        "deviation": None,
    }
    return Row(**{**content, **others}, name=name)


def a_result(
    method: str = "phe", seed: int = 0, rows: list[Row] | None = None, data: str = "cub", **others: Any
) -> RunResult:
    """A run of 12 bits; `others` are fields of the run or of the result."""
    keys = ("bits", "known_share", "varied", "inspected")
    key: dict[str, Any] = {"bits": 12, "seed": seed, **{name: others.pop(name) for name in keys if name in others}}
    content: dict[str, Any] = {
        "run": Run(data, method, **key),
        "made_of": MadeOf("0123456789abcdef", None, 10),
        "settings": {"method": method, "alpha": 0.1, "weights": None, "rule": "nearest"},
        "rows": {"own": rows or [a_row()]},
        "images": 20,
        "true_categories": 4,
        "report": Report(["went well"], {"closest": 3, "support_within_radius": 0.9}),
        "seconds": Seconds(4.5, 5.0, 1.5),
        "made_by": MadeBy("abc1234", "firstsight benchmark", "2026-01-02T03:04:05Z", {"torch": "2"}, "a machine"),
    }
    return RunResult(**{**content, **others})


def a_look() -> Inspection:
    """Two known categories and a new one; the second image of the new one is taken for a known one."""
    return Inspection(
        known=2,
        names=["ant", "bee", "fly"],
        true=[0, 0, 1, 2, 2, 2],
        found=[0, 0, 1, 2, 1, 3],
        sample=[0, 2, 3, 4],
        x=[0.0, 1.5, 2.0, 3.0],
        y=[0.0, -1.5, 2.0, 3.0],
        codes=Codes(
            bits=4,
            per_category={"all": 1.5, "new": 2.0},
            changed={"noise": Changed(0.125, 0.25, 0.5), "mirrored": Changed(0.0, 0.0, 0.0)},
            centres=Centres(2, {"random": [1, 2, 0, 0, 0], "support": [0, 2, 1, 0, 0]}, [0, 0, 3, 0, 0]),
        ),
        cases=CaseStudies(
            20,
            1,
            0,
            {
                "known, named right": Likeness(2, [0, 0, 0, 1, 0, 1], 1.0, 6.5, 1.5),
                "known, not named": Likeness(0, [], nan, nan, nan),
            },
        ),
    )
