"""What goes in and out as JSON."""

from __future__ import annotations

from math import isinf, isnan
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, BeforeValidator, Field

from firstsight.core.assignments import Assignment


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and (isinf(value) or isnan(value)) else value


Measure = Annotated[float | None, BeforeValidator(_finite)]  # JSON has no infinity: none


class Problem(BaseModel):
    """What was wrong, and what to do (RFC 9457)."""

    title: str
    status: int
    detail: str
    remedy: str | None = None


class Candidate(BaseModel):
    """A category that was considered, and how far it was."""

    category: str
    distance: Measure


class Answer(BaseModel):
    """One assignment. `category` is none where it would found a new one, or the image was discarded before."""

    category: str | None
    name: str | None = Field(description="what people call the category")
    is_new: bool
    created: bool = Field(description="whether this image founded the category")
    confidence: Measure
    distance: Measure
    radius: Measure = Field(description="how far a category reaches; none where nothing is ever new")
    runner_up: Candidate | None
    image: int | None = Field(description="the number under which the register keeps it")
    decided_by: Literal["rule", "hindsight", "person", "record", "discarded"]

    @classmethod
    def of(cls, answer: Assignment) -> Self:
        other = answer.runner_up
        return cls(
            category=answer.category,
            name=answer.name or answer.category,
            is_new=answer.is_new,
            created=answer.created,
            confidence=answer.confidence,
            distance=answer.distance,
            radius=answer.radius,
            runner_up=None if other is None else Candidate(category=other.category, distance=other.distance),
            image=answer.image,
            decided_by=answer.decided_by,
        )


class Answered(BaseModel):
    """What became of one image: an answer, or what was wrong with it."""

    source: str
    answer: Answer | None = None
    problem: Problem | None = None


class Answers(BaseModel):
    """Of all images of a request, in their order."""

    answers: list[Answered]


class FeaturesIn(BaseModel):
    """Features instead of images."""

    features: list[list[float]] = Field(min_length=1, description="one per image, as the model was fitted on")
