"""A collapse noticed at the end of training: known categories that share a code. It is said, and trained away."""

from __future__ import annotations

import copy

from firstsight.core.protocols import Progress
from firstsight.encode.learner import Learner
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.loop import train
from firstsight.train.support import Support

ENOUGH = 0.9  # of the known categories told apart: a pair or two that share a code are no collapse
ROUNDS = 2  # of training on, at most


def repair(learner: Learner, support: Support, progress: Progress) -> list[str]:
    """Train on where centres have collapsed, and keep what tells most categories apart; what there is to say of it."""
    first = best = learner.apart()
    asked, state = learner.settings, copy.deepcopy(learner.state_dict()) if first < ENOUGH else {}
    for count in range(ROUNDS):
        harder = learner.harder()
        if best >= ENOUGH or harder is None:
            break
        learner.settings = support.settings = harder.changed(seed=asked.seed + 1 + count)
        with progress.task("training on, as codes have collapsed", harder.epochs) as advance:
            train(learner, support, Checkpoint(None, {}, 0), lambda epoch, means: advance())
        learner.settings = support.settings = asked
        if learner.apart() > best:
            best, state = learner.apart(), copy.deepcopy(learner.state_dict())
    if state:
        learner.load_state_dict(state)
    if best == first:  # which the decision's report says, if that is too few
        return []
    return [f"training had collapsed: {first:.0%} of the known categories had a code of their own, now {best:.0%} have"]
