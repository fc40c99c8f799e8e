"""What each part of the method `firstsight` gives, without a look at a query stream.

    python reproductions/ablate.py cub.npz --out ablation.jsonl
    python reproductions/ablate.py cub.npz --out ablation.jsonl --one-look cub-once.npz

Only the support set is read. A third of its categories play new ones, eight times; every variant is scored on the same
simulated streams, at the concentration that the method would find for it. Prints a table, and appends a line per
variant. Features come from reproductions/features.py, those of one look with its flag --once.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np
from features import Part, load

from firstsight.core.accuracy import strict_accuracy
from firstsight.core.protocols import CONFIRMED
from firstsight.core.threads import one_thread
from firstsight.methods.firstsight import discriminant, space
from firstsight.methods.firstsight import trial as one_trial
from firstsight.methods.firstsight.calibration import TEACHING, best_birth
from firstsight.methods.firstsight.decision import dimensions_for
from firstsight.methods.firstsight.discriminant import Floats, Labels, category_means, fit_projection
from firstsight.methods.firstsight.forms import even
from firstsight.methods.firstsight.prior import PRIOR, Prior
from firstsight.methods.firstsight.space import Space, fit_space
from firstsight.methods.firstsight.trial import Trial
from firstsight.methods.simulation import random_thirds, simulated
from firstsight.register.spread import Birth
from firstsight.reproduce.provenance import provenance

REPEATS = 8
FIGURES = "all", "old", "new", "confirmed", "found"
NOTHING = 1e-9  # that a belief is worth
NO_PRIOR = replace(
    PRIOR,
    **dict.fromkeys(("within_weight", "level_weight", "shape_weight"), NOTHING),
    **dict.fromkeys(("concentration_spread", "sharpness_spread"), 1 / NOTHING),
)


@dataclass(frozen=True)
class Variant:
    """What is other than in the method."""

    features: Floats
    dimensions: int | None = None  # as many as so many images have, if it says nothing
    prior: Prior = PRIOR
    spread: Mapping[str, Any] = field(default_factory=dict)
    instead: tuple[ModuleType, str, Any] | None = None  # a name of a module, and what it stands for
    declines: bool = True  # whether categories are born ever less readily


def variants(support: Part, once: Part | None) -> dict[str, Variant]:
    features, raw = evened(support), support.features.astype(np.float64)
    some = {} if once is None else {"one look": Variant(evened(once))}
    most = float(np.bincount(support.labels).max())  # images that a category can have learned from
    return {
        "all parts": Variant(features),
        **some,
        "no square root": Variant(raw / np.linalg.norm(raw, axis=1, keepdims=True)),
        # where means do not differ every basis is as good to `eigh`, and rounding picks one
        "LAPACK's basis where labels say nothing": Variant(features, instead=(discriminant, "TELLING", 0.0)),
        "only where known categories differ": Variant(features, instead=(one_trial, "fit_space", leading)),
        "W of left out categories alone": Variant(features, instead=(space, "_also_of_seen", unchanged)),
        "spread of what was fitted on": Variant(features, instead=(space, "_in_turn", fitted_on)),
        "no prior": Variant(features, prior=NO_PRIOR),
        "a mean believed as it is": Variant(features, spread={"trusted": most}),
        "categories learn on": Variant(features, spread={"enough": np.inf}),
        "categories stay as founded": Variant(features, spread={"enough": 1.0}),
        "categories are born as readily later": Variant(features, declines=False),
        "128 dimensions": Variant(features, 128),
        "192 dimensions": Variant(features, 192),
        "400 dimensions": Variant(features, 400),
    }


def evened(part: Part) -> Floats:
    """Features as the method takes them first: square roots, at length 1."""
    return even(part.features).astype(np.float64)


def leading(
    features: Floats, labels: Labels, dimensions: int, prior: Prior, measured: Sequence[space.LeftOut]
) -> Space:
    """Without the dimensions in which the means of known categories do not differ."""
    whole, keep = fit_space(features, labels, dimensions, prior, measured), slice(int(labels.max()))
    projection = replace(whole.projection, turn=whole.projection.turn[:, keep])
    return Space(projection, whole.within[keep], whole.between[keep], whole.own[:, keep])


def unchanged(within: Floats, *_: Any) -> Floats:
    return within


def fitted_on(features: Floats, labels: Labels, axes_of: Callable[[Floats], Floats]) -> list[space.LeftOut]:
    """The sums over categories left out, taken over those that the projection was fitted on."""
    projected = fit_projection(features, labels, axes_of(features))(features)
    centres, counts = category_means(projected, labels), np.bincount(labels)
    count = len(counts)
    scatter = np.square(projected - centres[labels]).sum(axis=0)
    means = np.square(centres).sum(axis=0) * count / (count - 1)  # they lie around their own mean
    parts = space.Parts.of(labels, projected.shape[1])
    share = float((1 / counts).mean())
    return [space.LeftOut(parts, scatter, len(labels) - count, means, count, share, led=True)]


@one_thread()
def score(variant: Variant, labels: Labels) -> tuple[Birth, Floats]:
    """How readily categories are born; for every stream All, Old, New in per cent, confirmed and found over true."""
    generator = np.random.default_rng(0)
    news = random_thirds(labels, REPEATS, generator)
    streams = [simulated(labels, new, generator, TEACHING) for new in news]
    dimensions = variant.dimensions or dimensions_for(len(labels))
    with patch.object(*variant.instead) if variant.instead else nullcontext():
        trials = [Trial(variant.features, labels, dimensions, stream, variant.prior) for stream in streams]
    for trial in trials:
        trial.spread = replace(trial.spread, **variant.spread)
    kept = trials[0].arriving.shape[1]
    corrected = [trial.corrected() for trial in trials]
    if variant.declines:
        birth = best_birth(corrected, kept, variant.prior)
    else:
        always = [replace(stream, falls=np.zeros_like(stream.falls)) for stream in corrected]
        birth = Birth(best_birth(always, kept, variant.prior).concentration)
    return birth, np.array([figures(trial, birth) for trial in trials])


def figures(trial: Trial, birth: Birth) -> list[float]:
    category = trial.register(birth).assign_many(trial.arriving).category
    accuracy = strict_accuracy(trial.truth, category, trial.known)
    sizes, true = np.bincount(category), len(np.unique(trial.truth))
    counts = [float((sizes >= least).sum() / true) for least in (CONFIRMED, 1)]
    return [100 * accuracy.all, 100 * accuracy.old, 100 * accuracy.new, *counts]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--one-look", type=Path, help="features of the same images without the second look")
    options = parser.parse_args()
    support, _ = load(options.features)
    once = load(options.one_look)[0] if options.one_look else None
    made_by = {**asdict(provenance("cpu")), "command": shlex.join(["python", "reproductions/ablate.py", *sys.argv[1:]])}
    for name, variant in variants(support, once).items():
        birth, found = score(variant, support.labels)
        line = dict(zip(FIGURES, found.mean(axis=0).tolist(), strict=True))
        shown = "  ".join(f"{key} {value:.2f}" for key, value in line.items())
        print(f"{name:40s}{shown}  concentration {birth.concentration:.1f}", flush=True)
        line |= {**birth._asdict(), "all of each": found[:, 0].tolist()}
        with options.out.open("a") as file:
            file.write(json.dumps({"data": options.features.stem, "variant": name, **line, **made_by}) + "\n")


if __name__ == "__main__":
    main()
