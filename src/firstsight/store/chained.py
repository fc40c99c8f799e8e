"""A log kept as the lines of a table: every event carries a checksum that continues the one before.

So a changed, missing or misplaced event shows when it is read. Events never change, so they are read page by page up to
the last there was at the start: that says what one long reading would. Where the table is, in a file or on a server,
is the business of those who keep it.
"""

from __future__ import annotations

import hashlib
import json
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from firstsight.core.errors import Damaged, Incompatible, NotFound
from firstsight.core.protocols import Progress
from firstsight.store import forget
from firstsight.store.connection import damaged
from firstsight.store.events import Assigned, Recorded, from_columns, to_columns
from firstsight.store.log import Snapshot

COLUMNS = "number, kind, at, body, feature, content, crc"
PAGE = 1000  # events read at once

Line: TypeAlias = tuple[Any, ...]  # an event in the table


class ChainedLog(ABC):
    """The reading half of such a log."""

    name: str
    header: dict[str, Any]
    _header_crc: int

    @abstractmethod
    def last(self) -> int:
        """The number of the last event there is; 0 before the first."""

    @abstractmethod
    def _page(self, after: int, upto: int) -> list[Line]:
        """The first events after one and up to another, `PAGE` at most."""

    @abstractmethod
    def _crc_of(self, number: int) -> int | None:
        """The checksum of an event; None where there is none."""

    @abstractmethod
    def _encoder_lines(self) -> list[Line]:
        """Number, description and checksum of what made the features."""

    @abstractmethod
    def _snapshot_line(self) -> Line | None:
        """Number, checksum, digest and body of the last snapshot."""

    def read(self, after: int = 0, upto: int | None = None) -> Iterator[Recorded]:
        return map(self._event, self._checked(after, self.last() if upto is None else upto))

    def newest(self, upto: int) -> Iterator[Recorded]:
        for last in range(upto, 0, -PAGE):
            yield from map(self._event, reversed(list(self._checked(max(0, last - PAGE), last))))

    def event(self, number: int) -> Recorded:
        lines = self._page(number - 2, number) if 0 < number < 2**63 else []  # databases count no further
        if not lines or lines[-1][0] != number:
            last = self.last()
            if 1 <= number <= last:
                raise self._missing(number)
            raise NotFound(f"{self.name} has no event {number}", f"it has 1 to {last}")
        before = lines[0][-1] if len(lines) == 2 else self._header_crc if number == 1 else None
        if not _leads_on(before, number, lines[-1]):
            raise self._missing(number)
        return self._event(lines[-1])

    def features(self, upto: int) -> Iterator[tuple[int, bytes]]:
        return ((line[0], line[4]) for line in self._checked(0, upto) if line[1] == Assigned.__name__)

    def encoders(self) -> dict[int, dict[str, Any]]:
        entries = self._encoder_lines()
        for id, text, crc in entries:
            if not isinstance(id, int) or not isinstance(text, str) or zlib.crc32(text.encode(), id) != crc:
                raise damaged(self.name, "what it says about its encoders is not as it was written")
        return {id: json.loads(text) for id, text, _ in entries}

    def snapshot(self) -> Snapshot | None:
        found = self._snapshot_line()
        if found is None:
            return None
        number, crc, digest, body = found
        try:
            sound = digest == digest_of(number, crc, body) and self._crc(number) == crc
        except (TypeError, Damaged):
            sound = False
        if not sound:
            raise damaged(self.name, f"the snapshot at event {number} is not as it was written")
        return Snapshot(number, body)

    def _take_header(self, found: Line | None) -> None:
        """What was said when the log was made, and the checksum all events go on from."""
        if found is None or zlib.crc32(found[0].encode()) != found[1]:
            raise damaged(self.name, "its header is not as it was written")
        self.header = json.loads(found[0])
        self._header_crc = int(found[1])

    def _check_events(self, progress: Progress) -> None:
        self.encoders()
        self.snapshot()
        last = self.last()
        with progress.task("checking events", last) as advance:
            for line in self._checked(0, last):
                self._event(line)
                advance()

    def _without(self, images: Sequence[Recorded], mark: Recorded) -> tuple[list[Line], Line]:
        """What changes where images are forgotten, from the first of them on, and the line of the mark.

        Of every event its number, and the body, content and checksum it has then.
        """
        gone = {each.number for each in images}
        first = min(gone)  # what was said of them came later
        crc, changes = self._crc(first - 1), []
        for number, kind, at, body, feature, content, _ in self._checked(first - 1, mark.number - 1):
            body, forgotten = forget.told_less(kind, body, number, gone)
            content = b"" if forgotten else content
            crc = checksum(crc, number, at, kind, body, feature, content)
            changes.append((number, body, content, crc))
        return changes, lines_of([mark], crc)[0]

    def _crc(self, number: int) -> int:
        """The checksum that an event leads to."""
        found = self._header_crc if number == 0 else self._crc_of(number)
        if found is None:
            raise self._missing(number)
        return found

    def _checked(self, after: int, upto: int) -> Iterator[Line]:
        """Events page by page, so that no reading stays open between them; each leads on from the one before."""
        crc = self._crc(after) if after < upto else 0
        while after < upto:
            page = self._page(after, upto)
            if not page:
                raise self._missing(after + 1)
            for line in page:
                if not _leads_on(crc, after + 1, line):
                    raise self._missing(after + 1)
                yield line
                after, crc = line[0], line[-1]

    def _missing(self, number: int) -> Damaged:
        return damaged(self.name, f"event {number} is missing or not as it was written")

    def _event(self, line: Line) -> Recorded:
        number, kind, at, body, feature, content, _ = line
        try:
            return Recorded(number, at, from_columns(kind, body, feature, content))
        except (KeyError, TypeError) as error:  # checksums hold: it is as it was written
            raise Incompatible(
                f"{self.name}: event {number} says what this release does not know: {error}",
                "upgrade Firstsight; the file has not been touched",
            ) from None
        except (ValueError, AttributeError) as error:
            raise damaged(self.name, f"event {number} cannot be read: {error}") from None


def lines_of(recorded: Sequence[Recorded], crc: int) -> list[Line]:
    """Events as lines that continue a checksum, in the order of `COLUMNS`."""
    lines = []
    for each in recorded:
        columns = to_columns(each.event)
        crc = checksum(crc, each.number, each.at, *columns)
        kind, *rest = columns
        lines.append((each.number, kind, each.at, *rest, crc))
    return lines


def checksum(
    before: int, number: int, at: int, kind: str, body: str, feature: bytes | None, content: bytes | None
) -> int:
    """That of an event after one of this checksum."""
    return zlib.crc32(
        b"%d %b %d %b %b %b" % (number, kind.encode(), at, body.encode(), feature or b"", content or b""), before
    )


def digest_of(number: int, crc: int, body: bytes) -> bytes:
    """What a snapshot is checked by."""
    return hashlib.sha256(b"%d %d " % (number, crc) + body).digest()


def _leads_on(before: int | None, number: int, line: Line) -> bool:
    """Whether this is the event of that number, as it was written after one of that checksum."""
    own, kind, at, body, feature, content, crc = line
    if own != number or before is None:
        return False
    try:
        return bool(checksum(before, own, at, kind, body, feature, content) == crc)
    except (TypeError, ValueError, AttributeError):  # text where bytes were, or the other way round
        return False
