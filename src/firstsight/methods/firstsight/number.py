"""How found categories relate to true ones: learned on streams of many kinds, simulated on the support set.

A stream to come may be short or long, and hold few new categories or many. So the model is fitted on parts of the
simulated streams that are so, and on signs that do not depend on their length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import inf, log

import numpy as np

from firstsight.methods.firstsight.discriminant import Floats
from firstsight.methods.firstsight.trial import Trial
from firstsight.register.number import Signs
from firstsight.register.spread import Birth

RIDGE = 3.0  # streams' worth of belief that signs do not matter
SLIGHT = 0.05  # error in logarithms that counts as none
GROUPS = 4  # of trials, each left out in turn
FEWEST = 24  # streams to learn from

# share of the new categories that come, images of each at most, share of the known categories' images that come
WHOLE = (1.0, inf, 1.0)
COURSES = (
    WHOLE,
    (1.0, 16, 1.0),
    (1.0, 6, 1.0),
    (1.0, 3, 1.0),
    (0.5, inf, 1.0),
    (0.5, 6, 1.0),
    (0.25, inf, 1.0),
    (0.25, 6, 1.0),
    (1.0, inf, 0.3),
    (0.5, 6, 0.3),
)


@dataclass(frozen=True)
class Counted:
    """A simulated stream: what was found in it, and how many new categories it had."""

    signs: Signs
    true: int
    images: int  # of new categories


def counting_model(trials: Sequence[Trial], birth: Birth, generator: np.random.Generator) -> Floats:
    """What `NumberModel` is made of; nothing where there is too little to learn from."""
    streams = [[_counted(trial, birth, course, generator) for course in COURSES] for trial in trials]
    there = [[each for each in some if each is not None] for some in streams]
    counted = [each for some in there for each in some]
    if len(counted) < FEWEST or len(trials) < GROUPS:
        return np.zeros(0)
    group = np.repeat(np.arange(len(there)) % GROUPS, [len(some) for some in there])
    shapes, target = np.array([each.signs.shape for each in counted]), _target(counted)
    worth = np.array([each.images for each in counted], dtype=np.float64)
    worth /= worth.mean()
    off = np.zeros(len(counted))
    for out in range(GROUPS):
        rest, own = group != out, group == out
        off[own] = target[own] - shapes[own] @ _ridge(shapes[rest], target[rest], worth[rest])
    unsure = np.array([each.signs.unsure for each in counted])
    size = _ridge(unsure, np.log(np.abs(off) + SLIGHT), np.ones(len(off)))
    size[0] += 0.5 * log(max(float(np.mean(np.square(off / np.exp(unsure @ size)))), SLIGHT**2))
    return np.concatenate([_ridge(shapes, target, worth), size])


def _target(counted: Sequence[Counted]) -> Floats:
    return np.array([log(each.true / each.signs.confirmed) for each in counted])


def _ridge(signs: Floats, target: Floats, worth: Floats) -> Floats:
    """Weights of the signs; the first sign is 1, and its weight free."""
    belief = np.eye(signs.shape[1]) * RIDGE
    belief[0, 0] = 1e-9
    weighted = signs * worth[:, None]
    return np.asarray(np.linalg.solve(weighted.T @ signs + belief, weighted.T @ target))


def _counted(
    trial: Trial, birth: Birth, course: tuple[float, float, float], generator: np.random.Generator
) -> Counted | None:
    """A part of a trial's stream; None where nothing new was found, which needs no estimate."""
    arriving = None if course == WHOLE else trial.part(*course, generator)
    category = trial.answers(birth, arriving)
    taught = len(trial.counts)
    sizes = np.bincount(category[category >= taught])
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return None
    some = slice(None) if arriving is None else arriving
    new = ~trial.known[some]
    signs = Signs.of(sizes.astype(np.float64), int((category < taught).sum()))
    return Counted(signs, len(np.unique(trial.truth[some][new])), int(new.sum()))
