"""What takes long to find out for a review, found in the background and again as the register grows."""

from __future__ import annotations

import logging
import time
from threading import Condition, Thread

from firstsight.evidence.review import Findings, find
from firstsight.store.view import View

log = logging.getLogger(__name__)

GROWN = 50  # images at least, and a tenth of the register, after which it is found again


class Finder:
    """Findings of one service; whoever asks has the last ones, and does not wait for the next."""

    def __init__(self, found: Findings | None = None) -> None:
        self._found = found
        self._under_way = False
        self._began = 0.0
        self._changed = Condition()

    def findings(self, view: View, patience: float) -> tuple[Findings, bool]:
        """The findings so far, and whether more are on their way. The first are waited for, so many seconds at most."""
        with self._changed:
            last = None if self._found is None else self._found.last
            stale = last is None or view.last - last > max(GROWN, last // 10) or view.last < last
            if stale and not self._under_way:
                self._under_way, self._began = True, time.monotonic()
                Thread(target=self._find, args=(view,), name="finding", daemon=True).start()
            if last is None:
                left = max(0.0, self._began + patience - time.monotonic())
                self._changed.wait_for(lambda: self._found is not None or not self._under_way, left)
            return self._found or nothing_found(view), self._under_way

    def _find(self, view: View) -> None:
        found = None
        try:
            found = find(view)
        except Exception as error:  # such as a log that was closed meanwhile: nobody waits for it
            log.warning("what to review was not found: %s", error)
        finally:
            with self._changed:
                self._found, self._under_way = found or self._found, False
                self._changed.notify_all()


def nothing_found(view: View) -> Findings:
    """Before anything is found, images and small categories can be asked about all the same."""
    return Findings(view.last, frozenset(view.catalogue.undone))
