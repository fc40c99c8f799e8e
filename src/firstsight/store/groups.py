"""Images answered as a group: which of them are the same, who decides each, and the events that say so."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment
from firstsight.core.errors import BadRequest
from firstsight.core.protocols import Register
from firstsight.core.sightings import NOTHING, Sighting
from firstsight.data.bursts import runs
from firstsight.register.together import decide
from firstsight.store.draft import Draft
from firstsight.store.events import Assigned, Created, Recorded
from firstsight.store.view import View

LONGEST_KEY = 200
NOT_COUNTED = ("record", "discarded")  # answers to an image that is here already, or of nothing


@dataclass(frozen=True)
class Arrival:
    """An image to be answered: where it came from, the SHA-256 of its content, what the encoder made of it.

    And what it tells of itself. Neighbours of one `burst` are answered together. Whoever sends an image may give the
    sending a `key`: what comes with the same key again has the answer that was given, and counts nothing.
    """

    source: str
    content: bytes
    feature: NDArray[Any]
    sighting: Sighting = NOTHING
    burst: int | None = None
    key: str = ""

    def __post_init__(self) -> None:
        if self.key and (len(self.key) > LONGEST_KEY or not self.key.isprintable()):
            what = f"{self.key[:40]!r} cannot be a key"
            raise BadRequest(what, f"at most {LONGEST_KEY} characters that can be printed")


class Group:
    """Images to be answered in turn. `decide` may be run again, where others wrote meanwhile."""

    def __init__(self, arrivals: Sequence[Arrival], encoder: int, once: bool) -> None:
        self.given, self.encoder, self.once = arrivals, encoder, once

    def decide(self, view: View, draft: Draft) -> None:
        """Answer all of them; the draft's register learns and founds, and its events say what."""
        self._set_retries_aside(view)
        self.answers = [
            view.recognise(each.content, each.source) if self.once else view.said_before(each.content)
            for each in self.arrivals
        ]
        self.again = self._repeats() if self.once else {}
        register = draft.register
        self.order = list(range(len(self.arrivals)))
        if any(each.burst is not None for each in self.arrivals):
            self._by_bursts(register)
        elif register.learns:
            self._in_turn(register)
        else:
            self._together(register)
        for i in self.order:
            arrival, answer = self.arrivals[i], self.answers[i]
            if answer is not None and answer.decided_by not in NOT_COUNTED:
                feature = register.feature_bytes(arrival.feature)
                if answer.created:
                    draft.events.append(Created(str(answer.category), feature))
                told = (arrival.source, self.encoder, feature, arrival.content, arrival.sighting, arrival.key)
                draft.events.append(Assigned.of(answer, *told))

    def numbered(self, recorded: Sequence[Recorded]) -> list[Assignment]:
        """The answers with the numbers of their images; a repeat has the answer and the number of the first."""
        found, asked = self._numbered(recorded), set[int]()
        answers = []
        for each in self.whose:
            if isinstance(each, Assignment):
                answers.append(each)
            else:
                answers.append(_once_more(found[each]) if each in asked else found[each])
                asked.add(each)
        return answers

    def _set_retries_aside(self, view: View) -> None:
        """`arrivals` are those given but what was sent before; `whose` has each one's answer, or whose it will be."""
        self.arrivals: list[Arrival] = []
        self.whose: list[Assignment | int] = []  # the answer in the log, or a place among `arrivals`
        first: dict[str, int] = {}
        for each in self.given:
            here = first.get(each.key, view.retried(each.key))
            if here is None:
                here = len(self.arrivals)
                self.arrivals.append(each)
                first |= {each.key: here} if each.key else {}
            self.whose.append(here)

    def _numbered(self, recorded: Sequence[Recorded]) -> list[Assignment]:
        fresh = (each.number for each in recorded if isinstance(each.event, Assigned))
        asked = ((i, self.answers[i]) for i in self.order)
        number = {i: next(fresh) for i, answer in asked if answer is not None and answer.decided_by not in NOT_COUNTED}
        found: list[Assignment] = []
        for i, answer in enumerate(self.answers):
            if answer is None:
                found.append(_once_more(found[self.again[i]]))
            else:
                found.append(replace(answer, image=number[i]) if i in number else answer)
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

    def _by_bursts(self, register: Register) -> None:
        """Burst by burst; the image that teaches its category, or founds it, comes first in the log."""
        self.order = []
        for unit in runs(self.arrivals, lambda a, b: a.burst is not None and a.burst == b.burst):
            asked = [i for i in unit if self.answers[i] is None and i not in self.again]
            for i in set(unit) - set(asked):
                answer = self.answers[i]
                if register.learns and answer is not None and answer.decided_by == "person":
                    register.learn(self.arrivals[i].feature, answer.via or str(answer.category))
            if asked:
                made = decide(register, [self.arrivals[i].feature for i in asked])
                for i, answer in zip(asked, made.answers, strict=True):
                    self.answers[i] = answer
                leads = asked[made.leads]
                asked = [leads, *(i for i in asked if i != leads)]
            self.order += [*sorted(set(unit) - set(asked)), *asked]

    def _in_turn(self, register: Register) -> None:
        """Where the register learns, an image that a person placed is a lesson for those after it."""
        for i, (arrival, answer) in enumerate(zip(self.arrivals, self.answers, strict=True)):
            if answer is None and i not in self.again:
                self.answers[i] = register.assign(arrival.feature)
            elif answer is not None and answer.decided_by == "person":
                register.learn(arrival.feature, answer.via or str(answer.category))


def _once_more(answer: Assignment) -> Assignment:
    """The answer to an image that came earlier in the group."""
    return answer if answer.decided_by in NOT_COUNTED else replace(answer, created=False, decided_by="record")
