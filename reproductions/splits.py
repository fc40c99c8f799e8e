"""How often the two halves of a category are two true ones, on streams simulated on support sets. No query is read.

    python reproductions/splits.py cub.npz pets.npz cars.npz --streams 24

Some known categories play new ones, and what a register then holds is cut in two. A cut is right where either part is
by two thirds of one category, and those are two. The second table makes a probability of the Bayes factor, fitted on
one data set and judged on each other: would `splits` be believed if it said so? The third is about what it does say.
Half of the categories are known, and a model rehearses on them as a fit does; then the other half comes, too. How many
proposals were right in rehearsal, how many then, and does the interval allow for that? Features come from features.py.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from firstsight.core.rehearsed import Rehearsed
from firstsight.core.threads import one_thread
from firstsight.methods.firstsight.calibration import ARRIVING, TEACHING, TRIALS, best_birth
from firstsight.methods.firstsight.decision import dimensions_for
from firstsight.methods.firstsight.forms import even
from firstsight.methods.firstsight.splitting import cuts as in_two
from firstsight.methods.firstsight.trial import Trial
from firstsight.methods.simulation import random_thirds, simulated

BANDS = (0.0, 0.1, 0.25, 0.5, 1.01)  # of what a fitted probability says
CALIBRATING = 4  # streams that say how readily categories are born
FIRST, SECOND = 1000, 77  # seeds
ORDERS = 4  # in which the other half comes
CHANCE = 0.05

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
        trials.append(Trial(features, labels, dimensions_for(len(labels)), simulated(labels, new, generator, taught)))
    dimensions = len(trials[0].spread.within)
    birth = best_birth([trial.corrected() for trial in trials[:CALIBRATING]], dimensions)
    return np.array([each for trial in trials for each in in_two(trial, birth)])


@one_thread()
def rehearsals(path: Path, halves: int) -> Iterator[tuple[Cuts, Cuts]]:
    """Cuts in rehearsal by models that know half of the categories, and when the other half comes, in some orders."""
    held = np.load(path)
    features, labels = even(held["support_features"]).astype(np.float64), held["support_labels"]
    for half in range(halves):
        generator = np.random.default_rng(SECOND + half)
        categories = generator.permutation(np.unique(labels))
        stream = simulated(labels, categories[len(categories) // 2 :], generator, TEACHING)
        taught, own = features[stream.teaching], np.unique(labels[stream.teaching], return_inverse=True)[1]
        draws = int(np.clip(ARRIVING / (len(own) / 2), *TRIALS))
        news = random_thirds(own, draws, generator)
        kept = dimensions_for(len(own))
        trials = [Trial(taught, own, kept, simulated(own, new, generator, TEACHING)) for new in news]
        birth = best_birth([t.corrected() for t in trials], len(trials[0].spread.within))
        real = Trial(features, labels, kept, stream)
        orders = [real, *(real.shuffled(generator) for _ in range(ORDERS - 1))]
        made = [np.array([cut for trial in some for cut in in_two(trial, birth)]) for some in (trials, orders)]
        yield made[0], made[1]


def said(paths: Sequence[Path], halves: int) -> None:
    print("\n| data | in rehearsal, right | when the others came, right | the interval allows it |\n|---|---|---|---:|")
    for path in paths:
        pairs = [[each[each[:, 0] > 0, 1] for each in pair] for pair in rehearsals(path, halves)]
        kept = [Rehearsed.counted(int(before.sum()), len(before)) for before, _ in pairs]
        held = sum(could_be(each, after) for each, (_, after) in zip(kept, pairs, strict=True))
        parts = (np.concatenate([pair[at] for pair in pairs]) for at in (0, 1))
        cells = [f"{len(part)}, {part.mean():.0%}" for part in parts]
        print(f"| {path.stem} | {' | '.join(cells)} | {held} of {halves} |")


def could_be(said: Rehearsed, right: NDArray[np.float64]) -> bool:
    """Whether a share in the interval makes so many right, of as many as one order has, one time of twenty."""
    count, of = round(right.sum() / ORDERS), round(len(right) / ORDERS)
    return bool(binom.sf(count - 1, of, said.high) >= CHANCE and binom.cdf(count, of, said.low) >= CHANCE)


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
    parser.add_argument("--halves", type=int, default=8, help="models that know half of the categories")
    options = parser.parse_args(arguments)
    made = {path.stem: cuts(path, options.streams) for path in options.data}
    ranked(made, options.streams)
    judged(made, options.streams)
    said(options.data, options.halves)


if __name__ == "__main__":
    main()
