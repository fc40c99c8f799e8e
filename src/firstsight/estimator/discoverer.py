"""`CategoryDiscoverer`: a classifier that can also say that something is new, keep what it found, and be taught more.

Loads numpy, scipy and scikit-learn.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from firstsight.core.errors import DataError, SettingsError
from firstsight.core.protocols import Register
from firstsight.core.threads import one_thread
from firstsight.estimator.labels import BadInput, Labels, classes_in
from firstsight.methods.catalogue import decision_of
from firstsight.model.model import Model
from firstsight.register.statistics import StatisticsRegister
from firstsight.train.features import fit_features


def _tells_probabilities(discoverer: CategoryDiscoverer) -> bool:
    return decision_of(discoverer.method).decides == "posterior"


class CategoryDiscoverer(ClassifierMixin, BaseEstimator):  # type: ignore[misc] # scikit-learn has no types
    """Learns known categories from labelled features, and tells of others whether they are of one, or of a new one.

    `predict` is closed: the likeliest of `classes_`, by what was taught alone. `predict_open` may say None, for a new
    one. Both change nothing. `discover` registers what is new, so that the next one like it is answered with the same
    category. `partial_fit` teaches more, other classes too. Discovered categories are called as labels are: numbers go
    on above the largest, text is `new-1`, `new-2`; `categories_` has all of them.

    `method` is `firstsight`, `ncm` or one of your own. `radius` is how far a category reaches, if not as calibrated.

    >>> X = np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1]])
    >>> discoverer = CategoryDiscoverer().fit(X, ["ant", "ant", "bee", "bee"])
    >>> discoverer.discover([[0.05, 1], [-1, -1], [-1, -1.05]]).tolist()
    ['ant', 'new-1', 'new-1']
    >>> discoverer.categories_.tolist()
    ['ant', 'bee', 'new-1']
    >>> discoverer.predict([[0.1, 0.9]]).tolist()
    ['ant']
    >>> CategoryDiscoverer().fit(X, [3, 3, 7, 7]).discover([[0.05, 1], [-1, -1]]).tolist()
    [3, 8]
    """

    model_: Model
    classes_: NDArray[Any]
    _labels: Labels
    _register: Register  # what discovers
    _closed: Register  # knows only what was taught

    def __init__(self, method: str = "firstsight", seed: int = 0, radius: float | None = None) -> None:
        self.method = method
        self.seed = seed
        self.radius = radius

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803 - as everybody calls it
        """Learn the classes in `y`; what was discovered or taught before is forgotten."""
        features, y = validate_data(self, X, y, dtype=np.float32)
        return self._begin(features, y, classes_in(y))

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Self:  # noqa: N803
        """Teach more of any category, or a class that was not there yet; all of it or nothing. The first call fits.

        `classes` are all that may come, as scikit-learn has it. One that was not taught yet is never answered.
        """
        begun = hasattr(self, "model_")
        features, y = validate_data(self, X, y, reset=not begun, dtype=np.float32)
        told = classes_in(y)
        if classes is not None:
            every = classes_in(np.asarray(classes))
            if strange := np.setdiff1d(told, every).tolist():
                raise BadInput(f"y holds {strange[0]!r}, which is none of classes", "name all classes, or none")
            told = every
        if not begun:
            return self._begin(features, y, told)
        if not self._register.learns:
            raise SettingsError(f"{self.method} cannot be taught more", 'fit it anew, or take method="firstsight"')
        labels = self._labels.taught(told)
        names = labels.names
        lessons = list(zip(self.model_.transform(features), [names[label] for label in y.tolist()], strict=True))
        registers = [_taught(each, lessons, labels) for each in (self._register, self._closed)]
        self._register, self._closed = registers
        self._labels, self.classes_ = labels, np.unique(np.concatenate([self.classes_, told]))
        return self

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The likeliest of `classes_`, one for every feature."""
        check_is_fitted(self)
        features = self._features(X)
        if isinstance(self._closed, StatisticsRegister):
            return np.asarray(self.classes_[_posteriors(self._closed, features, self._columns).argmax(axis=1)])
        with one_thread():
            answers = [self._closed.match(feature).category for feature in features]
        return self._labels.array([name for name in answers if name is not None])

    @available_if(_tells_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """How probable each of `classes_` is, given that it is one of them (N, classes)."""
        check_is_fitted(self)
        features, closed = self._features(X), self._closed
        if not isinstance(closed, StatisticsRegister):
            raise SettingsError(f"{self.method} does not tell how probable each class is", "ask predict")
        return _posteriors(closed, features, self._columns)

    def predict_open(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The category of every feature, known or discovered earlier; None where it would found one."""
        check_is_fitted(self)
        features = self._features(X)
        with one_thread():
            names = [self._register.match(feature).category for feature in features]
        answers = np.empty(len(names), dtype=object)
        answers[:] = [None if name is None else self._labels.by_name[name] for name in names]
        return answers

    def discover(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The category of every feature, one after the other; what fits none founds one."""
        check_is_fitted(self)
        features = self._features(X)
        with one_thread():
            answers = self._register.assign_many(features)
        names = [self._register.names[at] for at in answers.category.tolist()]
        self._labels = self._labels.found(names)
        return self._labels.array(names)

    @property
    def categories_(self) -> NDArray[Any]:
        """All categories there are by now: those fitted, then the others in the order they came."""
        check_is_fitted(self)
        return self._labels.array(list(self._labels.by_name))

    def _begin(self, features: NDArray[np.float32], y: NDArray[Any], classes: NDArray[Any]) -> Self:
        if len(np.unique(y)) < 2:
            raise BadInput(f"y holds one class only, {y.tolist()[0]!r}", "give features of two classes or more")
        try:
            model = fit_features(features, y.tolist(), method=self.method, seed=self.seed)
        except DataError as error:
            raise BadInput(error.what, error.remedy) from None
        register, labels = model.register(self.radius), Labels.of(classes)
        register.reserve(set(labels.by_name))
        self.model_, self.classes_, self._labels = model, classes, labels
        self._register, self._closed = register, model.closed_set()
        return self

    def _features(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Features as registers compare them."""
        return self.model_.transform(validate_data(self, X, reset=False, dtype=np.float32))

    @property
    def _columns(self) -> list[int]:
        """Where the categories of `classes_` are in the closed register; -1 for one that was not taught yet."""
        at, names = {name: i for i, name in enumerate(self._closed.names)}, self._labels.names
        return [at.get(names[label], -1) for label in self.classes_.tolist()]


@one_thread()
def _taught(register: Register, lessons: list[tuple[NDArray[Any], str]], labels: Labels) -> Register:
    """A register that has learned these, and whose new categories are called like none of the labels."""
    after = register.copy()
    for feature, name in lessons:
        after.learn(feature, name)
    after.reserve(set(labels.by_name))
    return after


@one_thread()
def _posteriors(closed: StatisticsRegister, features: NDArray[Any], columns: list[int]) -> NDArray[np.float64]:
    """How probable the categories at these positions are, given that it is one of them; 0 at -1."""
    apart = np.empty((len(features), len(columns)))
    for i, feature in enumerate(features):
        apart[i] = np.append(closed.distances(feature.astype(np.float64)), np.inf)[columns]
    return np.asarray(softmax(-closed.spread.sharpness * apart, axis=1))
