"""What is measured of the answers to one pass over a stream, and the means over several passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import astuple, dataclass, field, fields
from math import isnan, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.accuracy import Accuracy, separate_accuracy, strict_accuracy
from firstsight.core.number import Number
from firstsight.core.protocols import CONFIRMED
from firstsight.evaluate.metrics import course, growth, mutual_information, rand_index


@dataclass(frozen=True)
class Answers:
    """What a pass answered, image by image in its order, beside what is true."""

    truth: NDArray[np.int64]  # a number for every true category
    known: NDArray[np.bool_]  # whether it is a known one
    category: NDArray[np.int32]  # which category answered
    again: NDArray[np.int32]  # which would answer at the end of the stream
    named: NDArray[np.bool_] | None = None  # whether it is the known category's own; None where nothing has a name
    founded: NDArray[np.bool_] | None = None  # whether the image founded a category; None where none does
    number: Number | None = None  # how many categories the register takes it for; None where it is not asked


@dataclass(frozen=True)
class Measures:
    """What one pass over the stream came to; NaN where there is nothing to measure."""

    accuracy: Accuracy  # Strict-Hungarian over all clusters, as the released code computes it
    largest: Accuracy  # only as many of the largest clusters may match as there are categories: the paper's text
    separate: Accuracy  # Old and New matched apart
    categories: float  # that answered at least once
    confirmed: float  # of them with images enough to be more than a guess
    hindsight: Accuracy  # were all images asked again at the end: what a register that learns has made of them
    by_name: float  # known images answered with their own category's name
    false_births: float  # known images that founded a category
    mutual_information: float
    rand_index: float
    course: list[float]  # accuracy so far, after every twentieth of the stream
    growth: list[float]  # categories that had answered by then
    estimate: float = field(default=nan, kw_only=True)  # how many there are, by the register's own account
    estimate_low: float = field(default=nan, kw_only=True)  # and the interval it gives, where it does
    estimate_high: float = field(default=nan, kw_only=True)


@dataclass(frozen=True)
class Row(Measures):
    """One row of a result's table: means over passes, with population deviations of the accuracy if several."""

    name: str
    deviation: Accuracy | None

    def cells(self) -> list[str]:
        """All, Old and New in per cent, with the deviation over orders; a dash where there are no such images."""
        spreads = astuple(self.deviation) if self.deviation else (None, None, None)
        return [
            "-" if isnan(value) else f"{100 * value:.1f}" + (f" ± {100 * spread:.1f}" if spread is not None else "")
            for value, spread in zip(astuple(self.accuracy), spreads, strict=True)
        ]

    def more(self) -> list[str]:
        """Right by name, false births, NMI and ARI, likewise."""
        values = (self.by_name, self.false_births, self.mutual_information, self.rand_index)
        return ["-" if isnan(value) else f"{100 * value:.1f}" for value in values]


def measures(answers: Answers) -> Measures:
    """Everything that is measured of one pass."""
    true, category, known = answers.truth, answers.category, answers.known
    found, sizes = np.unique(category, return_counts=True)
    return Measures(
        accuracy=strict_accuracy(true, category, known),
        largest=strict_accuracy(true, category, known, keep_largest=len(np.unique(true))),
        separate=separate_accuracy(true, category, known),
        categories=len(found),
        confirmed=int((sizes >= CONFIRMED).sum()),
        hindsight=strict_accuracy(true, answers.again, known),
        by_name=_share(answers.named, known),
        false_births=_share(answers.founded, known),
        mutual_information=mutual_information(true, category),
        rand_index=rand_index(true, category),
        course=course(true, category),
        growth=growth(category),
        **_estimates(answers.number),
    )


def mean_row(name: str, passes: Sequence[Measures]) -> Row:
    """The means over several passes, as a row of that name."""
    means: dict[str, Any] = {}
    for each in fields(Measures):
        values = [getattr(one, each.name) for one in passes]
        if isinstance(values[0], Accuracy):
            means[each.name] = Accuracy(*np.array([astuple(value) for value in values]).mean(0).tolist())
        else:
            means[each.name] = np.mean(values, axis=0).tolist()
    spread = np.array([astuple(one.accuracy) for one in passes]).std(0).tolist()
    return Row(**means, name=name, deviation=Accuracy(*spread) if len(passes) > 1 else None)


def without_nan(value: Any) -> Any:
    """For JSON, which has no not-a-number: what was not there to be measured is null."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and isnan(value) else value


def _estimates(number: Number | None) -> dict[str, float]:
    """The total and its interval; NaN where there is none."""
    told = {} if number is None else number.as_json()
    ends = {"estimate": "estimate", "estimate_low": "low", "estimate_high": "high"}
    return {name: nan if told.get(key) is None else float(told[key]) for name, key in ends.items()}


def _share(marks: NDArray[np.bool_] | None, among: NDArray[np.bool_]) -> float:
    return float(marks[among].mean()) if marks is not None and among.any() else nan
