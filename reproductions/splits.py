"""How often a proposed split cuts two true categories apart, on streams of labelled features.

    python reproductions/splits.py cub.npz pets.npz --orders 5

A stream is answered by the default register, and every proposal is compared with the labels. It is right where each
part is by seven tenths of one category, and those are two. Features come from reproductions/features.py.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
from features import Part, fitted, load

from firstsight.core.protocols import Provenance
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.store.splits import SplitSuggestion, suggest_splits
from firstsight.store.store import Arrival, Store

BANDS = (0.0, 0.2, 0.5, 0.8, 1.01)  # of how sure a proposal is
MOSTLY = 0.7
MAKER = Provenance("f" * 64, 1, "cpu", "fp32")


def proposals(decision: Firstsight, query: Part, order: int) -> tuple[int, list[tuple[float, bool]]]:
    """How many categories of two images or more a stream has in this order; of every proposal, how sure and right."""
    places = np.random.default_rng(order).permutation(len(query.labels))
    features = decision.transform(query.features[places])
    store = Store.in_memory(decision.register(), MAKER)
    arriving = zip(places.tolist(), features, strict=True)
    store.record([Arrival(str(query.labels[at]), sha256(b"%d" % at).digest(), f) for at, f in arriving], MAKER)
    view = store.view()
    truth = {number: view.assigned(number).source for number in view.images()}
    found = suggest_splits(view, limit=len(truth))
    several = sum(len(view.images(c.id)) > 1 for c in view.catalogue.live())
    return several, [(float(each.sure or 0), is_right(each, truth)) for each in found]


def is_right(split: SplitSuggestion, truth: dict[int, str]) -> bool:
    ((one, count),), ((other, rest),) = (
        Counter(truth[image] for image in part).most_common(1) for part in (split.images, split.rest)
    )
    return one != other and count >= MOSTLY * len(split.images) and rest >= MOSTLY * len(split.rest)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="features, .npz")
    parser.add_argument("--orders", type=int, default=5)
    options = parser.parse_args(arguments)
    print("| data | categories a stream | how sure | proposals a stream | right |\n|---|---:|---|---:|---:|")
    for path in options.data:
        support, query = load(path)
        decision = fitted(support)
        streams = [proposals(decision, query, order) for order in range(options.orders)]
        categories = np.mean([several for several, _ in streams])
        made = np.array([each for _, found in streams for each in found]).reshape(-1, 2)
        for low, high in pairwise(BANDS):
            right = made[(made[:, 0] >= low) & (made[:, 0] < high), 1]
            share = f"{right.mean():.0%}" if len(right) else ""
            each = len(right) / options.orders
            print(f"| {path.stem} | {categories:.0f} | {low:.0%} to {min(high, 1):.0%} | {each:.1f} | {share} |")


if __name__ == "__main__":
    main()
