"""How often the two halves of a category are two true ones, on streams simulated on support sets. No query is read.

    python reproductions/splits.py cub.npz pets.npz cars.npz --streams 24

Some known categories play new ones, and what a register then holds is cut in two. A cut is right where either part is
by two thirds of one category, and those are two. The second table makes a probability of the Bayes factor, fitted on
one data set and judged on each other: would `splits` be believed if it said so? Features come from features.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from firstsight.core.threads import one_thread
from firstsight.methods.firstsight.calibration import best_concentration
from firstsight.methods.firstsight.decision import DIMENSIONS, even
from firstsight.methods.firstsight.splitting import cuts as in_two
from firstsight.methods.firstsight.trial import Trial
from firstsight.methods.simulation import simulated

BANDS = (0.0, 0.1, 0.25, 0.5, 1.01)  # of what a fitted probability says
CALIBRATING = 4  # streams that say how readily categories are born
FIRST = 1000  # seed

Cuts = NDArray[np.float64]  # (N, 2): the log Bayes factor of every cut, and whether it was right


@one_thread()
def cuts(path: Path, streams: int) -> Cuts:
    """Every category of two images or more, cut in two, of so many simulated streams."""
    held = np.load(path)
    features, labels = even(held["support_features"]).astype(np.float64), held["support_labels"]
    trials = []
    for stream in range(streams):
        generator = np.random.default_rng(FIRST + stream)
        categories = generator.permutation(np.unique(labels))
        new = categories[: int(len(categories) * (1 / 3, 1 / 2)[stream % 2])]
        taught = (0.5, 0.75)[stream // 2 % 2]
        trials.append(Trial(features, labels, DIMENSIONS, simulated(labels, new, generator, taught)))
    dimensions = len(trials[0].spread.within)
    concentration = best_concentration([trial.corrected() for trial in trials[:CALIBRATING]], dimensions)
    return np.array([each for trial in trials for each in in_two(trial, concentration)])


def ranked(made: Mapping[str, Cuts], streams: int) -> None:
    print("| data | cuts a stream, right | area under the curve | proposals a stream, right |\n|---|---|---:|---|")
    for name, each in made.items():
        area = roc_auc_score(each[:, 1], each[:, 0])
        print(f"| {name} | {share(each[:, 1], streams)} | {area:.2f} | {share(each[each[:, 0] > 0, 1], streams)} |")


def judged(made: Mapping[str, Cuts], streams: int) -> None:
    bands = [f"{low:.0%} to {min(high, 1):.0%}" for low, high in pairwise(BANDS)]
    print(f"\n| fitted on, judged on | {' | '.join(bands)} |\n|---|{'---|' * len(bands)}")
    for one, other in permutations(made, 2):
        if len(set(made[one][:, 1].tolist())) < 2:  # all right, or all wrong: nothing to fit
            continue
        fit = LogisticRegression(C=100).fit(made[one][:, :1] / 30, made[one][:, 1])
        says, right = fit.predict_proba(made[other][:, :1] / 30)[:, 1], made[other][:, 1]
        found = [share(right[(says >= low) & (says < high)], streams) for low, high in pairwise(BANDS)]
        print(f"| {one}, {other} | {' | '.join(found)} |")


def share(right: NDArray[np.float64], streams: int) -> str:
    return f"{len(right) / streams:.1f}, {right.mean():.0%}" if len(right) else "none"


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", nargs="+", type=Path, help="features, .npz")
    parser.add_argument("--streams", type=int, default=24)
    options = parser.parse_args(arguments)
    made = {path.stem: cuts(path, options.streams) for path in options.data}
    ranked(made, options.streams)
    judged(made, options.streams)


if __name__ == "__main__":
    main()
