"""Evaluating a model on a labelled stream: encoded once, decided in several orders.

The random orders are the headline, the fixed one is the paper's, and the closed-set row that never discovers
stands beside them. Labels are used for scoring alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from firstsight.codes import Words
from firstsight.data.ahead import ahead
from firstsight.data.folder import LabelledImages
from firstsight.data.images import Pixels
from firstsight.discover.register import CodeRegister
from firstsight.errors import BadImages, ImageError
from firstsight.evaluate.accuracy import Accuracy, strict_accuracy
from firstsight.methods.model import Model
from firstsight.protocols import Encoded, Progress, Silent

RANDOM_ORDERS = 10
BATCH = 16


@dataclass(frozen=True)
class Row:
    """One line of the result: means over orders, with population deviations."""

    name: str
    accuracy: Accuracy
    deviation: Accuracy | None
    categories: float


@dataclass(frozen=True)
class Evaluation:
    """What a model made of a labelled folder."""

    rows: list[Row]
    images: int
    true_categories: int
    known_images: int


def evaluate(model: Model, data: LabelledImages, progress: Progress | None = None) -> Evaluation:
    """Score a model on a labelled folder; categories whose names it knows are Old, all others New."""
    codes = encode_files(model, data.paths, progress or Silent()).codes
    assert codes is not None
    return score(model, codes, [data.categories[label] for label in data.labels])


def score(model: Model, codes: Words, truth: Sequence[str], seed: int = 0) -> Evaluation:
    """Decide the codes of a stream in its own order and in random ones, and compare with the truth."""
    true, known = np.array(truth), np.isin(truth, model.names)
    fixed = np.arange(len(true))
    shuffled = [np.random.default_rng([seed, i]).permutation(len(true)) for i in range(RANDOM_ORDERS)]

    def row(name: str, start: Callable[[], CodeRegister], orders: Sequence[NDArray[np.int64]]) -> Row:
        results = []
        for order in orders:
            answers = [answer.category for answer in start().assign_many(codes[order])]
            results.append((strict_accuracy(true[order].tolist(), answers, known[order]), len(set(answers))))
        return _row(name, results)

    rows = [
        row(f"random order x {RANDOM_ORDERS}", model.register, shuffled),
        row("fixed order", model.register, [fixed]),
        row("closed-set", model.closed_set, [fixed]),
    ]
    return Evaluation(rows, len(true), len(set(truth)), int(known.sum()))


def encode_files(model: Model, paths: Sequence[Path], progress: Progress) -> Encoded:
    """Encode image files in order; those that cannot be used are reported in one error."""

    def prepare(path: Path) -> Pixels | ImageError:
        try:
            return model.prepare(path)
        except ImageError as error:
            return error

    parts: list[Encoded] = []
    bad: list[ImageError] = []
    with progress.task("encoding", len(paths)) as advance:
        prepared = ahead(prepare, paths, window=2 * BATCH)
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
