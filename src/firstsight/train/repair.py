"""A collapse noticed at the end of training: images that do not lie nearest to their own category's centre.

It is said, and trained away.
"""

from __future__ import annotations

import copy
from functools import partial

import torch
from torch import Tensor

from firstsight.core.protocols import Progress
from firstsight.encode.learner import Learner
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.loop import train
from firstsight.train.processes import same
from firstsight.train.support import Support

ENOUGH = 0.9  # of the support images: training that went well leaves next to none astray
ROUNDS = 2  # of training on, at most


def repair(learner: Learner, support: Support, features: Tensor, progress: Progress) -> list[str]:
    """Train on where codes have collapsed, and keep what tells most images apart; what there is to say of it.

    `features` are those of the support set as they are now.
    """
    first = best = same(lambda: learner.apart(features, support.labels))
    asked, state = learner.settings, copy.deepcopy(learner.state_dict()) if first < ENOUGH else {}
    for count in range(ROUNDS):
        harder = learner.harder()
        if best >= ENOUGH or harder is None:
            break
        learner.settings = support.settings = harder.changed(seed=asked.seed + 1 + count)
        with progress.task("training on, as codes have collapsed", harder.epochs) as advance:
            train(learner, support, Checkpoint(None, {}, 0), lambda epoch, means: advance())
        learner.settings = support.settings = asked
        made = _features(learner, support)
        now = same(partial(learner.apart, made, support.labels))
        if now > best:
            best, state = now, copy.deepcopy(learner.state_dict())
    if state:
        learner.load_state_dict(state)
    if best == first:  # the decision's report says how far images are from their centres
        return []
    return [
        f"training had collapsed: {first:.0%} of its images lay nearest to their own centre; trained on, {best:.0%} do"
    ]


def _features(learner: Learner, support: Support) -> Tensor:
    learner.eval()
    made = [support.encoder.in_parts(learner.features, stem).float() for stem in support.central()]
    return torch.cat(made)
