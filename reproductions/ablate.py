"""What each part of the method `firstsight` gives, without a look at a query stream.

    python reproductions/ablate.py cub cub.tar --backbone efficientnet-lite2 --out ablation.jsonl

Only the support set is read. Half of its categories play new ones, eight times; every variant is scored on the same
simulated streams, each with the shape and at the concentration that suit it best. Prints a table, and appends a line
per variant.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from firstsight.accuracy import strict_accuracy
from firstsight.cli.console import Bars
from firstsight.data.benchmarks import open_data, split_of
from firstsight.evaluate.provenance import provenance
from firstsight.evaluate.stream import encode_images
from firstsight.methods.calibration import CONCENTRATIONS, COUNT_MATTERS, Shape, Trial
from firstsight.methods.catalogue import method
from firstsight.methods.discriminant import Floats, Labels, fit_projection, spread_of
from firstsight.methods.firstsight import DIMENSIONS
from firstsight.methods.model import Category, Model
from firstsight.methods.simulation import halves, simulated
from firstsight.protocols import CONFIRMED
from firstsight.register.statistics import StatisticsRegister

REPEATS = 8
Scored: TypeAlias = tuple[tuple[Shape, float], list[float]]


class Fixed(StatisticsRegister):
    """Categories stay as they were founded."""

    def _take(self, position: int, row: Floats) -> None:
        if position >= len(self._counts) or self._counts[position] == 0:
            super()._take(position, row)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("root", type=Path)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    of, images = open_data(options.data, options.root)
    support, _ = split_of(of, images).apply(images)
    names = [Category(name, 1) for name in support.categories]

    def encoded(second_look: bool) -> Floats:
        settings = method("firstsight").settings(backbone=options.backbone, second_look=second_look)
        model = Model.assemble(settings, names, torch.device("cpu"), blank=False)
        return encode_images(model, support.images, Bars()).features.astype(np.float64)

    features, once, labels = encoded(True), encoded(False), np.array(support.labels)
    raw, known = unit(np.sign(features) * features**2), len(names) // 2 - 1
    variants: dict[str, Callable[[], Scored]] = {
        "all parts": lambda: score(features, labels),
        "one look": lambda: score(once, labels),
        "the spread as measured": lambda: score(features, labels, shapes=[Shape.MEASURED]),
        "no square root": lambda: score(raw, labels),
        "a mean believed as it is": lambda: score(features, labels, trusted=np.inf),
        "only where known categories differ": lambda: score(features, labels, dimensions=DIMENSIONS, keep=known),
        "128 dimensions": lambda: score(features, labels, dimensions=128),
        "256 dimensions": lambda: score(features, labels, dimensions=256),
        "spread of what was fitted on": lambda: score(features, labels, held_out=False),
        "categories learn on": lambda: score(features, labels, enough=np.inf),
        "categories stay as founded": lambda: score(features, labels, kind=Fixed),
    }
    for name, run in variants.items():
        figures = run()
        line = dict(zip(("all", "old", "new", "confirmed", "found"), figures[1], strict=True))
        print(f"{name:36s}" + "  ".join(f"{key} {value:.2f}" for key, value in line.items()), *figures[0], flush=True)
        chosen = {"shape": figures[0][0].name, "concentration": figures[0][1]}
        with options.out.open("a") as file:
            file.write(json.dumps({"data": of.name, "variant": name, **line, **chosen, **provenance("cpu")}) + "\n")


def score(
    features: Floats,
    labels: Labels,
    dimensions: int = DIMENSIONS,
    trusted: float | None = None,
    enough: float | None = None,
    keep: int | None = None,
    held_out: bool = True,
    kind: type[StatisticsRegister] = StatisticsRegister,
    shapes: Sequence[Shape] = tuple(Shape),
) -> Scored:
    """The best shape and concentration; with them All, Old, New in per cent, confirmed and found over true ones."""
    generator = np.random.default_rng(0)
    streams = [simulated(labels, new, generator) for new in halves(labels, REPEATS, generator)]
    trials = [Trial(features, labels, dimensions, stream) for stream in streams]
    for trial, stream in zip(trials, streams, strict=True):
        if not held_out:
            own = np.unique(labels[stream.teaching], return_inverse=True)[1]
            rows = fit_projection(features[stream.teaching], own, dimensions)(features[stream.teaching])
            within, between = spread_of(rows[:, : len(trial.spread.within)], own)
            trial.spread = replace(trial.spread, within=within, between=between)
        if trusted is not None:
            trial.spread = replace(trial.spread, trusted=trusted)
        if enough is not None:
            trial.spread = replace(trial.spread, enough=enough)
        if keep is not None:
            spread = trial.spread
            trial.spread = replace(spread, within=spread.within[:keep], between=spread.between[:keep])
            trial.sums, trial.rows = trial.sums[:, :keep], trial.rows[:, :keep]
    scored = [((shape, each), figures(trials, shape, each, kind)) for shape in shapes for each in CONCENTRATIONS]
    return max(scored, key=lambda each: each[1][0] - 100 * COUNT_MATTERS * abs(np.log(each[1][3])))


def figures(trials: list[Trial], shape: Shape, concentration: float, kind: type[StatisticsRegister]) -> list[float]:
    results = []
    for trial in trials:
        names = [str(i) for i in range(len(trial.counts))]
        within, between = shape.of(trial.spread.within, trial.spread.between)
        spread = replace(trial.spread, within=within, between=between, concentration=concentration)
        register = kind(spread, names, trial.counts, trial.sums)
        category = register.assign_many(trial.rows).category
        accuracy = strict_accuracy(trial.truth, category, trial.known)
        sizes, true = np.bincount(category), len(np.unique(trial.truth))
        counts = [(sizes >= CONFIRMED).sum() / true, (sizes > 0).sum() / true]
        results.append([100 * accuracy.all, 100 * accuracy.old, 100 * accuracy.new, *counts])
    means: list[float] = np.mean(results, axis=0).tolist()
    return means


def unit(features: NDArray[np.float64]) -> Floats:
    return features / np.linalg.norm(features, axis=1, keepdims=True)


if __name__ == "__main__":
    main()
