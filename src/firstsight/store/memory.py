"""A log in memory: for tests, and for whoever wants edits and undo without a file. It ends with the process."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from threading import RLock
from typing import Any

from firstsight.core.errors import NotFound
from firstsight.core.protocols import Progress
from firstsight.store import forget
from firstsight.store.copying import copy_events
from firstsight.store.events import Assigned, Event, FoundEmpty, Recorded, Relocated
from firstsight.store.log import Grown, Snapshot, dated
from firstsight.store.pictures import Pictures


class MemoryLog:
    """Events in a list, which several stores may share: each follows what the others append."""

    name = "the register in memory"
    writable = True
    pictures = Pictures(None)

    def __init__(self, header: Mapping[str, Any]) -> None:
        self.header = json.loads(json.dumps(header))
        self._events: list[Recorded] = []
        self._turn = RLock()
        self._keys: dict[str, int] = {}  # images by the key they came with
        self._encoders: dict[str, int] = {}
        self._snapshot: Snapshot | None = None

    def last(self) -> int:
        return len(self._events)

    def append(self, events: Sequence[Event], after: int, times: Sequence[int] | None = None) -> list[Recorded]:
        recorded = dated(events, after, times)
        with self._turn:
            if len(self._events) != after:
                raise Grown(f"{self.name} has grown meanwhile", "try again")
            self._events += recorded  # at once: whoever reads sees all of them or none
            self._keys |= {e.event.key: e.number for e in recorded if isinstance(e.event, Assigned) and e.event.key}
        return recorded

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        return iter(self._events[after : self.last() if upto is None else upto])

    def newest(self, upto: int) -> Iterator[Recorded]:
        return reversed(self._events[:upto])

    def event(self, number: int) -> Recorded:
        if not 1 <= number <= self.last():
            raise NotFound(f"{self.name} has no event {number}", f"it has 1 to {self.last()}")
        return self._events[number - 1]

    def features(self, upto: int) -> Iterator[tuple[int, bytes]]:
        return ((each.number, each.event.feature) for each in self.read(0, upto) if isinstance(each.event, Assigned))

    def with_source(self, source: str, upto: int) -> list[int]:
        ends = (f"/{source}",)
        seen = ((each.number, each.event) for each in self.read(0, upto))
        named = [(n, e.source) for n, e in seen if isinstance(e, Assigned | FoundEmpty)]
        return [n for n, its in named if its == source or its.endswith(ends)]

    def keyed(self, key: str) -> int | None:
        return self._keys.get(key)

    def forget(self, images: Sequence[int], by: str) -> Recorded | None:
        with self._turn:
            left = forget.left(forget.to_forget(self, images))
            for each in left:
                assert isinstance(each.event, Assigned | FoundEmpty)
                if isinstance(each.event, Assigned):
                    self._keys.pop(each.event.key, None)
                self._events[each.number - 1] = replace(each, event=forget.emptied(each.event))
            gone = {each.number for each in left}
            for at, each in enumerate(self._events):
                if isinstance(each.event, Relocated):
                    self._events[at] = replace(each, event=forget.without_places(each.event, gone))
            self._snapshot = None
            return self.append([forget.mark_of(left, by)], self.last())[0] if left else None

    def encoder(self, description: Mapping[str, Any]) -> int:
        with self._turn:
            return self._encoders.setdefault(json.dumps(description, sort_keys=True), len(self._encoders) + 1)

    def encoders(self) -> dict[int, dict[str, Any]]:
        return {number: json.loads(text) for text, number in list(self._encoders.items())}

    def snapshot(self) -> Snapshot | None:
        return self._snapshot

    def keep_snapshot(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot

    def verify(self, progress: Progress) -> None:
        """Memory is taken at its word."""

    def back_up(self, path: Path, progress: Progress) -> None:
        from firstsight.store.sqlite import SqliteLog

        copy = SqliteLog.create(path, self.header)
        try:
            copy_events(self, copy, progress)
        finally:
            copy.close()

    def say(self, address: str) -> None:
        """There is nobody else to tell."""

    def close(self) -> None:
        """There is nothing to let go of."""
