"""What fitting the method `firstsight` costs once features are there, in CPU-seconds of one core.

    python benchmarks/calibrating.py [--categories 100] [--images 15] [--width 1280] [--features cub.npz] [--json FILE]

Features are drawn, or come from reproductions/features.py. Beside the space and its calibration: one simulated stream,
as calibration answers it, against the register that a model would use (the baseline).
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
from numpy.typing import NDArray

from firstsight.core.threads import one_thread
from firstsight.methods.firstsight.calibration import TEACHING, calibrated
from firstsight.methods.firstsight.decision import dimensions_for
from firstsight.methods.firstsight.forms import even
from firstsight.methods.firstsight.space import fit_space
from firstsight.methods.firstsight.trial import Trial
from firstsight.methods.simulation import random_thirds, simulated
from firstsight.reproduce.provenance import provenance

TIMES = 3  # the best of them is told


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--categories", type=int, default=100)
    parser.add_argument("--images", type=int, default=15, help="of each category")
    parser.add_argument("--width", type=int, default=1280)
    parser.add_argument("--features", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    if options.features:
        held = np.load(options.features)
        features, labels = held["support_features"], held["support_labels"]
    else:
        features, labels = drawn(options.categories, options.images, options.width)
    with one_thread():
        results = measured(even(features).astype(np.float64), labels)
    print(f"{len(labels):,} images of {labels.max() + 1} categories, CPU-seconds of one core, best of {TIMES}")
    for name, seconds in results.items():
        print(f"{name:>44s} {seconds:8.3f}")
    if options.json:
        options.json.write_text(json.dumps({"seconds": results, **asdict(provenance("cpu"))}, indent=1) + "\n")


def drawn(categories: int, images: int, width: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
    generator, labels = np.random.default_rng(0), np.repeat(np.arange(categories), images)
    means = 0.5 * generator.standard_normal((categories, width))
    return means[labels] + generator.standard_normal((len(labels), width)), labels


def measured(features: NDArray[np.float64], labels: NDArray[np.int64]) -> dict[str, float]:
    generator, dimensions = np.random.default_rng(0), dimensions_for(len(labels))
    stream = simulated(labels, random_thirds(labels, 1, generator)[0], generator, TEACHING)
    trial = Trial(features, labels, dimensions, stream)
    birth, every = trial.spread.birth, np.arange(len(stream.arriving))
    return {
        "the space": seconds(lambda: fit_space(features, labels, dimensions)),
        "its calibration": seconds(lambda: calibrated(features, labels, dimensions, seed=0)),
        "a simulated stream, in it": seconds(lambda: trial.answers(birth, every)),
        "the same stream, by a register": seconds(lambda: trial.register(birth).assign_many(trial.arriving)),
    }


def seconds(work: Callable[[], Any]) -> float:
    taken = []
    for _ in range(TIMES):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


if __name__ == "__main__":
    main()
