"""The register of Gaussian categories with a covariance each, both unknown: a normal-inverse-Wishart prior.

Features are whitened: images of a category vary by the identity, and means lie around the origin. After n features a
category has kappa = kappa0 + n, nu = nu0 + n, a mean m and Psi, which starts at n0 I and grows by
kappa / (kappa + 1) (x - m)(x - m)^T with every feature; its density is a Student-t. Psi is never made: its inverse is
(I - A^T A) / n0 with a row of A per feature taken in, at most so many as there are dimensions once they are folded.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import lgamma, log, log1p, pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.register.learning import Floats, LearningRegister, posterior
from firstsight.register.numbers import as_json, as_text, from_json, from_text


@dataclass(frozen=True)
class Prior:
    """What is known of categories before any is seen."""

    mean_weight: float  # kappa0: how many features the origin is worth when a mean is estimated
    scatter_weight: float  # n0: the same for the identity when a covariance is
    concentration: float  # log alpha

    def freedom(self, counts: Any) -> Any:
        """nu - D + 1, the degrees of freedom of the density, where nu0 = n0 + D + 1."""
        return self.scatter_weight + 2 + counts

    def spread(self, count: float) -> float:
        """(kappa + 1) / kappa: how much wider a feature is spread than one around a mean that is known."""
        kappa = self.mean_weight + count
        return (kappa + 1) / kappa

    def height(self, count: float, width: int) -> float:
        """The Student-t's log density at its mean, but for what the features added to log |Psi|."""
        freedom = self.freedom(count)
        volume = width * log(self.scatter_weight * self.spread(count) / freedom)
        return lgamma((freedom + width) / 2) - lgamma(freedom / 2) - 0.5 * (width * log(freedom * pi) + volume)


class NiwRegister(LearningRegister):
    """The most probable category answers, or a new one where that is more probable.

    A distance is the log odds of a new category against this one: 0 is where both are as probable, and the radius is
    the dial between splitting (below 0) and merging (above).

    >>> prior = Prior(mean_weight=0.1, scatter_weight=10, concentration=0.0)
    >>> means = np.array([[0, 0], [9, 0]])
    >>> register = NiwRegister(prior, ["ant", "bee"], np.array([4, 4]), means, factors=np.zeros((2, 1, 2)))
    >>> register.assign(np.array([8, 1], dtype=np.float32)).category
    'bee'
    >>> register.assign(np.array([0, 9], dtype=np.float32)).category
    'new-1'
    """

    kind = "niw"
    confident = True

    def __init__(
        self,
        prior: Prior,
        names: Sequence[str],
        counts: NDArray[Any],
        means: NDArray[Any],
        factors: NDArray[Any],
        radius: float = 0.0,
    ) -> None:
        """A factor F is what a category's features added to Psi, F^T F; its rows of zeros mean nothing."""
        self.prior = prior
        self._first = tuple(np.asarray(part, dtype=np.float64) for part in (counts, means, factors))
        super().__init__(names, self._first[1], radius)

    def header(self) -> dict[str, Any]:
        counts, means, factors = self._first
        filled = factors.any(axis=2)
        return {
            "kind": self.kind,
            "radius": as_json(self.radius),
            "known": self.names[: self.known],
            "mean_weight": self.prior.mean_weight,
            "scatter_weight": self.prior.scatter_weight,
            "concentration": self.prior.concentration,
            "dimensions": means.shape[1],
            "counts": as_text(counts),
            "means": as_text(means),
            "ranks": filled.sum(axis=1).tolist(),
            "factors": as_text(factors[filled]),
        }

    @classmethod
    def of(cls, header: Mapping[str, Any]) -> NiwRegister:
        """The register a header describes, holding its known categories."""
        width, ranks = header["dimensions"], header["ranks"]
        rows = from_text(header["factors"]).reshape(-1, width)
        factors = np.zeros((len(ranks), max(ranks, default=0), width))
        for factor, own in zip(factors, np.split(rows, np.cumsum(ranks)[:-1]), strict=False):
            factor[: len(own)] = own
        prior = Prior(header["mean_weight"], header["scatter_weight"], header["concentration"])
        counts, means = from_text(header["counts"]), from_text(header["means"]).reshape(-1, width)
        return cls(prior, header["known"], counts, means, factors, from_json(header["radius"]))

    # ------------------------------------------------------------------ deciding

    def _begin(self) -> None:
        width = self._first[1].shape[1]
        self._count = 0
        self._counts, self._spread, self._log_volume = np.zeros(0), np.ones(0), np.zeros(0)
        self._constants, self._means = np.zeros(0), np.zeros((0, width))
        self._used = 0  # rows of A, all categories' together
        self._owner, self._shift, self._a = np.zeros(0, dtype=np.intp), np.zeros(0), np.zeros((0, width))
        for count, mean, factor in zip(*self._first, strict=True):
            at = self._found()
            self._counts[at] = count
            self._means[at] = count * mean / (self.prior.mean_weight + count)
            for row in factor[factor.any(axis=1)]:
                self._widen(at, row)
            self._renew(at)

    def distances(self, feature: Floats) -> Floats:
        """Log odds of a new category against each: how far it is from the mean, less what A explains of that."""
        n = self._count
        off = feature - self._means[:n]
        explained = self._a[: self._used] @ feature - self._shift[: self._used]
        inside = np.bincount(self._owner[: self._used], explained * explained, minlength=n)
        squares = (np.square(off).sum(axis=1) - inside) / self.prior.scatter_weight
        known = self._constants[:n] - self._half(self._counts[:n]) * np.log1p(squares / self._spread[:n])
        return np.asarray(self._new(feature) - known)

    def _confidence(self, distances: Floats, chosen: int) -> float:
        """The posterior probability of the answer, among all categories and a new one."""
        return posterior(distances, self.radius, chosen)

    def _take(self, position: int, feature: Floats) -> None:
        at = self._found() if position == self._count else position
        kappa = self.prior.mean_weight + self._counts[at]
        off = feature - self._means[at]
        self._widen(at, np.sqrt(kappa / (kappa + 1)) * off)
        self._counts[at] += 1
        self._means[at] += off / (kappa + 1)
        self._renew(at)

    def _new(self, feature: Floats) -> float:
        """The log density of a feature under a category nothing is known of, times the concentration."""
        squares = float(feature @ feature) / self.prior.scatter_weight / self.prior.spread(0)
        return self.prior.concentration + self.prior.height(0, len(feature)) - float(self._half(0)) * log1p(squares)

    def _half(self, counts: Any) -> Any:
        """(nu - D + 1 + D) / 2, the exponent of the density."""
        return (self.prior.freedom(counts) + self._means.shape[1]) / 2

    def _found(self) -> int:
        """Room for one more category, without features."""
        if self._count == len(self._counts):
            more = max(64, self._count)
            self._counts, self._log_volume, self._constants = (
                np.concatenate([part, np.zeros(more)]) for part in (self._counts, self._log_volume, self._constants)
            )
            self._spread = np.concatenate([self._spread, np.ones(more)])
            self._means = np.concatenate([self._means, np.zeros((more, self._means.shape[1]))])
        self._count += 1
        return self._count - 1

    def _widen(self, at: int, feature: Floats) -> None:
        """Psi of a category grows by this feature's square: the inverse loses what it saw (Sherman and Morrison)."""
        own = np.flatnonzero(self._owner[: self._used] == at)
        if len(own) >= 2 * len(feature):
            own = self._fold(at, own)
        u = feature / np.sqrt(self.prior.scatter_weight)
        a = self._a[own]
        seen = u - (a @ u) @ a
        length = 1 + float(u @ seen)
        self._log_volume[at] += log(length)
        self._append(at, seen[None] / np.sqrt(length))

    def _fold(self, at: int, own: NDArray[np.intp]) -> NDArray[np.intp]:
        """As many rows of A as there are dimensions say the same."""
        folded: Floats = np.asarray(np.linalg.qr(self._a[own], mode="r"))
        others = np.flatnonzero(self._owner[: self._used] != at)
        self._used = len(others)
        for part in (self._owner, self._shift, self._a):
            part[: self._used] = part[others]
        self._append(at, folded)
        return np.arange(self._used - len(folded), self._used)

    def _append(self, at: int, rows: Floats) -> None:
        end = self._used + len(rows)
        if end > len(self._owner):
            more = max(1024, len(self._owner), len(rows))
            self._owner = np.concatenate([self._owner, np.zeros(more, dtype=np.intp)])
            self._shift = np.concatenate([self._shift, np.zeros(more)])
            self._a = np.concatenate([self._a, np.zeros((more, self._a.shape[1]))])
        self._owner[self._used : end] = at
        self._a[self._used : end] = rows
        self._used = end

    def _renew(self, at: int) -> None:
        """What the density of a category has beside the feature."""
        own = np.flatnonzero(self._owner[: self._used] == at)
        self._shift[own] = self._a[own] @ self._means[at]
        count, width = float(self._counts[at]), self._means.shape[1]
        self._spread[at] = self.prior.spread(count)
        height = self.prior.height(count, width) - 0.5 * self._log_volume[at]
        self._constants[at] = log(count) + height if count else -np.inf  # without features it cannot answer
