"""The support images that stand for what a model learned, chosen once after training and kept with it.

A prototype is shown by the support image most like it (Sec. 4.4 of the paper). Where nothing of the kind was trained,
images are chosen that all others of their category have something alike in: they are its prototypes then. Explaining
so needs no access to the support set.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features

if TYPE_CHECKING:
    from firstsight.data.images import ImageLike

MOST = 1000  # images of a category that are looked at to choose from
SIDE = 128  # of a kept picture, in pixels
CHUNK = 1024  # points, or images, compared at a time
COLUMNS = ("category", "image", "image_category", "wins")

Integers: TypeAlias = NDArray[np.int64]
# how alike every one of some images is to every one of some points, (N, m)
Likeness: TypeAlias = Callable[[Features, Features], NDArray[np.float32]]


@dataclass(frozen=True)
class Examples:
    """One entry for each prototype or, where there are none, for each of a few support images per category."""

    category: Integers  # the position of its category
    image: Integers  # the support image that shows it, by its place in the support set,
    image_category: Integers  # and the category of that one, which need not be its own
    wins: Integers  # for how many support images it is the most activated of all
    points: NDArray[np.float32] | None = None  # what images are compared with; None: the prototypes learned
    pictures: dict[int, bytes] | None = None  # JPEG by support image; None: none were to be kept

    def picture(self, entry: int) -> bytes | None:
        """The JPEG that shows an entry, where one is kept."""
        return None if self.pictures is None else self.pictures[int(self.image[entry])]

    def with_pictures(self, image: Callable[[int], ImageLike]) -> Examples:
        """The same with small copies of the support images that show them: squares without metadata."""
        from firstsight.data.images import thumbnail  # loads Pillow, which features do without

        return replace(self, pictures={i: thumbnail(image(i), SIDE) for i in np.unique(self.image).tolist()})

    def check(self, categories: int) -> None:
        """ValueError where it does not fit together, or not with so many categories."""
        columns = {name: getattr(self, name) for name in COLUMNS}
        for name, column in columns.items():
            if (
                column.dtype != np.int64
                or column.shape != self.category.shape
                or column.ndim != 1
                or (column < 0).any()
            ):
                raise ValueError(f"examples: {name} is no list of numbers from 0 on, one for each")
        if any((columns[name] >= categories).any() for name in ("category", "image_category")):
            raise ValueError(f"examples: there are {categories} categories")
        if self.points is not None and (self.points.ndim != 2 or len(self.points) != len(self.category)):
            raise ValueError("examples: there is not a point for each")
        if self.pictures is not None and not {*self.image.tolist()} <= self.pictures.keys():
            raise ValueError("examples: a picture is missing")

    def to_bytes(self) -> bytes:
        """As one safetensors file."""
        from safetensors.numpy import save

        tensors = {name: getattr(self, name) for name in COLUMNS}
        if self.points is not None:
            tensors["points"] = self.points
        if self.pictures is not None:
            tensors["pictures"] = np.frombuffer(b"".join(self.pictures.values()), dtype=np.uint8)
            tensors["picture_of"] = np.array([*self.pictures], dtype=np.int64)
            tensors["picture_ends"] = np.cumsum([len(picture) for picture in self.pictures.values()], dtype=np.int64)
        return save(tensors)

    @classmethod
    def of_bytes(cls, content: bytes) -> Examples:
        from safetensors.numpy import load

        tensors = load(content)
        pictures = None
        if "pictures" in tensors:
            parts = np.split(tensors["pictures"], tensors["picture_ends"][:-1])
            pictures = {int(i): part.tobytes() for i, part in zip(tensors["picture_of"], parts, strict=True)}
        columns: dict[str, Any] = {name: tensors[name] for name in COLUMNS}
        return cls(**columns, points=tensors.get("points"), pictures=pictures)


def choose(
    shown: Features, labels: Integers, categories: int, likeness: Likeness, each: int, prototypes: Features | None
) -> Examples:
    """Which support images stand for what a model learned.

    `shown` is what of every support image is compared, by `likeness`; with prototypes, or with `each` support images
    of a category where there are none.
    """
    if prototypes is None:
        image = _representative(shown, labels, categories, likeness, each)
        points, category = shown[image], labels[image]
    else:
        points, category = prototypes, np.repeat(np.arange(categories), len(prototypes) // categories)
        image = np.concatenate([likeness(shown, some).argmax(0) for some in _chunks(points)])
    winner = np.concatenate([likeness(some, points).argmax(1) for some in _chunks(shown)])
    return Examples(
        category=category.astype(np.int64),
        image=image.astype(np.int64),
        image_category=labels[image],
        wins=np.bincount(winner, minlength=len(points)),
        points=None if prototypes is not None else points,
    )


def _representative(shown: Features, labels: Integers, categories: int, likeness: Likeness, each: int) -> Integers:
    """As many images of every category as it would have prototypes, such that no other is far from all of them."""
    chosen = []
    for category in range(categories):
        own = np.flatnonzero(labels == category)
        own = own[:: max(1, -(-len(own) // MOST))]
        chosen.append(own[representative(likeness(shown[own], shown[own]), each)])
    return np.concatenate(chosen)


def representative(likeness: NDArray[Any], count: int) -> list[int]:
    """One after the other, the image that brings all of them closest to the nearest one chosen.

    >>> two_groups = np.array([[1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [1, 1, 1, 0, 0], [0, 0, 0, 1, 1], [0, 0, 0, 1, 1]])
    >>> representative(two_groups, 2)
    [0, 3]
    >>> representative(two_groups, 9)
    [0, 3, 1, 2, 4]
    """
    likeness = np.asarray(likeness, dtype=np.float64)
    chosen: list[int] = []
    nearest = np.full((len(likeness), 1), -np.inf)
    for _ in range(min(count, len(likeness))):
        gain = np.maximum(likeness, nearest).sum(axis=0)
        gain[chosen] = -np.inf
        chosen.append(int(gain.argmax()))
        nearest = np.maximum(nearest, likeness[:, chosen[-1:]])
    return chosen


def _chunks(features: Features) -> list[Features]:
    return np.split(features, range(CHUNK, len(features), CHUNK))
