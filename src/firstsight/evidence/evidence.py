"""Evidence as plain data: what is known about one answer, without a model or a file behind it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import isinf
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.data.images import Pixels

Kind: TypeAlias = Literal["prototypes", "support images"]

FORMAT = 1
DISCARDED = "discarded"
UNSURE = 0.25  # of the typical value of a bit of the image
Square: TypeAlias = tuple[float, float, float]  # left, top and side, in parts of the image's side


@dataclass(frozen=True)
class Similar:
    """A prototype, or a support image, that the image is like."""

    category: str  # the name people have for it
    number: int  # which of its category's, from 1
    similarity: float
    picture: bytes | None = None  # JPEG of the support image that shows it


@dataclass(frozen=True)
class Sum:
    """A category among the most similar: how many of them are its own, and their similarity in all."""

    category: str
    count: int
    similarity: float


@dataclass(frozen=True)
class Near:
    """A category whose centre is near. `differing` are the bits, from 1, in which the codes differ."""

    category: str
    is_new: bool
    distance: int | float
    within: bool
    differing: tuple[int, ...] = ()
    picture: bytes | None = None


@dataclass(frozen=True)
class Given:
    """The answer an image of a register was given when it came, as the log has it. Names are those of today."""

    image: int  # its number
    time: str
    category: str
    is_new: bool
    founded: bool  # whether it was the first of its category
    confidence: float | None  # how sure the rule was then
    by_person: bool  # whether a person had placed the same picture before
    runner_up: str | None
    now: str  # the category it is in today
    now_new: bool
    taught: bool  # whether a category learned from this picture; what would be answered today leaves that out
    discarded: str = ""  # when, and by whom, where it was


@dataclass(frozen=True)
class Fellow:
    """An image of the category that answers, from the register."""

    image: int
    source: str
    picture: bytes | None = None
    why: str = ""  # there is no picture


@dataclass(frozen=True)
class Evidence:
    """What one answer rests on. The answer is a pure match: `category` is None where it would found a new one.

    Of an image that a register holds, `answer` is what would be answered today and `given` what was answered.
    """

    image: str  # what it is called
    pixels: Pixels | None  # what the model saw of it; None where it came as a feature
    answer: Assignment
    sentence: str  # in plain words
    kind: Kind  # what `similar` are
    similar: tuple[Similar, ...]  # the most similar first
    sums: tuple[Sum, ...]  # over `similar`, the largest first
    near: tuple[Near, ...]  # the nearest first, one per category
    values: tuple[float, ...] = ()  # of the bits of its code: 1 where above zero, and unsure where close to it
    looked: NDArray[np.float32] | None = None  # where it looked, coarsely: 0 to 1, rows from the top
    weighed: bool = False  # whether distances are log odds
    closer: Square | None = None  # what it looked at a second time, if it did
    frame: bytes | None = None  # JPEG of the whole picture, with its place marked, where it is a part of one
    given: Given | None = None  # of an image that is in the register
    fellows: tuple[Fellow, ...] = ()  # images of the register in the category that answers, the most alike first
    fellows_of: str = ""  # the name of that category

    @property
    def endless(self) -> bool:
        """Whether nothing is ever new: a category reaches everywhere."""
        return isinf(self.answer.radius)

    @property
    def code(self) -> str:
        """The bits in order, as people write them; empty where answers are not decided by codes."""
        return "".join("1" if value > 0 else "0" for value in self.values)

    def centre_code(self, near: Near) -> str:
        """The code of a centre: the image's but for the bits that differ."""
        flipped = {bit - 1 for bit in near.differing}
        return "".join("10"[int(bit)] if i in flipped else bit for i, bit in enumerate(self.code))

    def is_unsure(self, bit: int) -> bool:
        """Whether a bit, from 1, is so close to zero that a small change of the image would flip it."""
        sizes = sorted(abs(value) for value in self.values)
        return abs(self.values[bit - 1]) < UNSURE * sizes[len(sizes) // 2]

    def most_unsure(self, near: Near, count: int = 6) -> list[int]:
        """Of the bits in which a centre's code differs, those closest to zero, the closest first."""
        return sorted(near.differing, key=lambda bit: abs(self.values[bit - 1]))[:count]

    @property
    def called(self) -> str:
        """What it is in a word or two: where it is in the register, or the answer."""
        if self.given and self.given.discarded:
            return DISCARDED
        return self.given.now if self.given else self.today

    @property
    def is_new(self) -> bool:
        """Whether that is a new category."""
        return self.given.now_new if self.given else self.answer.is_new

    @property
    def today(self) -> str:
        """The answer in a word or two."""
        if self.answer.decided_by == "discarded":
            return DISCARDED
        return self.answer.name or self.answer.category or "a new category"

    def as_dict(self) -> dict[str, Any]:
        """All of it but pictures, as JSON holds it (docs/explanations.md)."""
        answer, other = self.answer, self.answer.runner_up
        return {
            "image": self.image,
            "sentence": self.sentence,
            "category": answer.category,
            "name": answer.name,
            "is_new": answer.is_new,
            "confidence": answer.confidence,
            "distance": answer.distance,
            "radius": None if isinf(answer.radius) else answer.radius,
            "runner_up": other and {"category": other.category, "distance": other.distance},
            "decided_by": answer.decided_by,
            "given": self.given and asdict(self.given),
            "fellows": [{"image": each.image, "source": each.source} for each in self.fellows],
            "kind": self.kind,
            "similar": [
                {"category": each.category, "number": each.number, "similarity": round(each.similarity, 4)}
                for each in self.similar
            ],
            "sums": [
                {"category": each.category, "count": each.count, "similarity": round(each.similarity, 4)}
                for each in self.sums
            ],
            "code": self.code or None,
            "values": [round(value, 4) for value in self.values],
            "near": [
                {
                    "category": each.category,
                    "is_new": each.is_new,
                    "distance": each.distance,
                    "within": each.within,
                    "differing": [
                        {"bit": bit, "value": round(self.values[bit - 1], 4), "unsure": self.is_unsure(bit)}
                        for bit in each.differing
                    ],
                }
                for each in self.near
            ],
            "looked": None if self.looked is None else [[round(float(v), 3) for v in row] for row in self.looked],
            "closer": self.closer and dict(zip(("left", "top", "side"), self.closer, strict=True)),
        }
