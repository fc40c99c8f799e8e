"""How far a category reaches, found by discovery simulated on the support set: some known categories play new ones."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firstsight.core.accuracy import strict_accuracy
from firstsight.core.protocols import Features
from firstsight.methods.simulation import Simulated, simulated, thirds
from firstsight.register.features import FeatureRegister, Metric, closed_set_features

REACHES = 24  # radii that are tried


def chosen_reach(features: Features, labels: NDArray[np.int64], metric: Metric, seed: int = 0) -> float:
    """The radius under which simulated discovery is most accurate, over all folds."""
    generator = np.random.default_rng(seed)
    streams = [HeldOut(features, labels, metric, simulated(labels, new, generator)) for new in thirds(labels)]
    low, high = np.quantile(np.concatenate([stream.nearest for stream in streams]), (0.02, 0.98))
    tried = np.linspace(low, high, REACHES)
    scores = np.array([np.mean([stream.accuracy(float(reach)) for stream in streams]) for reach in tried])
    best = np.flatnonzero(scores == scores.max())
    return float(tried[best[len(best) // 2]])  # the middle, where a stretch is equally good


class HeldOut:
    """A simulated stream, to be decided with the means of what teaches."""

    def __init__(self, features: Features, labels: NDArray[np.int64], metric: Metric, stream: Simulated) -> None:
        self.metric = metric
        taught = labels[stream.teaching]
        centres = [features[stream.teaching[taught == category]].mean(0) for category in np.unique(taught)]
        self._names, self._points = [str(i) for i in range(len(centres))], np.stack(centres)
        self.features, self.truth, self.known = features[stream.arriving], labels[stream.arriving], stream.known
        self.nearest = closed_set_features(metric, self._names, self._points).assign_many(self.features).distance

    def accuracy(self, reach: float) -> float:
        answers = self._register(reach).assign_many(self.features)
        return strict_accuracy(self.truth, answers.category, self.known).all

    def _register(self, reach: float) -> FeatureRegister:
        return FeatureRegister(self.metric, reach, self._names, self._points)
