"""Evaluating a model on a labelled stream: encoded once, decided in several orders.

The random orders are the headline; the fixed one is the order the images are listed in, the bursty one comes in runs.
Two rows stand beside them: the closed set that never discovers, and k-means over the whole stream at once. Labels are
used for scoring alone, but for the number of categories that k-means is told.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.accuracy import number, placed
from firstsight.core.assignments import Assignment
from firstsight.core.number import Number, estimate
from firstsight.core.progress import Watcher, watched_by
from firstsight.core.protocols import Answering, AnswersAgain, Features
from firstsight.core.settings import Rule
from firstsight.core.threads import one_thread
from firstsight.data.folder import LabelledImages
from firstsight.data.images import ImageLike
from firstsight.encode.many import encode_many
from firstsight.evaluate.details import Details, details_of
from firstsight.evaluate.orders import RANDOM_ORDERS, bursty_orders, fixed_order, random_orders
from firstsight.evaluate.processes import spread
from firstsight.evaluate.scores import Answers, Measures, Row, mean_row, measures, without_nan
from firstsight.model.model import Model

Start: TypeAlias = Callable[[], Answering]  # makes the register that a pass begins with


@dataclass(frozen=True)
class Answered:
    """An image of a labelled stream, what it shows, and what was made of it."""

    image: ImageLike
    truth: str
    answer: Assignment


@dataclass(frozen=True)
class Evaluation:
    """What a model made of a labelled folder."""

    rows: list[Row]
    images: int
    true_categories: int
    known_images: int
    details: Details | None = None  # category by category and image by image

    def as_json(self) -> dict[str, Any]:
        """As JSON can hold it: null where there is nothing to measure."""
        content: dict[str, Any] = without_nan(asdict(self))
        return content


def evaluate(
    model: Model,
    data: LabelledImages,
    progress: Watcher = None,
    radius: float | None = None,
    rule: Rule | None = None,
) -> Evaluation:
    """Score a model on labelled images; categories whose names it knows are Old, all others New."""
    start = partial(model.decision.register, radius, rule)
    start()  # a wrong radius is refused before the work
    features = encode_many(model, data.images, watched_by(progress))
    truth = [data.categories[label] for label in data.labels]
    return score(model, features, truth, start, names=data.names, progress=progress)


def score(
    model: Model,
    features: Features,
    truth: Sequence[str],
    start: Start | None = None,
    orders: int = RANDOM_ORDERS,
    names: Sequence[str] | None = None,
    progress: Watcher = None,
) -> Evaluation:
    """Score a model on labelled features, a stream decided in its own order and in others; with what stands beside.

    `truth` names the category of each. `start` makes the register an order begins with, if not the model's own.
    `names` are what images are called; their place in the stream if not given.

    >>> from firstsight import fit_features
    >>> model = fit_features([[0, 1], [0.1, 1], [1, 0], [1, 0.1]], ["ant", "ant", "bee", "bee"])
    >>> stream = np.array([[0.05, 1], [-1, -1], [1, 0.05], [-1, -1.05]])
    >>> score(model, stream, ["ant", "fly", "bee", "fly"]).rows[0].cells()
    ['100.0 ± 0.0', '100.0 ± 0.0', '100.0 ± 0.0']
    """
    found = decided(start or model.decision.register, model.transform(features), truth, orders, progress)
    rows = [mean_row(name, [each.measures for each in some]) for name, some in found.items()]
    rows += beside(model, features, truth)
    known = np.isin(truth, model.names)
    called = [f"{i}" for i in range(len(truth))] if names is None else names
    random = np.stack([each.placed for each in next(iter(found.values()))])
    details = details_of(random, truth, called, set(model.names))
    return Evaluation(rows, len(truth), len(set(truth)), int(known.sum()), details)


def passes(start: Start, features: NDArray[Any], truth: Sequence[str], orders: int) -> list[Row]:
    """A row for every kind of order, each pass begun with a fresh register; features are as that compares them."""
    found = decided(start, features, truth, orders)
    return [mean_row(name, [each.measures for each in some]) for name, some in found.items()]


def decided(
    start: Start, features: NDArray[Any], truth: Sequence[str], orders: int, progress: Watcher = None
) -> dict[str, list[Pass]]:
    """All passes by kind of order, the random ones first; in several processes where that is faster."""
    kinds = {
        f"random x {orders}": random_orders(len(truth), orders),
        "fixed": [fixed_order(len(truth))],
        f"bursty x {orders}": bursty_orders(truth, orders),
    }
    every = [order for some in kinds.values() for order in some]
    with watched_by(progress).task("deciding in orders", len(every)) as advance:
        found = iter(spread(one_pass, (start, features, truth), every, advance))
    return {name: [next(found) for _ in some] for name, some in kinds.items()}


@one_thread()
def beside(model: Model, features: Features, truth: Sequence[str]) -> list[Row]:
    """The same model never discovering, and its features clustered offline."""
    closed = measure(model.closed_set(), model.transform(features), truth, fixed_order(len(truth)))
    return [mean_row("closed-set", [closed]), offline(model.decision.project(features), truth, model.names)]


@one_thread()
def offline(features: NDArray[np.float32], truth: Sequence[str], known: Sequence[str], seed: int = 0) -> Row:
    """k-means over all features at once, told the true number of categories: what no stream could be answered by."""
    from sklearn.cluster import KMeans
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different features than categories
        clusters = KMeans(len(set(truth)), n_init=3, random_state=seed).fit_predict(features)
    answers = Answers(number(truth)[1], np.isin(truth, known), clusters, clusters)
    return mean_row("offline k-means", [measures(answers)])


@dataclass(frozen=True)
class Pass:
    """One pass over a stream: what it came to, and by image the true category its answer was matched to."""

    measures: Measures
    placed: NDArray[np.int64]  # as a number; -1 where the answer was matched to none


@one_thread()
def one_pass(given: tuple[Start, NDArray[Any], Sequence[str]], order: NDArray[np.int64]) -> Pass:
    """A fresh register decides the features in this order."""
    start, features, truth = given
    answers = answered(start(), features, truth, order)
    found = np.empty(len(order), dtype=np.int64)
    found[order] = placed(answers.truth, answers.category)  # numbers of an array are kept where they are all there
    return Pass(measures(answers), found)


def measure(register: Answering, features: NDArray[Any], truth: Sequence[str], order: NDArray[np.int64]) -> Measures:
    """Let a fresh register decide the features in this order, and compare with the truth."""
    return measures(answered(register, features, truth, order))


def answered(register: Answering, features: NDArray[Any], truth: Sequence[str], order: NDArray[np.int64]) -> Answers:
    """What a fresh register answers in this order, beside what is true."""
    names = {name: i for i, name in enumerate(register.names[: register.known])}
    own = np.array([names.get(name, -1) for name in truth], dtype=np.int64)[order]  # among the known, else -1
    answers = register.assign_many(features[order])
    again = register.answer_again(features[order]) if isinstance(register, AnswersAgain) else answers.category
    true = number(truth)[1][order]
    told = _number(register, answers.category)
    return Answers(true, own >= 0, answers.category, again, answers.category == own, answers.created, told)


def _number(register: Answering, category: NDArray[np.int32]) -> Number:
    """How many categories the register takes what it answered for."""
    sizes = np.bincount(category, minlength=register.known)
    return estimate(register, sizes[register.known :].tolist(), register.known, int(sizes[: register.known].sum()))
