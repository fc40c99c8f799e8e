"""The register of features: categories as centres among float vectors, decided by distance.

What Sequential Leader Clustering, nearest class mean and closed-set classifiers answer with. Knows nothing of images,
models, files or torch. Single-threaded by contract: whoever holds it serialises writers.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Candidate
from firstsight.core.errors import ModelError, SettingsError
from firstsight.register.index import Centres
from firstsight.register.numbers import as_json, from_json
from firstsight.register.roster import Roster
from firstsight.register.standing import Distances, Place, Standing

Metric: TypeAlias = Literal["euclidean", "cosine"]
Features: TypeAlias = NDArray[np.float32]

CHUNK = 256  # features decided together while categories are born, each of which is compared with the features to come
TILE = 1 << 21  # features times centres compared at once
BLOCK = 1 << 12  # features that take part in float64 at once
ROUNDING = 2.0**-24  # of one operation in float32, relative, and
UNDERFLOW = 2.0**-120  # more than is lost where that would be too small to write down
LARGE = 1e38  # above, float32 overflows; rough distances that may have done so leave nothing out
MAY_OVERFLOW = np.errstate(over="ignore", invalid="ignore")


class FeatureRegister(Roster):
    """Categories as balls around centres; a feature outside every ball founds a category with itself as centre.

    The nearest centre within the radius answers, the oldest on a tie. Centres stay where they are: a founder leads
    its category. The cosine distance is 1 - cos, from 0 to 2; a zero vector, which has no direction, is 1 away from
    every other and 0 from itself.

    >>> centres = np.array([[0, 0], [3, 4]], dtype=np.float32)
    >>> register = FeatureRegister("euclidean", radius=1, names=["ant", "bee"], centres=centres)
    >>> register.assign(np.array([3, 3], dtype=np.float32)).category
    'bee'
    >>> register.assign(np.array([3, 0], dtype=np.float32)).category
    'new-1'
    """

    kind = "features"
    stored = "<f4"
    distances = np.float64
    _index: Space

    def __init__(
        self, metric: Metric, radius: float, names: Sequence[str] = (), centres: Features | None = None
    ) -> None:
        if metric not in get_args(Metric):
            raise SettingsError(f"metric is {metric!r}; allowed: {', '.join(get_args(Metric))}")
        self.metric = metric
        self.radius = radius
        super().__init__(names, None if centres is None else np.array(centres, dtype=np.float32))

    @property
    def radius(self) -> float:
        """How far a category reaches, adjustable at any time; it decides about the images to come."""
        return self._radius

    @radius.setter
    def radius(self, radius: float) -> None:
        self.check_radius(radius)
        self._radius = float(radius)

    def check_radius(self, radius: float) -> None:
        if not 0 <= radius <= (2 if self.metric == "cosine" else math.inf) and radius != math.inf:
            most = "0 to 2" if self.metric == "cosine" else "any number from 0"
            raise SettingsError(f"radius is {radius}; as a {self.metric} distance it can be {most}, or infinite")

    def header(self) -> dict[str, Any]:
        """What it takes to start the same register again, as JSON."""
        reach = as_json(self.radius)
        return {"kind": self.kind, "metric": self.metric, "radius": reach, "known": self._known_as_text()}

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> FeatureRegister:
        """The register a header describes, holding its known categories."""
        return cls(header["metric"], from_json(header["radius"]), *cls._known_of(header))

    def centre_of(self, features: NDArray[Any]) -> Features:
        """The centre for a category of these features: their mean."""
        mean: NDArray[np.float64] = features.mean(axis=0, dtype=np.float64)
        return mean.astype(np.float32)

    def neighbours(self, feature: NDArray[Any], within: float, limit: int) -> list[Candidate]:
        near, apart = self._index.nearest(self._comparable(feature), limit)
        found = zip(near.tolist(), apart.tolist(), strict=True)
        return [Candidate(self.names[self._owner_of[i]], distance) for i, distance in found if distance <= within]

    def _comparable(self, features: NDArray[Any]) -> Features:
        """Features as they are, or as directions for cosine; refused where no distance can be told."""
        given = np.ascontiguousarray(features, dtype=np.float32)
        if not np.isfinite(given).all():
            raise ModelError(
                "a feature holds a value that is not a finite number", "the encoder that made it is at fault"
            )
        compared = _directions(given) if self.metric == "cosine" else given
        if self._centres.count and compared.shape[-1] != self._centres.features.shape[1]:
            raise ModelError(
                f"a feature of {given.shape[-1]} values cannot be compared with centres of another length",
                "use the encoder that made the centres",
            )
        return compared

    def points(self, features: NDArray[Any]) -> NDArray[np.float64]:
        return self._comparable(features).astype(np.float64)

    def _apart(self, one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
        square = float(np.square(one - other).sum())
        return math.sqrt(square) if self.metric == "euclidean" else square / 2

    @property
    def _chunk(self) -> int:
        return CHUNK

    def _no_centres(self) -> Centres:
        return Centres(np.zeros((0, 0), dtype=np.float32))

    def _new_index(self) -> Space:
        return Space(self._centres, self.metric)


class Space:
    """Finds the nearest centres: roughly and fast, by a matrix product, then exactly those that may be the nearest.

    What a matrix product gives depends on how many features and centres it has, in the last digits. An exact
    distance depends on the feature and the centre alone, so an answer does too: the rough ones only leave out centres
    that cannot be it, whatever the rounding (`_slack`).
    """

    def __init__(self, centres: Centres, metric: Metric) -> None:
        self.centres = centres
        self.metric = metric
        self.comparisons = 0  # the few that are measured again, exactly, are not counted again
        self._squares = _squares(centres.features)  # with room to grow, as the centres have
        self._longest = math.sqrt(self._squares.max(initial=0))

    def copy(self, centres: Centres) -> Space:
        other = copy.copy(self)
        other.centres, other._squares = centres, self._squares.copy()
        return other

    def reown(self, categories: set[int]) -> None:
        pass  # the centres say whose they are

    def add(self, centre: int) -> None:
        square = _squares(self.centres.features[centre])
        if centre == len(self._squares):
            self._squares = np.concatenate([self._squares, np.zeros(max(64, centre), dtype=np.float32)])
        self._squares[centre] = square
        self._longest = max(self._longest, math.sqrt(square))

    def find(self, feature: Features) -> Place:
        self.comparisons += self.centres.count
        return self._place(feature, self._rough(feature), float(self._slack(_squares(feature))))

    def look_up(self, features: Features) -> Standing:
        standing, slack = Standing(len(features), None, np.float64), self._slack(_squares(features)).tolist()
        self.comparisons += len(features) * self.centres.count
        high = max(1, TILE // max(1, self.centres.count))
        for top in range(0, len(features), high):
            for at, rough in enumerate(self._rough(features[top : top + high]), start=top):
                place = self._place(features[at], rough, slack[at])
                standing.nearest[at], standing.distance[at] = place.nearest, place.distance
                standing.second[at], standing.second_distance[at] = place.second, place.second_distance
        return standing

    @MAY_OVERFLOW
    def update(self, standing: Standing, features: Features, start: int) -> None:
        """The newest centre joins the features it may be nearer to than their second."""
        newest, later = self.centres.count - 1, features[start:]
        self.comparisons += len(later)
        centre, squares, second = self.centres.features[newest], _squares(later), standing.second_distance[start:]
        rough = squares + self._squares[newest] - 2 * np.vecdot(later, centre)
        behind = rough - self._slack(squares) > (second**2 if self.metric == "euclidean" else 2 * second)
        near = np.flatnonzero(~behind)
        standing.join(start + near, newest, self._measure(later[near], centre), self.centres.owner)

    def nearest(self, feature: Features, limit: int) -> tuple[NDArray[np.intp], Distances]:
        """The so many nearest centres, the nearest first, and their distances."""
        if limit < 1 or self.centres.count == 0:
            return np.zeros(0, dtype=np.intp), np.zeros(0)
        rough = self._rough(feature)
        last = min(limit, len(rough)) - 1
        worst = float(np.partition(rough, last)[last])
        near = np.flatnonzero(~(rough > worst + 2 * float(self._slack(_squares(feature)))))
        apart = self._measure(self.centres.features[near], feature)
        order = np.argsort(apart, kind="stable")[:limit]
        return near[order], apart[order]

    def _place(self, feature: Features, rough: Features, slack: float) -> Place:
        owner = self.centres.owner[: len(rough)]
        nearest, distance = self._closest(feature, rough, slack, np.arange(len(rough)))
        others = np.flatnonzero(owner != owner[nearest]) if nearest >= 0 else np.arange(0)
        second, second_distance = self._closest(feature, rough[others], slack, others)
        return Place(nearest, distance, second, second_distance, -1, math.inf)

    def _closest(self, feature: Features, rough: Features, slack: float, which: NDArray[np.intp]) -> tuple[int, float]:
        """The nearest of some centres, the oldest on a tie, and its distance."""
        if len(which) == 0:
            return -1, math.inf
        near = which[~(rough > float(rough.min()) + 2 * slack)]  # so put, what overflowed and is no number stays in
        apart = self._measure(self.centres.features[near], feature)
        best = int(apart.argmin())
        return int(near[best]), float(apart[best])

    @MAY_OVERFLOW
    def _rough(self, features: Features) -> Features:
        """The squared distances to all centres, less the feature's own square: off by `_slack` at most."""
        if self.centres.count == 0:
            return np.zeros((*features.shape[:-1], 0), dtype=np.float32)
        centres = self.centres.features
        # a product of matrices runs on all cores, and one feature is not worth waiting for a busy one
        rough: Features = features @ centres.T if features.ndim > 1 else np.vecdot(centres, features)
        rough *= -2
        rough += self._squares[: self.centres.count]
        return rough

    def _slack(self, squares: Features) -> NDArray[np.float64]:
        """How wrong a rough square can be, for features of these squares.

        x.x, 2 x.y and y.y are sums of n products each: off by n roundings of |x|^2, 2 |x| |y| and |y|^2 at most, in
        whatever order they are made; together, by n roundings of (|x| + |y|)^2. Twice that, and 16 roundings more,
        leaves room for adding the three up and for the rounding of exact distances.
        """
        width = self.centres.features.shape[1]
        scale = (np.sqrt(squares, dtype=np.float64) + self._longest) ** 2
        return np.where(scale < LARGE, 2 * (width + 8) * (ROUNDING * scale + UNDERFLOW), np.inf)

    def _measure(self, features: Features, feature: Features) -> Distances:
        """The exact distances of features to one feature: each the same whatever it is measured with."""
        squares = np.empty(len(features))
        for first in range(0, len(features), BLOCK):
            squares[first : first + BLOCK] = _exact_squares(
                features[first : first + BLOCK].astype(np.float64) - feature
            )
        return np.sqrt(squares) if self.metric == "euclidean" else np.minimum(squares / 2, 2)


def closed_set_features(metric: Metric, names: Iterable[str], centres: Features) -> FeatureRegister:
    """The register that never discovers: every feature goes to its nearest known category."""
    return FeatureRegister(metric, math.inf, list(names), centres)


def _directions(features: Features) -> Features:
    """Features (or one) at length 1, so that half their squared distance is 1 - cos.

    A last value is added, 0 but for zero vectors: theirs is 1, a direction at right angles to all others.
    """
    flat = features.reshape(-1, features.shape[-1])
    directions = np.zeros((len(flat), flat.shape[1] + 1), dtype=np.float32)
    for first in range(0, len(flat), BLOCK):
        block = flat[first : first + BLOCK].astype(np.float64)
        lengths = np.sqrt(_exact_squares(block))
        directions[first : first + BLOCK, :-1] = block / np.where(lengths == 0, 1, lengths)[:, None]
        directions[first : first + BLOCK, -1] = lengths == 0
    return directions.reshape(*features.shape[:-1], flat.shape[1] + 1)


def _exact_squares(features: NDArray[np.float64]) -> NDArray[np.float64]:
    """The squared length of every feature, each the same whatever it is computed with.

    Neither a product of BLAS nor einsum keeps that: where they cut their sums depends on how many features there are.
    """
    squares: NDArray[np.float64] = np.square(features).sum(axis=-1)
    return squares


@MAY_OVERFLOW
def _squares(features: Features) -> Features:
    """The squared length of every feature (or of one), fast."""
    squares: Features = np.vecdot(features, features)
    return squares
