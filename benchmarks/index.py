"""What answering costs from a thousand to a million categories: those that can matter, against the full product.

    python benchmarks/index.py [--categories 1000,10000,100000,1000000] [--images 200] [--full 20] [--times 1]
                               [--sizes equal|tailed] [--model MODEL] [--codes] [--faiss] [--json FILE]

Categories are drawn with the W and B of a model, or as fitted on CUB; `--times` makes B so many times as large. Nine
images in ten show one of them, by its size; the tenth is of a category nobody has seen. All in one run on one core,
so the ratios are what counts. `together` is what an image costs where many come at once, its learning included.
`--codes` measures 64-bit codes, and `--faiss` how often indices find the answer that prove nothing.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import json
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from numpy.typing import NDArray

from firstsight.core.codes import hamming
from firstsight.register import weighing
from firstsight.register.codes import CodeRegister
from firstsight.register.shortlist import Shortlist
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.reproduce.provenance import provenance

# B / W at some dimensions, as fitted on the support set of CUB with features of a pretrained efficientnet-lite2
DIMENSIONS = (0, 4, 8, 12, 20, 30, 40, 60, 75, 100, 120, 150, 191)
RATIOS = (6.0, 2.3, 2.3, 1.1, 0.85, 0.75, 0.4, 0.45, 0.3, 0.28, 0.21, 0.16, 0.18)
CUB = Spread(
    np.ones(192), np.interp(np.arange(192), DIMENSIONS, RATIOS), 10.55, sharpness=0.253, slope=0.586, shift=0.131
)
PAGE = 50_000  # categories drawn at once
LARGEST = 1000  # images of a category, where sizes differ
RADIUS = 8  # bits

Floats = NDArray[Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--categories", default="1000,10000,100000,1000000")
    parser.add_argument("--images", type=int, default=200)
    parser.add_argument("--full", type=int, default=20, help="images that the full product answers as well")
    parser.add_argument("--times", type=float, default=1.0)
    parser.add_argument("--sizes", choices=["equal", "tailed"], default="equal")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--codes", action="store_true")
    parser.add_argument("--faiss", action="store_true")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    spread = CUB if options.model is None else spread_of(options.model)
    spread = replace(spread, between=options.times * spread.between)
    results = []
    for count in map(int, options.categories.split(",")):
        if options.codes:
            results.append(codes(count, options.images))
        else:
            results.append(features(World(spread, count, options.sizes), options))
        show(results[-1], title=len(results) == 1)
    if options.json:
        options.json.write_text(json.dumps({"sizes": results, **asdict(provenance("cpu"))}, indent=1) + "\n")


def show(result: dict[str, Any], title: bool) -> None:
    if title:
        print("  ".join(f"{name:>14s}" for name in result))
    shown = (f"{value:14,.3f}" if isinstance(value, float) else f"{value:14,d}" for value in result.values())
    print("  ".join(shown), flush=True)


def spread_of(path: Path) -> Spread:
    from firstsight import load

    register = load(path).register()
    assert isinstance(register, StatisticsRegister), "of a model that firstsight's own method made"
    return register.spread


class World:
    """Drawn categories, how many images of each a register has, their sums, and images to come."""

    def __init__(self, spread: Spread, count: int, sizes: str) -> None:
        self.spread, self.count = spread, count
        self.random = np.random.default_rng(0)
        tailed = np.minimum(LARGEST, 1 / self.random.uniform(1e-9, 1, count))
        self.sizes = np.floor(tailed) if sizes == "tailed" else np.full(count, 16.0)
        width = len(spread.within)
        self.means = np.empty((count, width), dtype=np.float32)
        self.sums = np.empty((count, width))
        for first in range(0, count, PAGE):
            some = slice(first, first + PAGE)
            self.means[some] = self._noise(spread.between, len(self.means[some]))
            noise = self._noise(spread.within, len(self.means[some])) / np.sqrt(self.sizes[some])[:, None]
            self.sums[some] = self.sizes[some][:, None] * (self.means[some] + noise)

    def _noise(self, variance: Floats, count: int) -> Floats:
        drawn: Floats = self.random.standard_normal((count, len(variance)), dtype=np.float32)
        return drawn * np.sqrt(variance).astype(np.float32)

    def stream(self, images: int) -> Floats:
        of = self.random.choice(self.count, images, p=self.sizes / self.sizes.sum())
        means = self.means[of]
        means[::10] = self._noise(self.spread.between, len(means[::10]))
        return means + self._noise(self.spread.within, images)


def features(world: World, options: argparse.Namespace) -> dict[str, Any]:
    stream = world.stream(options.images)
    found = approximate(world, stream[: options.full]) if options.faiss else {}
    register = StatisticsRegister(world.spread, [str(i) for i in range(world.count)], world.sizes, world.sums)
    del world.means, world.sums
    register.match(stream[0])  # which makes the shortlist
    with mock.patch.object(StatisticsRegister, "_distances", autospec=True, side_effect=_distances) as whole:
        near, took = timed(register.match, stream)
    with weighing_all():
        full, all_took = timed(register.match, stream[: options.full])
    learned = timed(lambda feature: register.learn(feature, "7"), stream)[1]
    together = timed(register.assign_many, [stream])[1] / len(stream)
    compared = list(zip(near, full, strict=False))
    return {
        "categories": world.count,
        "full p50 ms": float(np.median(all_took)),
        "p50 ms": float(np.median(took)),
        "p99 ms": float(np.percentile(took, 99)),
        "together ms": float(together[0]),
        "times as fast": float(np.median(all_took) / np.median(took)),
        "so together": float(np.median(all_took) / together[0]),
        "full products": whole.call_count / len(stream),
        "same answers": float(np.mean([a.category == b.category and a.distance == b.distance for a, b in compared])),
        "confidence off": max(abs((a.confidence or 0) - (b.confidence or 0)) for a, b in compared),
        "learn p50 ms": float(np.median(learned)),
        "index MB": megabytes(register._shortlist),
        **found,
    }


_distances = StatisticsRegister._distances


@contextmanager
def weighing_all() -> Iterator[None]:
    with mock.patch.object(weighing, "MANY", np.inf):
        yield


def timed(work: Callable[[Any], Any], items: Any) -> tuple[list[Any], Floats]:
    """What it gives for each, and the milliseconds of a core that took: others may use the machine."""
    results, took = [], []
    for item in items:
        began = time.process_time()
        results.append(work(item))
        took.append(1000 * (time.process_time() - began))
    return results, np.array(took)


def megabytes(shortlist: Shortlist | None) -> float:
    tiles = [] if shortlist is None else shortlist._tiles
    parts = [getattr(tile, name) for tile in tiles for name in tile.__slots__]
    return float(sum(part.nbytes for part in parts if isinstance(part, np.ndarray)) / 1e6)


def approximate(world: World, stream: Floats) -> dict[str, Any]:
    """How often faiss finds the nearest mean, where all sizes are equal, and how long that takes."""
    import faiss

    spread = world.spread
    expected, variance = spread.posterior(world.sizes[:1], world.sums[:1])
    scale = np.sqrt(1 / (variance[0] + spread.within))
    share = (expected / np.where(world.sums[:1] == 0, 1, world.sums[:1]))[0]
    points = (world.sums * (share * scale)).astype(np.float32)
    asked = (stream * scale).astype(np.float32)
    true = np.array([np.square(points - each).sum(axis=1).argmin() for each in asked])
    cells = int(np.sqrt(world.count))
    quantizer = faiss.IndexFlatL2(points.shape[1])
    ivf = faiss.IndexIVFFlat(quantizer, points.shape[1], cells)
    ivf.train(points[: 40 * cells])
    ivf.nprobe = max(1, cells // 16)
    hnsw = faiss.IndexHNSWFlat(points.shape[1], 16)
    result: dict[str, Any] = {}
    for name, index in {"ivf": ivf, "hnsw": hnsw}.items():
        index.add(points)
        found, took = timed(partial(nearest_by, index), asked)
        result |= {f"{name} ms": float(np.median(took)), f"{name} found": float(np.mean(np.array(found) == true))}
    return result


def nearest_by(index: Any, asked: Floats) -> int:
    return int(index.search(asked[None], 1)[1][0, 0])


def codes(count: int, images: int) -> dict[str, Any]:
    """A scan over 64-bit centres, two in a row within the radius of nobody else, against distances alone."""
    random = np.random.default_rng(0)
    centres = random.integers(0, 2**64, (count, 1), dtype=np.uint64)
    register = CodeRegister(64, RADIUS, [str(i) for i in range(count)], centres)
    asked = centres[random.integers(count, size=images)]
    for _ in range(RADIUS):
        asked = asked ^ (np.uint64(1) << random.integers(64, size=asked.shape, dtype=np.uint64))
    took = timed(register.match, asked)[1]
    least = timed(lambda code: hamming(centres, code).argmin(), asked)[1]
    return {
        "categories": count,
        "plain p50 ms": float(np.median(least)),
        "p50 ms": float(np.median(took)),
        "p99 ms": float(np.percentile(took, 99)),
        "times as fast": float(np.median(least) / np.median(took)),
    }


if __name__ == "__main__":
    main()
