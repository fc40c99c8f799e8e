"""What an image costs at every stage, in seconds of one core; and what a given stream would take, by that model.

    python benchmarks/stages.py [--daily 1000000000] [--categories 10000000] [--images 64] [--json FILE]

Four stages are timed on this machine: decode (by size), encode, decide (by how many categories are weighed), keep. Each
is fitted by a line; the rest is arithmetic. Seconds are those of the processor, so a busy neighbour counts little.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy and torch are loaded

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from common import keep, photographs, show
from firstsight.core.protocols import Provenance
from firstsight.core.threads import one_thread
from firstsight.encode.devices import pick_device
from firstsight.methods.settings import settings
from firstsight.model.assemble import assemble
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.store import Arrival, Store

SIDES = 250, 500, 1000, 2000  # of photographs, in pixels
SIZES = 1_000, 3_000, 9_000  # categories: more are not all weighed exactly
WIDTH, GROUP = 192, 256
DAY = 86_400
TICK = 1e-7  # seconds that no clock tells apart
MODEL = Provenance("0" * 64, 1, "cpu", "fp32")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--daily", type=float, default=1e9, help="images a day")
    parser.add_argument("--categories", type=float, default=1e7)
    parser.add_argument("--megapixels", type=float, default=1.0, help="of an image of that stream")
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--images", type=int, default=64, help="to time a stage with")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with one_thread(), tempfile.TemporaryDirectory() as name:
        figures = timed(Path(name), options.backbone, options.images)
    show("Seconds of one core", ("stage", "seconds"), [(stage, words(line)) for stage, line in figures.items()])
    needed = cores(figures, options.daily / DAY, options.megapixels, options.categories)
    title = f"{options.daily:,.0f} images a day, {options.categories:,.0f} categories"
    show(title, ("stage", "cores"), [(stage, f"{count:,.1f}") for stage, count in needed.items()])
    keep(options.json, "cpu", {"stages": figures, "cores": needed})


def timed(folder: Path, backbone: str, images: int) -> dict[str, tuple[float, float]]:
    """The line of each stage: seconds for an image, and more for every megapixel or every million categories."""
    encoder = assemble(settings("firstsight", backbone=backbone), 2, pick_device("cpu"), blank=False)
    sizes, decoding = [], []
    for side in SIDES:
        paths = photographs(folder / str(side), images, side)
        sizes.append(side * (side * 3 // 4) / 1e6)
        decoding.append(seconds(lambda path: encoder.prepare(path), paths))
    crops = [encoder.prepare(path) for path in paths[: max(4, images // 2)]]
    few = [crops[start : start + 2] for start in range(0, len(crops), 2)]
    encoding = seconds(lambda pair: encoder.encode(pair), few) * len(few) / len(crops)
    deciding = [decide(count, images) for count in SIZES]
    return {
        "decode": line(sizes, decoding),
        "encode": (encoding, 0.0),
        "decide": line([count / 1e6 for count in SIZES], deciding),
        "keep": (kept(folder), 0.0),
    }


def decide(categories: int, images: int) -> float:
    means = 3 * np.random.default_rng(0).standard_normal((categories, WIDTH))
    spread = Spread(np.ones(WIDTH), np.full(WIDTH, 9.0), 6.0)
    names = [str(i) for i in range(categories)]
    register = StatisticsRegister(spread, names, np.full(categories, 5), 5 * means)
    return seconds(register.assign, list(means[:images].astype(np.float32)))


def kept(folder: Path) -> float:
    """What a durable file takes for an image beyond deciding, in groups."""
    features = np.random.default_rng(0).standard_normal((4 * GROUP, WIDTH)).astype(np.float32)
    spread = Spread(np.ones(WIDTH), np.full(WIDTH, 1e-3), 60.0)  # nothing is ever new: one category, no search
    start = spread, ["moth"], np.ones(1), np.zeros((1, WIDTH))
    arrivals = [Arrival(f"{i}.jpg", i.to_bytes(32), feature) for i, feature in enumerate(features)]
    groups = [arrivals[at : at + GROUP] for at in range(0, len(arrivals), GROUP)]
    alone = StatisticsRegister(*start)
    decided = seconds(alone.assign, list(features))
    with Store.create(folder / "kept.db", StatisticsRegister(*start), MODEL) as store:
        return max(0.0, seconds(lambda group: store.record(group, MODEL), groups) / GROUP - decided)


def cores(figures: dict[str, tuple[float, float]], rate: float, megapixels: float, categories: float) -> dict[str, Any]:
    """How many cores each stage keeps busy at so many images a second."""
    amount = {"decode": megapixels, "encode": 0.0, "decide": categories / 1e6, "keep": 0.0}
    return {stage: rate * (first + more * amount[stage]) for stage, (first, more) in figures.items()}


def seconds(work: Callable[[Any], object], items: Sequence[Any]) -> float:
    """Of the processor, for one item; the first, which makes things ready, does not count."""
    work(items[0])
    began = time.process_time()
    for item in items[1:]:
        work(item)
    return (time.process_time() - began) / (len(items) - 1)


def line(amounts: Sequence[float], taken: Sequence[float]) -> tuple[float, float]:
    """The line of least relative error through times."""
    weights = 1 / np.maximum(taken, TICK)
    design = np.stack([np.ones(len(amounts)), np.asarray(amounts)], axis=1)
    first, more = np.linalg.lstsq(design * weights[:, None], np.ones(len(amounts)), rcond=None)[0]
    return max(0.0, float(first)), max(0.0, float(more))


def words(of: tuple[float, float]) -> str:
    return f"{of[0]:.2e}" + (f" + {of[1]:.2e} for each million (pixels, categories)" if of[1] else "")


if __name__ == "__main__":
    main()
