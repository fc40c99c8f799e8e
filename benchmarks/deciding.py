"""What deciding an image costs beyond its encoding, at 100, 1,000 and 10,000 categories, on one core.

    python benchmarks/deciding.py [--categories 100,1000,10000] [--images 500] [--json FILE]

The register of statistics weighs every category and learns from every image. Beside it: the nearest centre by cosine,
which learns nothing (the baseline), and the one product of a matrix and a feature that weighing needs (the limit).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.register.features import FeatureRegister
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.reproduce.provenance import provenance

WIDTH = 192


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--categories", default="100,1000,10000")
    parser.add_argument("--images", type=int, default=500)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = [measured(int(each), options.images) for each in options.categories.split(",")]
    print("  ".join(f"{name:>20s}" for name in results[0]))
    for each in results:
        print("  ".join(f"{value:20.3f}" if isinstance(value, float) else f"{value:20,d}" for value in each.values()))
    if options.json:
        options.json.write_text(json.dumps({"sizes": results, **asdict(provenance("cpu"))}, indent=1) + "\n")


def measured(categories: int, images: int) -> dict[str, Any]:
    generator = np.random.default_rng(0)
    means = 3 * generator.standard_normal((categories, WIDTH))
    features = (means[generator.integers(categories, size=images)] + generator.standard_normal((images, WIDTH))).astype(
        "f4"
    )
    names = [str(i) for i in range(categories)]
    spread = Spread(np.ones(WIDTH), np.full(WIDTH, 9.0), 6.0)
    statistics = StatisticsRegister(spread, names, np.full(categories, 5), 5 * means)
    nearest = FeatureRegister("cosine", 0.5, names, means.astype("f4"))
    matrix, values = generator.standard_normal((categories, WIDTH)), generator.standard_normal(WIDTH)
    return {
        "categories": categories,
        "nearest centre, ms": milliseconds(lambda i: nearest.assign(features[i]), images),
        "statistics, ms": milliseconds(lambda i: statistics.assign(features[i]), images),
        "one product, ms": milliseconds(lambda i: matrix @ values, images),
    }


def milliseconds(work: Callable[[int], Any], times: int) -> float:
    work(0)
    began = time.perf_counter()
    for i in range(times):
        work(i)
    return 1000 * (time.perf_counter() - began) / times


if __name__ == "__main__":
    main()
