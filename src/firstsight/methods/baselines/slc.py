"""Sequential leader clustering (SLC), as the paper compares with it."""

from __future__ import annotations

from firstsight.methods.baselines.classifier import LinearLearner
from firstsight.methods.baselines.leader import Leaders


class LeaderClustering(LinearLearner):
    """Leaders on features of a backbone trained by cross-entropy.

    The paper says neither which distance nor which threshold, nor whether known categories lead from the start. Ours:
    cosine; their means lead; the threshold as for class means, though here the backbone has seen the categories that
    play new ones, so that it comes out small.
    """

    decision = Leaders
