"""Methods that compare features with one centre per category: nearest class mean, sequential leader clustering.

How far a category reaches is found by discovery simulated on the support set: some known categories play new ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from firstsight.core.accuracy import strict_accuracy
from firstsight.methods.baselines.classifier import LinearNetwork
from firstsight.methods.networks import FeatureNetwork
from firstsight.methods.simulation import Simulated, simulated, thirds
from firstsight.register.features import FeatureRegister, Metric, closed_set_features

REACHES = 24  # radii that are tried


class Leaders(FeatureNetwork):
    """Categories lead from where their support images are on average, as far as pays on held-out ones."""

    def finish(self, rows: Tensor, labels: Tensor) -> None:
        super().finish(rows, labels)
        self.reach.fill_(chosen_reach(rows.cpu().numpy(), labels.cpu().numpy(), self.metric))


class ClassMeans(Leaders):
    """Nearest class mean by cosine on the frozen backbone's features; an image far from all founds a category.

    Nothing is trained, so the held-out categories the radius is chosen on are truly new to it. A new category stays
    where its first image is. (All choices but the cosine are ours.)
    """

    learns = False

    def rows(self, stem: Tensor) -> Tensor:
        features: Tensor = self.tail(stem)
        return features


class LeaderClustering(Leaders, LinearNetwork):
    """Sequential Leader Clustering (SLC) on features of a network trained by cross-entropy.

    The paper says neither which distance nor which threshold, nor whether known categories lead from the start. Ours:
    cosine; their means lead; the threshold as for class means, though here the network has seen the categories that
    play new ones, so that it comes out small.
    """


def chosen_reach(rows: NDArray[np.float32], labels: NDArray[np.int64], metric: Metric, seed: int = 0) -> float:
    """The radius under which simulated discovery is most accurate, over all folds."""
    generator = np.random.default_rng(seed)
    streams = [HeldOut(rows, labels, metric, simulated(labels, new, generator)) for new in thirds(labels)]
    low, high = np.quantile(np.concatenate([stream.nearest for stream in streams]), (0.02, 0.98))
    tried = np.linspace(low, high, REACHES)
    scores = np.array([np.mean([stream.accuracy(float(reach)) for stream in streams]) for reach in tried])
    best = np.flatnonzero(scores == scores.max())
    return float(tried[best[len(best) // 2]])  # the middle, where a stretch is equally good


class HeldOut:
    """A simulated stream, to be decided with the means of what teaches."""

    def __init__(self, rows: NDArray[np.float32], labels: NDArray[np.int64], metric: Metric, stream: Simulated) -> None:
        self.metric = metric
        taught = labels[stream.teaching]
        centres = [rows[stream.teaching[taught == category]].mean(0) for category in np.unique(taught)]
        self._names, self._points = [str(i) for i in range(len(centres))], np.stack(centres)
        self.rows, self.truth, self.known = rows[stream.arriving], labels[stream.arriving], stream.known
        self.nearest = closed_set_features(metric, self._names, self._points).assign_many(self.rows).distance

    def accuracy(self, reach: float) -> float:
        answers = self._register(reach).assign_many(self.rows)
        return strict_accuracy(self.truth, answers.category, self.known).all

    def _register(self, reach: float) -> FeatureRegister:
        return FeatureRegister(self.metric, reach, self._names, self._points)
