"""Evaluating a model on a labelled stream: encoded once, decided in several orders.

The random orders are the headline; the fixed one is the order the images are listed in, the bursty one comes in runs.
Two rows stand beside them: the closed set that never discovers, and k-means over the whole stream at once. Labels are
used for scoring alone, but for the number of categories that k-means is told.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, fields, replace
from functools import partial
from math import isnan
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning

from firstsight.core.accuracy import Accuracy, number, separate_accuracy, strict_accuracy
from firstsight.core.protocols import CONFIRMED, Assignment, Features, Progress
from firstsight.core.settings import Rule
from firstsight.core.threads import one_thread
from firstsight.data.folder import LabelledImages
from firstsight.data.images import ImageLike
from firstsight.encode.many import encode_many
from firstsight.evaluate.metrics import course, growth, mutual_information, rand_index
from firstsight.evaluate.orders import RANDOM_ORDERS, bursty_orders, fixed_order, random_orders
from firstsight.model.model import Model
from firstsight.register.learning import LearningRegister


@dataclass(frozen=True)
class Answered:
    """An image of a labelled stream, what it shows, and what was made of it."""

    image: ImageLike
    truth: str
    answer: Assignment


@dataclass(frozen=True)
class Measures:
    """What one pass over the stream came to."""

    accuracy: Accuracy  # Strict-Hungarian over all clusters, as the released code computes it
    largest: Accuracy  # only as many of the largest clusters may match as there are categories: the paper's text
    separate: Accuracy  # Old and New matched apart
    categories: int  # that answered at least once
    confirmed: int  # of them with images enough to be more than a guess
    hindsight: Accuracy  # were all images asked again at the end: what a register that learns has made of them
    by_name: float  # known images answered with their own category's name
    false_births: float  # known images that founded a category
    mutual_information: float
    rand_index: float
    course: list[float]  # accuracy so far, after every twentieth of the stream
    growth: list[float]  # categories that had answered by then


@dataclass(frozen=True)
class Row:
    """One line of the result: means over orders, with population deviations of the accuracy."""

    name: str
    accuracy: Accuracy
    deviation: Accuracy | None
    categories: float
    confirmed: float
    hindsight: Accuracy
    largest: Accuracy
    separate: Accuracy
    by_name: float
    false_births: float
    mutual_information: float
    rand_index: float
    course: list[float]
    growth: list[float]

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
    radius: float | None = None,
    rule: Rule | None = None,
) -> Evaluation:
    """Score a model on a labelled folder; categories whose names it knows are Old, all others New."""
    start = partial(model.register, radius, rule)
    start()  # a wrong radius is refused before the work
    features = encode_many(model, data.images, progress)
    return score(model, features, [data.categories[label] for label in data.labels], start)


def score(
    model: Model,
    features: Features,
    truth: Sequence[str],
    start: Callable[[], Any] | None = None,
    orders: int = RANDOM_ORDERS,
) -> Evaluation:
    """Decide the rows of a stream in its own order and in others, with the rows that stand beside them.

    `start` makes the register each order begins with; the model's own if not given.
    """
    rows = passes(start or model.register, model.transform(features), truth, orders) + beside(model, features, truth)
    known = np.isin(truth, model.names)
    return Evaluation(rows, len(truth), len(set(truth)), int(known.sum()))


@one_thread()
def passes(start: Callable[[], Any], features: NDArray[Any], truth: Sequence[str], orders: int) -> list[Row]:
    """A row for every kind of order, each pass begun with a fresh register."""
    kinds = {
        f"random x {orders}": random_orders(len(truth), orders),
        "fixed": [fixed_order(len(truth))],
        f"bursty x {orders}": bursty_orders(truth, orders),
    }
    return [_row(name, [measure(start(), features, truth, order) for order in some]) for name, some in kinds.items()]


@one_thread()
def beside(model: Model, features: Features, truth: Sequence[str]) -> list[Row]:
    """The same model never discovering, and its features clustered offline."""
    closed = measure(model.closed_set(), model.transform(features), truth, fixed_order(len(truth)))
    return [_row("closed-set", [closed]), offline(model.decision.project(features), truth, model.names)]


@one_thread()
def offline(features: Features, truth: Sequence[str], known: Sequence[str], seed: int = 0) -> Row:
    """k-means over all rows at once, told the true number of categories: what no stream could be answered by."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than categories
        clusters = KMeans(len(set(truth)), n_init=3, random_state=seed).fit_predict(features)
    nothing = np.zeros(len(truth), dtype=bool)
    measures = _measures(number(truth)[1], clusters, clusters, nothing, np.isin(truth, known), np.full(len(truth), -1))
    return _row("offline k-means", [replace(measures, by_name=float("nan"), false_births=float("nan"))])


def measure(register: Any, features: NDArray[Any], truth: Sequence[str], order: NDArray[np.int64]) -> Measures:
    """Let a fresh register decide the rows in this order, and compare with the truth."""
    names = {name: i for i, name in enumerate(register.names[: register.known])}
    answers = register.assign_many(features[order])
    named = np.array([names.get(name, -1) for name in truth], dtype=np.int64)[order]  # among the known, else -1
    again = register.answer_again(features[order]) if isinstance(register, LearningRegister) else answers.category
    return _measures(number(truth)[1][order], answers.category, again, answers.created, named >= 0, named)


def without_nan(value: Any) -> Any:
    """For JSON, which has no not-a-number: the accuracy on images that are not there is null."""
    if isinstance(value, dict):
        return {key: without_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_nan(inner) for inner in value]
    return None if isinstance(value, float) and isnan(value) else value


def _measures(
    true: NDArray[np.int64],
    category: NDArray[np.int32],
    again: NDArray[np.int32],
    created: NDArray[np.bool_],
    known: NDArray[np.bool_],
    named: NDArray[np.int64],
) -> Measures:
    return Measures(
        accuracy=strict_accuracy(true, category, known),
        largest=strict_accuracy(true, category, known, keep_largest=len(np.unique(true))),
        separate=separate_accuracy(true, category, known),
        categories=len(np.unique(category)),
        confirmed=int((np.unique(category, return_counts=True)[1] >= CONFIRMED).sum()),
        hindsight=strict_accuracy(true, again, known),
        by_name=_mean(category[known] == named[known]),
        false_births=_mean(created[known]),
        mutual_information=mutual_information(true, category),
        rand_index=rand_index(true, category),
        course=course(true, category),
        growth=growth(category),
    )


def _row(name: str, measured: Sequence[Measures]) -> Row:
    """The means over several passes."""
    means: dict[str, Any] = {}
    for each in fields(Measures):
        values = [getattr(one, each.name) for one in measured]
        if isinstance(values[0], Accuracy):
            means[each.name] = Accuracy(*np.array([astuple(value) for value in values]).mean(0).tolist())
        else:
            means[each.name] = np.mean(values, axis=0).tolist()
    spread = np.array([astuple(one.accuracy) for one in measured]).std(0).tolist()
    return Row(name, deviation=Accuracy(*spread) if len(measured) > 1 else None, **means)


def _mean(values: NDArray[np.bool_]) -> float:
    return float(values.mean()) if values.size else float("nan")
