"""Labels as people have them, and what a register calls their categories: text either way, numbered if it is new."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from firstsight.core.errors import DataError

Kind: TypeAlias = Literal["text", "numbers"]


class BadInput(DataError, ValueError):
    """Features or labels cannot be used; a ValueError as well, which users of scikit-learn expect."""


def classes_in(y: NDArray[Any]) -> NDArray[Any]:
    """The classes that labels are of, in order; BadInput, or scikit-learn's own error, where they are no labels."""
    check_classification_targets(y)
    classes: NDArray[Any] = np.unique(y)
    kind_of(classes)
    return classes


def kind_of(classes: NDArray[Any]) -> Kind:
    """What labels are made of."""
    labels = classes.tolist()
    if all(isinstance(label, str) for label in labels):
        return "text"
    if all(isinstance(label, (int, float)) for label in labels):
        return "numbers"
    raise BadInput(f"y holds {labels[0]!r}, of type {type(labels[0]).__name__}", "labels are text, or whole numbers")


@dataclass(frozen=True)
class Labels:
    """The label of every category, by the name it has in a register; those that were fitted first."""

    dtype: np.dtype[Any]
    kind: Kind
    by_name: dict[str, Any]

    @classmethod
    def of(cls, classes: NDArray[Any]) -> Self:
        return cls(classes.dtype, kind_of(classes), {str(label): label for label in classes.tolist()})

    @property
    def names(self) -> dict[Any, str]:
        """The name of every label's category."""
        return {label: name for name, label in self.by_name.items()}

    def taught(self, classes: NDArray[Any]) -> Labels:
        """With classes that somebody taught; a label that was discovered stays whose it is."""
        if (kind := kind_of(classes)) != self.kind:
            raise BadInput(f"y holds {kind}, and this was fitted on {self.kind}", "give labels of that kind")
        names = self.names
        more = {str(label): label for label in classes.tolist() if label not in names}
        return Labels(self.dtype, self.kind, self.by_name | more)

    def found(self, names: list[str]) -> Labels:
        """With categories that were discovered, each called by a number above all others, or by its name."""
        labels = dict(self.by_name)
        for name in names:
            if name not in labels:
                labels[name] = name if self.kind == "text" else max(labels.values()) + 1
        return Labels(self.dtype, self.kind, labels)

    def array(self, names: list[str]) -> NDArray[Any]:
        """These categories as labels, in an array like that of the classes, wide enough for what was discovered."""
        labels = [self.by_name[name] for name in names]
        if self.dtype.kind == "U":
            return np.array(labels, dtype=str)
        if self.dtype.kind in "biu":
            return np.array(labels, dtype=np.result_type(self.dtype, np.min_scalar_type(max(labels))))
        return np.array(labels, dtype=self.dtype)
