"""Does a fit depend on the machine? The same support set, with other rounding, noise, threads, instructions, devices.

    python reproductions/stability.py fit cub.npz --out fits.jsonl --name native
    python reproductions/stability.py fit cub.npz --out fits.jsonl --name noise --noise 1e-6 --fits 20
    python reproductions/stability.py table fits.jsonl

`fit` writes a line per fit: what was chosen, the support images' log odds, and the answers to the query stream in
three random orders. `table` compares the lines of a data set with its first one. Features come from
reproductions/features.py; encode and fit with the settings of the machine that is to be imitated.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from features import Part, fitted, load

from firstsight.core.accuracy import strict_accuracy
from firstsight.core.threads import one_thread
from firstsight.evaluate.orders import random_orders
from firstsight.reproduce.provenance import provenance

ORDERS = 3
SMALL = 10, 12  # categories and images of each, in a small support set


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    fit = commands.add_parser("fit")
    fit.add_argument("features", type=Path)
    fit.add_argument("--out", type=Path, required=True)
    fit.add_argument("--name", required=True)
    fit.add_argument("--noise", type=float, default=0.0, help="relative, in what the encoder makes")
    fit.add_argument("--fits", type=int, default=1)
    fit.set_defaults(run=run_fits)
    table = commands.add_parser("table")
    table.add_argument("fits", type=Path)
    table.set_defaults(run=print_table)
    options = parser.parse_args()
    options.run(options)


def run_fits(options: argparse.Namespace) -> None:
    support, query = load(options.features)
    sets = {"whole": (support, query), "small": small(support, query)}
    for number in range(options.fits):
        generator = np.random.default_rng(number)
        for size, parts in sets.items():
            taught, stream = (with_noise(part, options.noise, generator) for part in parts)
            line = {"data": options.features.stem, "size": size, "name": options.name, **one_fit(taught, stream)}
            with options.out.open("a") as file:
                file.write(json.dumps({**line, **asdict(provenance("cpu"))}) + "\n")


def small(support: Part, query: Part) -> tuple[Part, Part]:
    """A few known categories with a few images each; the stream has as many new ones."""
    count, images = SMALL
    generator = np.random.default_rng(0)
    known = np.unique(support.labels)[:count]
    new = np.unique(query.labels[query.labels > support.labels.max()])[: len(known)]
    everything = len(query.labels)
    return support.of(known, images, generator), query.of(np.concatenate([known, new]), everything, generator)


def with_noise(part: Part, noise: float, generator: np.random.Generator) -> Part:
    factor = 1 + noise * generator.standard_normal(part.features.shape)
    return Part((part.features * factor).astype(np.float32), part.labels)


@one_thread()
def one_fit(support: Part, query: Part) -> dict[str, Any]:
    decision = fitted(support)
    start: Any = decision.register()
    own, stream = decision.transform(support.features).astype(np.float64), decision.transform(query.features)
    answers, accuracies = [], []
    for order in random_orders(len(stream), ORDERS):
        register: Any = decision.register()
        category = register.assign_many(stream[order]).category
        truth = query.labels[order]
        accuracies.append(100 * strict_accuracy(truth, category, truth < len(decision.names)).all)
        answers.append(category.tolist())
    return {
        "concentration": decision.concentration,
        "sharpness": decision.sharpness,
        "log_odds": [float(start.distances(each)[label]) for each, label in zip(own, support.labels, strict=True)],
        "all": accuracies,
        "answers": answers,
    }


def print_table(options: argparse.Namespace) -> None:
    lines = [json.loads(line) for line in options.fits.read_text().splitlines()]
    print("| support set | fit | concentration | sharpness | log odds change by | All | other ids |")
    print("|---|---|---|---|---|---|---|")
    for data, size in dict.fromkeys((line["data"], line["size"]) for line in lines):
        own = [line for line in lines if (line["data"], line["size"]) == (data, size)]
        for name in dict.fromkeys(line["name"] for line in own):
            some = [line for line in own if line["name"] == name]
            fits = f", {len(some)} fits" if len(some) > 1 else ""
            print(f"| {data}, {size} | {name}{fits} | {compared(own[0], some)} |")


def compared(first: dict[str, Any], some: Sequence[dict[str, Any]]) -> str:
    """How far some fits are from the first one: the farthest of them."""
    odds = max(float(np.abs(np.subtract(line["log_odds"], first["log_odds"])).max()) for line in some)
    other = max(float(np.not_equal(line["answers"], first["answers"]).mean()) for line in some)
    means = [float(np.mean(line["all"])) for line in some]
    ranges = (_range([line[key] for line in some]) for key in ("concentration", "sharpness"))
    return " | ".join([*ranges, f"{odds:.1g}", _range(means, 1), f"{100 * other:.2g} %"])


def _range(values: Sequence[float], digits: int = 4) -> str:
    least, most = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return least if least == most else f"{least} to {most}"


if __name__ == "__main__":
    main()
