"""Category discovery on features that somebody has already: of CLIP, of sound, of text, of a table. Loads no torch."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ModelError
from firstsight.core.threads import one_thread
from firstsight.discoverer import Discoverer
from firstsight.model.model import Model
from firstsight.train.features import Labels, fit_features


class CategoryDiscoverer:
    """Learns known categories from labelled features, and tells of others whether they are of one, or of a new one.

    `predict` and `predict_open` change nothing; `discover` registers what is new, so that the next one like it is
    answered with the same category. Where labels are whole numbers, categories that are discovered are numbered on.

    >>> X = np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1]])
    >>> discoverer = CategoryDiscoverer().fit(X, ["ant", "ant", "bee", "bee"])
    >>> discoverer.discover([[0.05, 1], [-1, -1], [-1, -1.05]]).tolist()
    ['ant', 'new-1', 'new-1']
    >>> discoverer.categories_
    ['ant', 'bee', 'new-1']
    >>> CategoryDiscoverer().fit(X, [3, 3, 7, 7]).discover([[0.05, 1], [-1, -1]]).tolist()
    [3, 8]
    """

    model_: Model
    classes_: NDArray[Any]

    def __init__(self, method: str = "firstsight", seed: int = 0, radius: float | None = None) -> None:
        self.method = method
        self.seed = seed
        self.radius = radius

    def fit(self, X: Any, y: Labels) -> Self:  # noqa: N803 - as everybody calls it
        """Learn the categories in `y`; what was discovered before is forgotten."""
        self.model_ = fit_features(X, y, method=self.method, seed=self.seed)
        self.classes_ = np.unique(np.asarray(y))
        self._label_of = {str(label): label for label in self.classes_.tolist()}
        self._discoverer = Discoverer(self.model_, self.model_.register(self.radius))
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest of the known categories, one for every feature."""
        features = self._fitted.model.transform(np.asarray(X, dtype=np.float32))
        register = self.model_.closed_set()
        with one_thread():
            return np.array([self._label(register.match(feature).category) for feature in features])

    def predict_open(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The category of every feature, known or discovered earlier; None where it would found one."""
        return np.array([self._label(answer.category) for answer in self._fitted.predict_many(_each(X))], dtype=object)

    def discover(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The category of every feature, one after the other; what fits none founds one."""
        return np.array([self._label(answer.category) for answer in self._fitted.discover_many(_each(X))])

    @property
    def categories_(self) -> list[Any]:
        """All categories there are by now, the known ones first."""
        return [self._label(name) for name in self._fitted.register.names]

    def _label(self, name: str | None) -> Any:
        """A category as labels call it."""
        if name is None or name in self._label_of:
            return None if name is None else self._label_of[name]
        if self.classes_.dtype.kind in "iu":
            return int(self.classes_.max()) + int(name.removeprefix("new-"))
        return name

    @property
    def _fitted(self) -> Discoverer:
        if not hasattr(self, "_discoverer"):
            raise ModelError("this CategoryDiscoverer is not fitted yet", "call fit(X, y) first")
        return self._discoverer


def _each(X: Any) -> list[NDArray[np.float32]]:  # noqa: N803
    return list(np.atleast_2d(np.asarray(X, dtype=np.float32)))
