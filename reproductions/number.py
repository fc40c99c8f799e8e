"""Does the interval hold the true number of categories, and the outlook what then happens? Support sets only.

    python reproductions/number.py cub.npz pets.npz --splits 12 --out number.jsonl
    python reproductions/number.py cub.npz --query

A third or a half of the support set's categories, and a part of the others' images, are kept from the fit and arrive
in streams of several kinds. Every stream is a line: the true number, the estimate and its interval. With --query the
query stream arrives instead, in ten random orders: a look that belongs into the ledger.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from features import Part, fitted, load
from numpy.typing import NDArray

from firstsight.core.accuracy import matched
from firstsight.core.number import estimate
from firstsight.core.protocols import CONFIRMED
from firstsight.core.threads import one_thread
from firstsight.evaluate.orders import random_orders
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.firstsight.outlook import Outlook
from firstsight.methods.simulation import simulated

SHARES = 1.0, 0.5, 0.2  # of the new categories that come
IMAGES = 1_000, 8, 3  # of each of them, at most
KNOWN = 1.0, 0.3  # share of the known categories' images that come


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path, nargs="+")
    parser.add_argument("--splits", type=int, default=12)
    parser.add_argument("--query", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    for path in options.features:
        support, query = load(path)
        lines = list(of_query(support, query) if options.query else of_support(support, options.splits))
        if options.out:
            with options.out.open("a") as file:
                file.writelines(json.dumps({"data": path.stem, **line}) + "\n" for line in lines)
        report(path.stem, lines)


@one_thread()
def of_support(support: Part, splits: int) -> Iterator[dict[str, Any]]:
    """Categories of the support set that are kept from the fit, arriving."""
    for split in range(splits):
        generator = np.random.default_rng(1000 + split)
        categories = generator.permutation(np.unique(support.labels))
        new = categories[: int(len(categories) * (1 / 3, 1 / 2)[split % 2])]
        stream = simulated(support.labels, new, generator, (0.5, 0.75)[split // 2 % 2])
        own = np.unique(support.labels[stream.teaching], return_inverse=True)[1]
        decision = fitted(Part(support.features[stream.teaching], own), seed=split)
        at = {category: i for i, category in enumerate(np.unique(support.labels[stream.teaching]).tolist())}
        truth = np.array([at.setdefault(category, len(at)) for category in support.labels[stream.arriving].tolist()])
        features = decision.transform(support.features[stream.arriving])
        for share, most, known in product(SHARES, IMAGES, KNOWN):
            some = part(truth, len(decision.names), share, most, known, generator)
            kind = {"split": split, "share": share, "most": most, "known": known}
            yield {**kind, **answered(decision, features[some], truth[some])}


@one_thread()
def of_query(support: Part, query: Part) -> Iterator[dict[str, Any]]:
    decision = fitted(support)
    features = decision.transform(query.features)
    for order in random_orders(len(features)):
        kind = {"share": 1.0, "most": max(IMAGES), "known": 1.0}
        yield {**kind, **answered(decision, features[order], query.labels[order])}


def part(
    truth: NDArray[np.int64], taught: int, share: float, most: int, known: float, generator: np.random.Generator
) -> NDArray[np.int64]:
    """Positions of the images that come, in random order."""
    new = generator.permutation(np.unique(truth[truth >= taught]))
    coming = new[: max(1, round(share * len(new)))]
    order = generator.permutation(len(truth))
    own = truth[order]
    turn = np.zeros(len(own))
    for category in coming:
        turn[own == category] = np.arange((own == category).sum())
    of_known = (own < taught) & (generator.random(len(own)) < known)
    return np.asarray(order[of_known | (np.isin(own, coming) & (turn < most))])


def answered(decision: Firstsight, features: NDArray[Any], truth: NDArray[np.int64]) -> dict[str, Any]:
    """What a stream came to, beside what was expected of it."""
    register, taught = decision.register(), len(decision.names)
    category = register.assign_many(features).category
    sizes = np.bincount(category, minlength=taught)
    number = estimate(register, sizes[taught:].tolist(), taught, int(sizes[:taught].sum()))
    right, old = matched(truth, category), truth < taught
    outlook = Outlook.from_values(decision.outlook)
    assert outlook is not None
    shares = {
        "named": float((category == truth)[old].mean()) if old.any() else None,
        "apart": float(right[~old].mean()) if (~old).any() else None,
        "found": len(np.unique(category)) / len(np.unique(truth)),
    }
    return {
        "true": len(np.unique(truth[~old])),
        "certain": taught,
        "found": int((sizes[taught:] > 0).sum()),
        "confirmed": int((sizes[taught:] >= CONFIRMED).sum()),
        "more": number.more,
        "low": number.low,
        "high": number.high,
        "came_to": shares,
        "expected": dict(zip(("named", "apart", "found"), _three(outlook), strict=True)),
    }


def _three(outlook: Outlook) -> list[list[float]]:
    return [[each.mean, each.low, each.high] for each in (outlook.named, outlook.apart, outlook.found)]


def report(name: str, lines: list[dict[str, Any]]) -> None:
    """Coverage of the interval by kind of stream, how wide it is, and how far the estimate is off."""
    kinds = {
        "all": lines,
        "long, half of the new ones or more": [e for e in lines if e["most"] == max(IMAGES) and e["share"] >= 0.5],
        "at most 8 images each": [e for e in lines if e["most"] == 8],
        "at most 3 images each": [e for e in lines if e["most"] == 3],
        "a fifth of the new ones": [e for e in lines if e["share"] == 0.2],
    }
    for kind, some in kinds.items():
        if not some:
            continue
        held = np.mean([each["low"] <= each["true"] <= each["high"] for each in some])
        true, about, certain = (np.array([each[key] for each in some]) for key in ("true", "more", "certain"))
        low, high = (np.array([each[key] for each in some]) for key in ("low", "high"))
        off = np.log((about + certain) / (true + certain))
        width = np.median((high + certain) / (low + certain))
        print(
            f"{name}, {kind}: {len(some)} streams, {held:.0%} held; new {np.median(about / true):.2f} of the truth, "
            f"all {np.exp(np.median(off)):.2f} (root mean square {np.sqrt(np.mean(off**2)):.2f}), "
            f"high / low of all {width:.2f}"
        )
    whole = [each for each in lines if each["most"] == max(IMAGES) and each["share"] == 1 and each["known"] == 1]
    for key in ("named", "apart", "found"):
        pairs = [(each["came_to"][key], each["expected"][key]) for each in whole if each["came_to"][key] is not None]
        held = np.mean([low <= came <= high for came, (_, low, high) in pairs])
        came, mean = np.mean([c for c, _ in pairs]), np.mean([e[0] for _, e in pairs])
        print(f"{name}, outlook, {key}: expected {mean:.2f}, came to {came:.2f}, {held:.0%} of {len(pairs)} held")


if __name__ == "__main__":
    main()
