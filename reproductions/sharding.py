"""Many registers instead of one: how many answers differ when categories are sharded by where they lie.

    python reproductions/sharding.py cub.npz --out sharding.jsonl --categories 2000 --images 40000

A stream is drawn from the spread that the method `firstsight` fits to a support set: categories by B, images by W.
One register answers it; then shards do. Each keeps the categories founded in its cell of the space. An image asks the
shards of the nearest cells, as they were when a round of images began. What none of them claims goes by one founder,
which knows what was founded in this round; else it is founded at home. Features come from reproductions/features.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from itertools import product
from pathlib import Path

import numpy as np
from features import fitted, load
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from firstsight.core.accuracy import matched, strict_accuracy
from firstsight.core.threads import one_thread
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.reproduce.provenance import provenance

KNOWN = 0.1  # of the categories
TAUGHT = 16  # features of each of those


class World:
    """Categories, what is taught of the known ones, and a stream."""

    def __init__(self, spread: Spread, categories: int, images: int, tail: float, seed: int) -> None:
        self.spread = spread
        self._rng = np.random.default_rng(seed)
        self._means = self._rng.standard_normal((categories, len(spread.within))) * np.sqrt(spread.between)
        known = np.arange(known_of(categories))
        self.support = self._images(np.repeat(known, TAUGHT)).reshape(len(known), TAUGHT, -1)
        sizes = np.arange(1, categories + 1) ** -tail
        self.labels = self._rng.choice(self._rng.permutation(categories), size=images, p=sizes / sizes.sum())
        self.features = self._images(self.labels).astype(np.float32)

    def _images(self, labels: NDArray[np.int64]) -> NDArray[np.float64]:
        noise = self._rng.standard_normal((len(labels), len(self.spread.within)))
        return np.asarray(self._means[labels] + noise * np.sqrt(self.spread.within))

    def register(self, known: NDArray[np.int64]) -> StatisticsRegister:
        sums = self.support[known].sum(axis=1)
        return StatisticsRegister(self.spread, [str(i) for i in known], np.full(len(known), TAUGHT), sums)


class Shards:
    """Registers of the cells; a cell is what is nearest to its centre, as categories are told apart."""

    def __init__(self, world: World, count: int) -> None:
        self._world = world
        self._scale = 1 / np.sqrt(world.spread.within + world.spread.between / TAUGHT)
        means = world.support.mean(axis=1) * self._scale
        count = min(count, len(means))
        cells = KMeans(count, n_init=1, random_state=0).fit(means)
        self._centres = cells.cluster_centers_
        self._shards = [world.register(np.flatnonzero(cells.labels_ == cell)) for cell in range(count)]
        self.images = np.zeros(count)

    def answer(self, features: NDArray[np.float32], probes: int) -> list[tuple[int, str]]:
        """A round: all ask the nearest shards as they are now; what nobody claims goes by a founder, one by one.

        The founder knows the categories of this round alone, wherever they were founded.
        """
        cells = self.nearest(features, probes)
        claims = [self._claim(feature, near) for feature, near in zip(features, cells, strict=True)]
        founder, homes = self._world.register(np.arange(0)), dict[str, int]()
        answers = []
        for feature, near, claim in zip(features, cells, claims, strict=True):
            if claim is None:
                born = str(founder.assign(feature).category)
                claim = homes.setdefault(born, int(near[0]))
            self.images[claim] += 1
            answers.append((claim, str(self._shards[claim].assign(feature).category)))
        return answers

    def nearest(self, features: NDArray[np.float32], probes: int) -> NDArray[np.int64]:
        scaled = features * self._scale
        distances = (self._centres**2).sum(axis=1) - 2 * scaled @ self._centres.T
        return np.argsort(distances, axis=1)[:, :probes]

    def _claim(self, feature: NDArray[np.float32], cells: NDArray[np.int64]) -> int | None:
        """The cell whose category is the likeliest; None where all of them would found a new one."""
        found = {int(cell): self._shards[cell].match(feature) for cell in cells}
        likely = {cell: each.distance for cell, each in found.items() if each.category and each.distance is not None}
        return min(likely, key=lambda cell: likely[cell]) if likely else None


def known_of(categories: int) -> int:
    return max(1, int(KNOWN * categories))


def numbered(names: Sequence[object]) -> NDArray[np.int64]:
    places: dict[object, int] = {}
    return np.array([places.setdefault(name, len(places)) for name in names])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--categories", type=int, default=2000)
    parser.add_argument("--images", type=int, default=40_000)
    parser.add_argument("--tail", type=float, default=1.0, help="sizes fall as the rank to this power; 0: all alike")
    parser.add_argument("--shards", default="4,16,64")
    parser.add_argument("--probes", default="1,2,4")
    parser.add_argument("--rounds", default="1,256", help="images decided before shards see each other's news")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    with one_thread():
        play(options)


def play(options: argparse.Namespace) -> None:
    spread = fitted(load(options.features)[0], options.seed).spread
    world = World(spread, options.categories, options.images, options.tail, options.seed)
    known = known_of(options.categories)
    single = world.register(np.arange(known))
    alone = numbered([single.assign(feature).category for feature in world.features])
    accuracy = strict_accuracy(world.labels, alone, world.labels < known).all
    print(f"one register: All {100 * accuracy:.1f}, {alone.max() + 1:,} categories found\n")
    print("| shards | asked | images a round | other answers | All | found, of one register's | largest share |")
    print("|---:|---:|---:|---:|---:|---:|---:|")
    plans = [[int(each) for each in getattr(options, name).split(",")] for name in ("shards", "probes", "rounds")]
    for count, probes, size in product(*plans):
        if probes > count:
            continue
        shards = Shards(world, count)
        parts = [world.features[start : start + size] for start in range(0, len(world.features), size)]
        answers = numbered([answer for part in parts for answer in shards.answer(part, probes)])
        line = {
            "shards": count,
            "asked": probes,
            "round": size,
            "other": 1 - float(matched(alone, answers).mean()),
            "all": float(strict_accuracy(world.labels, answers, world.labels < known).all),
            "found": float((answers.max() + 1) / (alone.max() + 1)),
            "largest": float(shards.images.max() / shards.images.sum()),
        }
        print("| {shards} | {asked} | {round} | {other:.2%} | {all:.1%} | {found:.3f} | {largest:.0%} |".format(**line))
        kept = {"categories": options.categories, "images": options.images, "tail": options.tail, **line}
        with options.out.open("a") as file:
            file.write(json.dumps({**kept, **asdict(provenance("cpu"))}) + "\n")


if __name__ == "__main__":
    main()
