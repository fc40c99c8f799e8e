"""A log as another one, event for event: from a file to a server, from a server to a file, from memory to either."""

from __future__ import annotations

from firstsight.core.errors import Conflict
from firstsight.core.protocols import Progress, Silent
from firstsight.store.log import Log

PAGE = 1000  # events written at once


def copy_events(log: Log, to: Log, progress: Progress | None = None) -> int:
    """Append all events of a log to a new one, as they happened; how many there were.

    `to` was made with the header of `log` and holds nothing yet. Encoders keep their numbers.
    """
    if to.last() or to.encoders():
        raise Conflict(f"{to.name} holds events already", "name a new one")
    for number, description in sorted(log.encoders().items()):
        if to.encoder(description) != number:
            raise Conflict(f"the encoders of {log.name} cannot be numbered alike")
    last = log.last()
    with (progress or Silent()).task("copying events", last) as advance:
        for after in range(0, last, PAGE):
            page = list(log.read(after, min(after + PAGE, last)))
            to.append([each.event for each in page], after, [each.at for each in page])
            for _ in page:
                advance()
    if (kept := log.snapshot()) is not None and kept.number <= last:
        to.keep_snapshot(kept)
    return last
