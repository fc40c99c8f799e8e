"""Decisions: what is fitted on the support set's features, and makes the register a stream starts with. NumPy only."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Self, TypeAlias, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features, Register, SupportFeatures
from firstsight.core.settings import Rule, Settings

Decides: TypeAlias = Literal["ball", "exact code", "distance", "posterior", "never discovers", "offline"]
Report: TypeAlias = dict[str, Any]


@dataclass(frozen=True, kw_only=True, eq=False)
class Decision(ABC):
    """What a method knows of the known categories. Its fields are what is saved: arrays, and plain values."""

    decides: ClassVar[Decides] = "distance"  # how its register tells a category from another
    discovers: ClassVar[bool] = True  # False: only ever answers with known categories
    settings_type: ClassVar[type[Settings]] = Settings  # where features are taken as they come

    names: tuple[str, ...]

    @classmethod
    @abstractmethod
    def fit(cls, support: SupportFeatures, settings: Any) -> Self:
        """What is found on the support set. Nothing of a query stream is known here."""

    @classmethod
    def check(cls, categories: int, settings: Any) -> None:
        """SettingsError where these settings cannot do for so many categories; asked before anything is encoded."""
        return

    @property
    @abstractmethod
    def width(self) -> int:
        """How many values a feature has."""

    @property
    @abstractmethod
    def radius(self) -> float:
        """How far a known category reaches."""

    @abstractmethod
    def register(self, radius: float | None = None, rule: Rule | None = None) -> Register:
        """A register of the known categories, where a stream starts."""

    @abstractmethod
    def closed_set(self) -> Register:
        """A register that never discovers: the row every accuracy is printed beside."""

    @abstractmethod
    def report(self, features: Features, labels: NDArray[np.int64]) -> Report:
        """How it came out on the support set; `lines` are for people."""

    def project(self, features: Features) -> Features:
        """Features in the space where they are near or far: as they are, unless a decision found a better one."""
        return features

    def transform(self, features: Features) -> NDArray[Any]:
        """Features as its register compares them, each by itself."""
        return self.project(features)

    # What evidence is made of: how alike images are, and what of a feature makes it so

    def similarity(self, features: Features, points: Features) -> NDArray[np.float32]:
        """How alike every image is to every point (N, m): the cosine of what tells categories apart."""
        return np.asarray(_unit(self._telling(features)) @ _unit(self._telling(points)).T, dtype=np.float32)

    def slope(self, feature: Features, points: Features) -> Features:
        """How a feature would have to change to be more like these points together: the gradient of the sum."""
        own = self._telling(feature[None])[0]
        length = max(float(np.linalg.norm(own)), np.finfo(np.float32).tiny)
        towards, along = _unit(self._telling(points)).sum(axis=0), own / length
        return self._telling_slope(feature, (towards - (along @ towards) * along) / length)

    def _telling(self, features: Features) -> NDArray[Any]:
        """What of a feature tells categories apart."""
        return features

    def _telling_slope(self, feature: Features, slope: NDArray[Any]) -> Features:
        """The gradient in the feature, from that in what is told of it."""
        return slope

    # Keeping

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The fields that are arrays, by name."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return {name: np.ascontiguousarray(value) for name, value in own.items() if isinstance(value, np.ndarray)}

    def values(self) -> dict[str, Any]:
        """The other fields but the names, as JSON."""
        own = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "names"}
        return {name: value for name, value in own.items() if not isinstance(value, np.ndarray)}

    @classmethod
    def of(cls, names: tuple[str, ...], arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any]) -> Self:
        """What was kept; ValueError where that is not what this is made of."""
        expected = {f.name for f in fields(cls)} - {"names"}
        if {*arrays, *values} != expected:
            raise ValueError(f"its decision has {sorted({*arrays, *values})}, not {sorted(expected)}")
        kinds = get_type_hints(cls)
        for name, value in {**arrays, **values}.items():
            _check_kept(name, value, kinds[name])
        return cls(names=names, **arrays, **values)

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of all that decides what a register compares."""
        seal = hashlib.sha256(json.dumps(self.values(), sort_keys=True).encode())
        for name, array in sorted(self.arrays().items()):
            seal.update(f"{name} {array.shape} {array.dtype}".encode())
            seal.update(array.tobytes())
        return seal.hexdigest()


def _check_kept(name: str, value: Any, kind: Any) -> None:
    """ValueError where a kept field is not of the kind its decision says, or not made of finite numbers."""
    kind, choices = get_origin(kind) or kind, get_args(kind)
    if kind is Literal:
        good = value in choices
    elif kind in (int, float):
        good = isinstance(value, (int, kind)) and not isinstance(value, bool)
    else:
        good = isinstance(value, np.ndarray) == (kind is np.ndarray)
    if not good:
        raise ValueError(f"{name} is {value!r}")
    if kind in (int, float, np.ndarray) and not np.isfinite(value).all():
        raise ValueError(f"{name} holds values that are not numbers")


def _unit(features: NDArray[Any]) -> NDArray[Any]:
    lengths = np.linalg.norm(features, axis=-1, keepdims=True)
    return np.asarray(features / np.maximum(lengths, np.finfo(np.float32).tiny))
