"""What clicks are worth: accuracy against the clicks of a simulated reviewer, in the order of review and in others.

    python reproductions/review.py cub.npz pets.npz --streams 3 --clicks 200
    python reproductions/review.py cub.npz pets.npz --query --orders 5 --figure review.svg

Without --query, categories of the support set play new ones; with it, a line belongs into the ledger. The reviewer
knows the labels and answers every question rightly. A click says yes, no, or one of the answers that are offered; to
choose another category takes two. The second table says whether questions were worth what they promised. Features come
from features.py.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from features import Part, fitted, load
from numpy.typing import NDArray

from firstsight.core.accuracy import matched
from firstsight.core.protocols import Provenance
from firstsight.core.threads import one_thread
from firstsight.evaluate.orders import random_orders
from firstsight.evidence import review_odds as odds
from firstsight.evidence.review import Item, Review, find
from firstsight.evidence.review_items import nearest
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.simulation import simulated
from firstsight.store.store import Arrival, Store

MODEL = Provenance("f" * 64, 1, "cpu", "fp32")
EVERY = 10  # answers after which all is found anew
SHOWN = (0, 25, 50, 100, 200, 300)
FIRST = 7000  # seed of the simulated streams

LINES = (("#0072B2", "-"), ("#E69F00", "--"), ("#555555", ":"))  # one for each order

Labels: TypeAlias = NDArray[np.int64]
Curve: TypeAlias = list[tuple[int, float]]  # clicks, accuracy


@dataclass(frozen=True)
class Stream:
    """A stream that was answered: the register, and what its images show. Known categories come first."""

    decision: Firstsight
    features: NDArray[Any]
    truth: Labels

    def answered(self) -> Reviewed:
        store = Store.in_memory(self.decision.register(), MODEL)
        arrivals = [Arrival(f"{i}", i.to_bytes(8, "little"), feature) for i, feature in enumerate(self.features)]
        numbers = [answer.image or 0 for answer in store.record(arrivals, MODEL)]
        return Reviewed(store, dict(zip(numbers, self.truth.tolist(), strict=True)), len(self.decision.names))


@dataclass
class Reviewed:
    """A store under review by someone who knows what every image shows."""

    store: Store
    labels: dict[int, int]
    taught: int
    clicks: int = 0
    curve: Curve = field(default_factory=list)

    def __post_init__(self) -> None:
        self.look()
        self.measure()

    def look(self) -> None:
        """See what every category holds by now."""
        self.catalogue = self.store.view().catalogue
        numbers, owners, _ = self.catalogue.columns()
        self.owners, self.truth = owners, np.array([self.labels[number] for number in numbers.tolist()])
        self.held = np.zeros((len(self.catalogue.order), max(self.labels.values()) + 1), dtype=np.int64)
        np.add.at(self.held, (owners, self.truth), 1)

    def measure(self) -> None:
        self.curve.append((self.clicks, float(matched(self.truth, self.owners).mean())))

    def shows(self, category: str) -> int:
        """What a category stands for: a known one for what it was taught, a new one for what most images in it are."""
        found = self.catalogue.categories[category]
        return int(category) if found.known else int(self.held[found.position].argmax())

    def belongs(self, label: int) -> str | None:
        """Where images of this label belong: to the known category or, of the new ones of them, to the largest."""
        if label < self.taught:
            return str(label)
        new = [c for c in self.catalogue.live() if not c.known and self.held[c.position].any()]
        own = [c for c in new if self.shows(c.id) == label]
        return max(own, key=lambda c: int(self.held[c.position, label])).id if own else None

    # ------------------------------------------------------------------ answering

    def place(self, image: int, offered: Sequence[str]) -> tuple[int, int]:
        """One image goes where it belongs: clicks, and whether that put it right."""
        to, here = self.belongs(self.labels[image]), self.store.view().category_of(image)
        if to == here:
            self.store.confirm([image])
            return 1, 0
        if to is None:
            self.store.split([image])
            self.look()
            return 1, 1
        self.store.move([image], to)
        self.look()
        return (1 if to in offered else 2), 1

    def answer(self, item: Item, skipped: set[str]) -> tuple[int, int]:
        """Clicks, and images put right."""
        match item.kind:
            case "unsure":
                return self.place(item.images[0], item.categories[1:])
            case "elsewhere":
                return self._elsewhere(item)
            case "tentative":
                return self._tentative(item)
            case "merge":
                return self._merge(item, skipped)
            case "split":
                return self._split(item)

    def _elsewhere(self, item: Item) -> tuple[int, int]:
        there = item.categories[1]
        yes = [image for image in item.images if self.belongs(self.labels[image]) == there]
        if len(item.images) == 1:
            return self.place(item.images[0], item.categories)
        clicks = 1 if yes else 0
        if yes:
            self.store.move(yes, there)
            self.look()
        others = [self.place(image, ()) for image in item.images if image not in yes]
        return clicks + sum(each for each, _ in others), len(yes) + sum(right for _, right in others)

    def _tentative(self, item: Item) -> tuple[int, int]:
        labels, here = {self.labels[image] for image in item.images}, item.categories[0]
        to = self.belongs(labels.pop())
        if labels:  # two things
            some = [self.place(image, item.categories[1:]) for image in item.images]
            return sum(clicks for clicks, _ in some), sum(right for _, right in some)
        if to == here or to is None:
            item.accept.do(self.store)
            return 1, 0
        self.store.merge(here, to)
        return (1 if to in item.categories else 2), len(item.images)

    def _merge(self, item: Item, skipped: set[str]) -> tuple[int, int]:
        category, into = item.categories
        if self.shows(category) != self.shows(into):
            skipped.add(item.id)
            return 1, 0
        right = int(self.held[self.catalogue.categories[category].position, self.shows(category)])
        item.accept.do(self.store)
        return 1, right

    def _split(self, item: Item) -> tuple[int, int]:
        parts = item.images, item.rest
        most = [int(np.bincount([self.labels[image] for image in part]).argmax()) for part in parts]
        if most[0] == most[1]:
            item.corrections[-1].do(self.store)
            return 1, 0
        off = 1 if most[0] == self.shows(item.categories[0]) else 0  # the part that is something else
        to, right = self.belongs(most[off]), sum(self.labels[image] == most[off] for image in parts[off])
        if to in (None, item.categories[0]):
            self.store.split(parts[off])
            return 1, right
        assert to is not None
        self.store.move(parts[off], to)
        return 2, right


@dataclass(frozen=True)
class Worked:
    """One question as it went."""

    kind: str
    right_expected: float
    clicks_expected: float
    right: int
    clicks: int


def by_worth(work: Reviewed, most: int, generator: np.random.Generator) -> Iterator[Worked]:
    """The order of review."""
    skipped: set[str] = set()
    review, answers = Review(work.store.view(), find(work.store.view())), 0
    while work.clicks < most:
        item = review.next(skipped)
        if item is None:
            return
        clicks, right = work.answer(item, skipped)
        work.clicks, answers = work.clicks + clicks, answers + 1
        yield Worked(item.kind, item.expects.put_right, item.expects.clicks, right, clicks)
        view = work.store.view()
        review = review.at(view) if answers % EVERY else Review(view, find(view))


def at_random(work: Reviewed, most: int, generator: np.random.Generator) -> Iterator[Worked]:
    """Images in random order, each with what came next."""
    yield from _images(work, most, generator.permutation(np.array(work.store.view().images())))


def least_sure(work: Reviewed, most: int, generator: np.random.Generator) -> Iterator[Worked]:
    """Images, the least sure first."""
    numbers = np.array(work.store.view().images())
    yield from _images(work, most, numbers[np.argsort(work.catalogue.confidences.values(), kind="stable")])


def _images(work: Reviewed, most: int, numbers: NDArray[np.int64]) -> Iterator[Worked]:
    for image in numbers.tolist():
        if work.clicks >= most:
            return
        view = work.store.view()
        sure = view.catalogue.confidences[view.catalogue.numbers.find(image)]
        clicks, right = work.place(image, nearest(view, (image,)))
        work.clicks += clicks
        yield Worked("image", *odds.unsure(sure), right, clicks)


ORDERS: dict[str, Callable[[Reviewed, int, np.random.Generator], Iterator[Worked]]] = {
    "review": by_worth,
    "least sure first": least_sure,
    "random": at_random,
}


def of_support(support: Part, streams: int) -> Iterator[Stream]:
    """Categories of the support set that are kept from the fit, arriving."""
    for stream in range(streams):
        generator = np.random.default_rng(FIRST + stream)
        categories = generator.permutation(np.unique(support.labels))
        new = categories[: int(len(categories) * (1 / 3, 1 / 2)[stream % 2])]
        drawn = simulated(support.labels, new, generator, (0.5, 0.75)[stream // 2 % 2])
        own = np.unique(support.labels[drawn.teaching], return_inverse=True)[1]
        decision = fitted(Part(support.features[drawn.teaching], own), seed=stream)
        at = {category: i for i, category in enumerate(np.unique(support.labels[drawn.teaching]).tolist())}
        truth = np.array([at.setdefault(category, len(at)) for category in support.labels[drawn.arriving].tolist()])
        yield Stream(decision, decision.transform(support.features[drawn.arriving]), truth)


def of_query(support: Part, query: Part, orders: int) -> Iterator[Stream]:
    decision = fitted(support)
    features = decision.transform(query.features)
    for order in random_orders(len(features), orders):
        yield Stream(decision, features[order], query.labels[order])


@one_thread()
def reviewed(stream: Stream, order: str, clicks: int, seed: int) -> tuple[Curve, list[Worked]]:
    work = stream.answered()
    done: list[Worked] = []
    for each in ORDERS[order](work, clicks, np.random.default_rng(seed)):
        done.append(each)
        work.look()
        work.measure()
    return work.curve, done


def at(curve: Sequence[tuple[int, float]], clicks: int) -> float:
    """The accuracy after so many clicks."""
    return [accuracy for spent, accuracy in curve if spent <= clicks][-1]


def table(name: str, curves: Mapping[str, Sequence[Curve]], most: int) -> None:
    shown = [clicks for clicks in SHOWN if clicks <= most]
    print(f"| {name}, clicks | {' | '.join(map(str, shown))} |\n|---|{'---:|' * len(shown)}")
    for order, some in curves.items():
        cells = [[100 * at(curve, clicks) for curve in some] for clicks in shown]
        print(f"| {order} | {' | '.join(f'{np.mean(each):.1f} ± {np.std(each):.1f}' for each in cells)} |", flush=True)


def promises(name: str, done: Sequence[Worked]) -> None:
    """What the questions of each kind promised, and what they came to."""
    print(f"\n| {name} | questions | put right, expected | came | clicks, expected | came |\n|---|{'---:|' * 5}")
    for kind in sorted({each.kind for each in done}):
        some = [each for each in done if each.kind == kind]
        values = [(each.right_expected, each.right, each.clicks_expected, each.clicks) for each in some]
        print(f"| {kind} | {len(some)} | {' | '.join(f'{value:.2f}' for value in np.mean(values, axis=0))} |")
    print(flush=True)


def figure(path: Path, found: Mapping[str, Mapping[str, Sequence[Curve]]], most: int) -> None:
    """A panel for each data set: mean accuracy by clicks, with the spread over orders. Colours of Okabe and Ito."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({"svg.hashsalt": "firstsight", "font.size": 10})
    picture, panels = plt.subplots(1, len(found), figsize=(4.6 * len(found), 3.6), squeeze=False)
    places = range(0, most + 1, 5)
    for panel, (name, curves) in zip(panels[0], found.items(), strict=True):
        for (order, some), (colour, style) in zip(curves.items(), LINES, strict=True):
            values = 100 * np.array([[at(curve, clicks) for clicks in places] for curve in some])
            mean, spread = values.mean(axis=0), values.std(axis=0)
            panel.plot(places, mean, color=colour, linestyle=style, label=order)
            panel.fill_between(places, mean - spread, mean + spread, color=colour, alpha=0.15, linewidth=0)
        panel.set(title=name, xlabel="clicks", ylabel="All, per cent", xlim=(0, most))
        panel.grid(alpha=0.3)
        panel.legend(loc="upper left", frameon=False)
    picture.tight_layout()
    picture.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path, nargs="+")
    parser.add_argument("--streams", type=int, default=8, help="simulated on a support set")
    parser.add_argument("--query", action="store_true", help="the query stream instead, in random orders")
    parser.add_argument("--orders", type=int, default=5)
    parser.add_argument("--clicks", type=int, default=300)
    parser.add_argument("--only", choices=ORDERS, help="one order of questions")
    parser.add_argument("--figure", type=Path)
    parser.add_argument("--out", type=Path, help="all curves, as JSON")
    options = parser.parse_args(arguments)
    found: dict[str, dict[str, list[Curve]]] = {}
    for path in options.features:
        support, query = load(path)
        streams = of_query(support, query, options.orders) if options.query else of_support(support, options.streams)
        curves, done = defaultdict[str, list[Curve]](list), []
        for seed, stream in enumerate(streams):
            for order in (options.only,) if options.only else ORDERS:
                curve, questions = reviewed(stream, order, options.clicks, seed)
                curves[order].append(curve)
                done += questions
        found[path.stem] = dict(curves)
        table(path.stem, curves, options.clicks)
        promises(path.stem, done)
    if options.out:
        options.out.write_text(json.dumps(found))
    if options.figure:
        figure(options.figure, found, options.clicks)


if __name__ == "__main__":
    main()
