"""Images that were encoded by one service and are to be recorded by another, and the answers, as JSON."""

from __future__ import annotations

import json
from base64 import b64decode, b64encode
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from firstsight.client.transport import error_of
from firstsight.client.values import assignment
from firstsight.core.assignments import Assignment
from firstsight.core.errors import BadRequest, FirstsightError
from firstsight.core.protocols import Provenance
from firstsight.core.sightings import KEPT, Sighting
from firstsight.serve.problems import problem
from firstsight.serve.schemas import Answer
from firstsight.store.groups import Arrival

Outcome: TypeAlias = Assignment | FirstsightError

KINDS = ("<f4", "<u8")  # of features: values, or the words of a code


class Group(NamedTuple):
    """Images with their features, what made those, and whether images that are there are recognised."""

    arrivals: list[Arrival]
    model: Provenance
    once: bool


class Recorded(NamedTuple):
    """What became of each, and the last event of the register by then."""

    outcomes: list[Outcome]
    last: int


def to_record(group: Group) -> bytes:
    said = {
        "model": group.model._asdict(),
        "once": group.once,
        "images": [_image(each) for each in group.arrivals],
    }
    return json.dumps(said).encode()


def from_record(content: bytes) -> Group:
    """BadRequest where it is something else."""
    try:
        said = json.loads(content)
        arrivals = [_arrival(each) for each in said["images"]]
        return Group(arrivals, Provenance(**said["model"]), bool(said["once"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise BadRequest(f"these are no images of another service: {error}"[:500], "run the same release") from None


def to_recorded(recorded: Recorded) -> dict[str, Any]:
    told = [
        {"problem": problem(each)} if isinstance(each, FirstsightError) else {"answer": Answer.of(each).model_dump()}
        for each in recorded.outcomes
    ]
    return {"last": recorded.last, "answers": told}


def from_recorded(said: Any, sent: Sequence[Arrival]) -> Recorded:
    outcomes: list[Outcome] = []
    for each, image in zip(said["answers"], sent, strict=True):
        outcomes.append(
            assignment(each["answer"]) if "answer" in each else error_of(each["problem"], source=image.source)
        )
    return Recorded(outcomes, int(said["last"]))


def _image(arrival: Arrival) -> dict[str, Any]:
    feature = np.ascontiguousarray(arrival.feature)
    kept = {name: getattr(arrival.sighting, name) for name in KEPT}
    return {
        "source": arrival.source,
        "content": arrival.content.hex(),
        "kind": feature.dtype.newbyteorder("<").str,
        "feature": b64encode(feature.astype(feature.dtype.newbyteorder("<")).tobytes()).decode(),
        "sighting": kept,
        "burst": arrival.burst,
        "key": arrival.key,
    }


def _arrival(said: dict[str, Any]) -> Arrival:
    if said["kind"] not in KINDS:
        raise ValueError(f"features of {said['kind']!r}")
    feature = np.frombuffer(b64decode(said["feature"], validate=True), dtype=said["kind"])
    sighting = said["sighting"]
    told = Sighting(**{**{name: sighting[name] for name in KEPT}, "box": tuple(sighting["box"])})
    content = bytes.fromhex(said["content"])
    return Arrival(str(said["source"]), content, feature.astype(feature.dtype.newbyteorder("=")), told,
                   said["burst"], str(said["key"]))  # fmt: skip
