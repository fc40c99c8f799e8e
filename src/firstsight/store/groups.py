"""Images answered as a group: which of them are the same, who decides each, and the events that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.protocols import Register
from firstsight.store.draft import Draft
from firstsight.store.events import Assigned, Created, Recorded
from firstsight.store.view import View

NOT_COUNTED = ("record", "discarded")  # answers to an image that is here already, or of nothing


@dataclass(frozen=True)
class Arrival:
    """An image to be answered: where it came from, the SHA-256 of its content, what the encoder made of it."""

    source: str
    content: bytes
    feature: NDArray[Any]


class Group:
    """Images to be answered in turn. `decide` may be run again, where others wrote meanwhile."""

    def __init__(self, arrivals: Sequence[Arrival], encoder: int, once: bool) -> None:
        self.arrivals, self.encoder, self.once = arrivals, encoder, once

    def decide(self, view: View, draft: Draft) -> None:
        """Answer all of them; the draft's register learns and founds, and its events say what."""
        self.answers = [
            view.recognise(each.content, each.source) if self.once else view.said_before(each.content)
            for each in self.arrivals
        ]
        self.again = self._repeats() if self.once else {}
        register = draft.register
        if register.learns:
            self._in_turn(register)
        else:
            self._together(register)
        for arrival, answer in zip(self.arrivals, self.answers, strict=True):
            if answer is not None and answer.decided_by not in NOT_COUNTED:
                feature = register.feature_bytes(arrival.feature)
                if answer.created:
                    draft.events.append(Created(str(answer.category), feature))
                draft.events.append(Assigned.of(answer, arrival.source, self.encoder, feature, arrival.content))

    def numbered(self, recorded: Sequence[Recorded]) -> list[Assignment]:
        """The answers with the numbers of their images; a repeat has the answer and the number of the first."""
        fresh = (each.number for each in recorded if isinstance(each.event, Assigned))
        found: list[Assignment] = []
        for i, answer in enumerate(self.answers):
            if answer is None:
                found.append(replace(found[self.again[i]], created=False, decided_by="record"))
            else:
                found.append(answer if answer.decided_by in NOT_COUNTED else replace(answer, image=next(fresh)))
        return found

    def _repeats(self) -> dict[int, int]:
        """Of the images without an answer, those whose content came earlier: its place, and the first's."""
        first: dict[bytes, int] = {}
        again = {}
        for i, (arrival, answer) in enumerate(zip(self.arrivals, self.answers, strict=True)):
            if answer is None and first.setdefault(arrival.content, i) != i:
                again[i] = first[arrival.content]
        return again

    def _together(self, register: Register) -> None:
        undecided = [i for i, answer in enumerate(self.answers) if answer is None and i not in self.again]
        if undecided:
            decided = register.assign_many(np.stack([self.arrivals[i].feature for i in undecided]))
            for i, answer in zip(undecided, decided, strict=True):
                self.answers[i] = answer

    def _in_turn(self, register: Register) -> None:
        """Where the register learns, an image that a person placed is a lesson for those after it."""
        for i, (arrival, answer) in enumerate(zip(self.arrivals, self.answers, strict=True)):
            if answer is None and i not in self.again:
                self.answers[i] = register.assign(arrival.feature)
            elif answer is not None and answer.decided_by == "person":
                register.learn(arrival.feature, answer.via or str(answer.category))
