"""Evaluating a model on a labelled stream: encoded once, decided in several orders.

The random orders are the headline, the fixed one is the order the images are listed in, and the closed-set row
that never discovers stands beside them. Labels are used for scoring alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from itertools import islice
from math import isnan

import numpy as np
from numpy.typing import NDArray

from firstsight.codes import Words
from firstsight.config import Rule
from firstsight.data.ahead import ahead, or_error
from firstsight.data.folder import LabelledImages
from firstsight.data.images import ImageLike
from firstsight.errors import BadImages, ImageError
from firstsight.evaluate.accuracy import Accuracy, strict_accuracy
from firstsight.methods.model import Model
from firstsight.protocols import Assignment, Encoded, Progress, Silent
from firstsight.register.codes import CodeRegister

RANDOM_ORDERS = 10
BATCH = 16


@dataclass(frozen=True)
class Answered:
    """An image of a labelled stream, what it shows, and what was made of it."""

    image: ImageLike
    truth: str
    answer: Assignment


@dataclass(frozen=True)
class Row:
    """One line of the result: means over orders, with population deviations."""

    name: str
    accuracy: Accuracy
    deviation: Accuracy | None
    categories: float

    def cells(self) -> list[str]:
        """All, Old and New in per cent, with the deviation over orders; a dash where there are no such images."""
        spreads = astuple(self.deviation) if self.deviation else (None, None, None)
        return [
            "-" if isnan(value) else f"{100 * value:.1f}" + (f" ± {100 * spread:.1f}" if spread is not None else "")
            for value, spread in zip(astuple(self.accuracy), spreads, strict=True)
        ]


@dataclass(frozen=True)
class Evaluation:
    """What a model made of a labelled folder."""

    rows: list[Row]
    images: int
    true_categories: int
    known_images: int


def evaluate(
    model: Model,
    data: LabelledImages,
    progress: Progress | None = None,
    radius: int | None = None,
    rule: Rule | None = None,
) -> Evaluation:
    """Score a model on a labelled folder; categories whose names it knows are Old, all others New."""
    start = partial(model.register, radius, rule)
    start()  # a wrong radius is refused before the work
    codes = encode_images(model, data.images, progress or Silent()).codes
    assert codes is not None
    return score(model, codes, [data.categories[label] for label in data.labels], start)


def score(
    model: Model,
    codes: Words,
    truth: Sequence[str],
    start: Callable[[], CodeRegister] | None = None,
    seed: int = 0,
) -> Evaluation:
    """Decide the codes of a stream in its own order and in random ones, and compare with the truth.

    `start` makes the register each order begins with; the model's own if not given.
    """
    start = start or model.register
    true, known = np.array(truth), np.isin(truth, model.names)
    fixed = np.arange(len(true))
    shuffled = [np.random.default_rng([seed, i]).permutation(len(true)) for i in range(RANDOM_ORDERS)]

    def row(name: str, start: Callable[[], CodeRegister], orders: Sequence[NDArray[np.int64]]) -> Row:
        results = []
        for order in orders:
            answers = start().assign_many(codes[order]).category.tolist()
            results.append((strict_accuracy(true[order].tolist(), answers, known[order]), len(set(answers))))
        return _row(name, results)

    rows = [
        row(f"random order x {RANDOM_ORDERS}", start, shuffled),
        row("fixed order", start, [fixed]),
        row("closed-set", model.closed_set, [fixed]),
    ]
    return Evaluation(rows, len(true), len(set(truth)), int(known.sum()))


def encode_images(model: Model, images: Sequence[ImageLike], progress: Progress) -> Encoded:
    """Encode images in order; those that cannot be used are reported in one error."""
    parts: list[Encoded] = []
    bad: list[ImageError] = []
    with progress.task("encoding", len(images)) as advance:
        prepared = ahead(or_error(model.prepare), images, window=2 * BATCH)
        while batch := list(islice(prepared, BATCH)):
            bad += [pixels for pixels in batch if isinstance(pixels, ImageError)]
            good = [pixels for pixels in batch if not isinstance(pixels, ImageError)]
            if good and not bad:
                parts.append(model.encode(good))
            for _ in batch:
                advance()
    if bad:
        raise BadImages(bad)
    return Encoded(
        features=np.concatenate([part.features for part in parts]),
        codes=np.concatenate([part.codes for part in parts if part.codes is not None]),
    )


def _row(name: str, results: list[tuple[Accuracy, int]]) -> Row:
    scores = np.array([[a.all, a.old, a.new] for a, _ in results])
    deviation = Accuracy(*scores.std(0).tolist()) if len(results) > 1 else None
    return Row(name, Accuracy(*scores.mean(0).tolist()), deviation, float(np.mean([count for _, count in results])))
