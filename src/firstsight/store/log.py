"""What a log is: events one after another, each with its number, kept by someone who never forgets one.

A file, a database or a list in memory can be one. What the events mean is the catalogue's business.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from firstsight.core.errors import Conflict
from firstsight.core.protocols import Progress
from firstsight.store.events import Event, Recorded
from firstsight.store.pictures import Pictures


class Grown(Conflict):
    """Someone else appended in the meantime: catch up, and decide again."""


class Snapshot(NamedTuple):
    """What the events up to one come to."""

    number: int
    body: bytes


def dated(events: Sequence[Event], after: int, times: Sequence[int] | None) -> list[Recorded]:
    """Events with the numbers that follow one, as of now or of these times."""
    now = time.time_ns() // 1000
    moments = [now] * len(events) if times is None else times
    return [Recorded(after + 1 + i, at, event) for i, (event, at) in enumerate(zip(events, moments, strict=True))]


class Log(Protocol):
    """Append-only events, numbered from 1 without a gap. Whatever is read has been checked; what is damaged is refused.

    Threads may share one. A reader never waits for an append.
    """

    @property
    def name(self) -> str:
        """What people call it: a file's name, or an address."""
        ...

    @property
    def writable(self) -> bool: ...

    @property
    def pictures(self) -> Pictures:
        """The images that were sent to it, beside it."""
        ...

    @property
    def header(self) -> Mapping[str, Any]:
        """What was said when it was made; it never changes."""
        ...

    def last(self) -> int:
        """The number of the last event there is; 0 before the first."""
        ...

    def append(self, events: Sequence[Event], after: int, times: Sequence[int] | None = None) -> list[Recorded]:
        """Add events after this one, all or none, as of now or of these times; kept for good when this returns.

        `Grown` where there are events after it already.
        """
        ...

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        """The events after one, up to another or the last there is when this begins."""
        ...

    def newest(self, upto: int) -> Iterator[Recorded]:
        """The events up to one, the last first."""
        ...

    def event(self, number: int) -> Recorded:
        """One event; NotFound where there is none."""
        ...

    def features(self, upto: int) -> Iterator[tuple[int, bytes]]:
        """Every image up to an event, by number, and its feature."""
        ...

    def with_source(self, source: str, upto: int) -> list[int]:
        """The images and empty frames from this source or from a path that ends with it, oldest first."""
        ...

    def keyed(self, key: str) -> int | None:
        """The image that came with this key; None where none did, or it was forgotten."""
        ...

    def forget(self, images: Sequence[int], by: str) -> Recorded | None:
        """Remove what tells of images for good, and append a mark; none where all were forgotten already."""
        ...

    def encoder(self, description: Mapping[str, Any]) -> int:
        """The entry for what makes features: model, preprocess version, device, precision."""
        ...

    def encoders(self) -> dict[int, dict[str, Any]]:
        """What made the features."""
        ...

    def snapshot(self) -> Snapshot | None:
        """The last snapshot, if there is one; it fits the events there are."""
        ...

    def keep_snapshot(self, snapshot: Snapshot) -> None:
        """Keep a snapshot instead of the one before."""
        ...

    def verify(self, progress: Progress) -> None:
        """Check everything there is; Damaged where it is not as it was written."""
        ...

    def back_up(self, path: Path, progress: Progress) -> None:
        """A copy as of now in a new file, checked, whoever is writing."""
        ...

    def say(self, address: str) -> None:
        """Tell others who would write it where to find whoever does."""
        ...

    def close(self) -> None:
        """Let go of it. Nothing is lost without this."""
        ...
