"""What a run came to: every figure that tables and figures are made of, with what made it.

Read and written here alone, one line of JSON each; run_files keeps the lines.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

from firstsight.core.files import read_json
from firstsight.evaluate.scores import Row, without_nan
from firstsight.reproduce.provenance import MadeBy
from firstsight.reproduce.runs import Run
from firstsight.reproduce.typed_json import from_json

Scalar: TypeAlias = bool | int | float | str | None
Histogram: TypeAlias = list[int]  # how many, by distance in bits


@dataclass(frozen=True)
class MadeOf:
    """What must be equal for a kept result to stand for a new run, beside its settings."""

    split: str  # digest of the names in support set and query stream
    weights: str | None  # digest of a file of weights, if one was given
    orders: int  # random ones


@dataclass(frozen=True)
class Seconds:
    steps: float  # of training alone
    training: float  # with all that goes before
    scoring: float


@dataclass(frozen=True)
class Report:
    """How training came out on the support set."""

    lines: list[str]  # for people
    figures: dict[str, int | float]

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> Report:
        """Of what a model says; the time is kept with the other times."""
        numbers = {name: value for name, value in report.items() if name not in ("lines", "seconds")}
        return cls(list(report["lines"]), numbers)


@dataclass(frozen=True)
class Likeness:
    """Images of one group: how many of their five most similar prototypes are of the category in question."""

    images: int
    of_the_top_five: list[int]
    share_with_three_or_more: float
    mean_similarity: float
    mean_categories: float


@dataclass(frozen=True)
class CaseStudies:
    """What images are most like, by how they were answered (Fig. 3)."""

    points: int
    dead: int  # that stand for no image
    strays: int  # nearest to an image of another category
    groups: dict[str, Likeness]


@dataclass(frozen=True)
class Changed:
    """What a small change of the images does: the share of bits, of codes and of answers that are others."""

    bits: float
    codes: float
    answers: float


@dataclass(frozen=True)
class Centres:
    """How far pairs of centres are apart, before training by how prototypes start, and after it (Fig. 5)."""

    asked: int
    before: dict[str, Histogram]
    after: Histogram


@dataclass(frozen=True)
class Codes:
    """What is there to say where features are codes."""

    bits: int
    per_category: dict[str, float]  # different codes of the images of one true category: all, old, new
    changed: dict[str, Changed]
    centres: Centres


@dataclass(frozen=True)
class Inspection:
    """A closer look at one model and its stream, beyond accuracy. Positions are among `names`, and the register's."""

    known: int
    names: list[str]  # of true categories, the known first
    true: list[int]
    found: list[int]
    sample: list[int]  # images that have a place in the plane
    x: list[float]
    y: list[float]
    codes: Codes | None
    cases: CaseStudies | None


@dataclass(frozen=True)
class RunResult:
    """One run: its key, what it was made of and by, and what it came to under every rule."""

    run: Run
    made_of: MadeOf
    settings: dict[str, Scalar]
    rows: dict[str, list[Row]]  # by rule, the method's own first
    images: int
    true_categories: int
    report: Report
    seconds: Seconds
    made_by: MadeBy
    inspection: Inspection | None = None

    @property
    def headline(self) -> Row:
        """The first row of the method's own rule: random orders."""
        return next(iter(self.rows.values()))[0]

    def to_line(self) -> str:
        """As one line of JSON, without its end."""
        return json.dumps(without_nan(asdict(self)), allow_nan=False)

    @classmethod
    def from_line(cls, line: str | bytes) -> RunResult:
        """What `to_line` made; ValueError says what is wrong with it, a FieldError where."""
        return from_json(cls, read_json(line))
