"""Whether this service writes the register: it stands by, takes the place when that is free, and follows meanwhile."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from math import inf
from threading import Condition, Event, Thread

from firstsight.core.errors import FirstsightError
from firstsight.store.sharing import Said, SharedLog
from firstsight.store.store import Store

log = logging.getLogger(__name__)

EVERY = 0.5  # seconds between two looks whether the place is still ours
LISTEN = 10.0  # seconds after which new events are looked for though nobody told of them
PAUSE = 0.5  # seconds before a server that is away is asked again
LONGEST = 20.0  # seconds that those inside have to end before the place is left


class Standing:
    """One of the services of a register; `stop` it before the store is closed. Threads may share it.

    Events of others come in as the server tells of them. Nothing is asked of it for a request.
    """

    def __init__(self, store: Store, shared: SharedLog, said: Said) -> None:
        self.store, self.log, self.said = store, shared, said
        self.taken = 0  # how often it came to write
        self._writes = False
        self._leaving = False
        self._inside = 0  # who may write now
        self._changed = Condition()
        self._over, self._asked = Event(), Event()  # to end, and to hand over
        self._threads = [
            Thread(target=self._stand_by, name="standing by", daemon=True),
            Thread(target=self._follow, name="following", daemon=True),
        ]

    @property
    def writes(self) -> bool:
        """Whether it writes, as far as it knows."""
        return self._writes and not self.log.lost

    def start(self) -> None:
        """Take the place if it is free, and go on from there."""
        self._take(wait=0.0)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Leave the place, and follow no more."""
        self._over.set()
        self._asked.set()
        with suppress(FirstsightError):  # a server that is away wakes nobody, who will find out
            self.log.wait_no_more()
        for thread in self._threads:
            thread.join()
        self._step_down()

    def hand_over(self) -> None:
        """Leave the place soon if another stands by for it: this one is ending. Waits for nothing."""
        self._asked.set()

    @contextmanager
    def held(self) -> Iterator[bool]:
        """Whether this service writes; if so it does not leave its place by itself before the block ends."""
        with self._changed:
            here = self.writes and not self._leaving
            self._inside += here
        try:
            yield here
        finally:
            with self._changed:
                self._inside -= here
                self._changed.notify_all()

    def pause(self, seconds: float) -> None:
        """Wait for something to change, no longer than this."""
        with self._changed:
            self._changed.wait(seconds)

    def follow(self, upto: int) -> None:
        """Have all events up to one, so that whoever was answered by another sees here what it recorded."""
        if self.store.view().last < upto:
            self.store.refresh()

    def _stand_by(self) -> None:
        while not self._over.is_set():
            with _said("standing by", self._over):
                if not self._writes:
                    self._take(wait=inf)
                elif self.log.lost:
                    log.warning("%s: another writes it, or the server was away; following", self.store.name)
                    self._step_down()
                elif self._asked.wait(EVERY) and not self._over.is_set():
                    if self.log.wanted():
                        self._asked.clear()
                        self._step_down()
                    else:
                        self._over.wait(EVERY)

    def _follow(self) -> None:
        while not self._over.is_set():
            if self._writes:
                self._over.wait(EVERY)
                continue
            with _said("following", self._over):
                if self.log.wait(self.store.view().last, LISTEN):
                    self.store.refresh()

    def _take(self, wait: float) -> None:
        if not self.log.take(wait):
            return
        try:
            self.store.refresh()  # what the one before wrote last
            self.log.tell(self.said)
        except BaseException:
            self.log.step_down()
            raise
        with self._changed:
            self._writes = True
            self.taken += 1
            self._changed.notify_all()
        log.info("%s: written here from now on, after event %s", self.store.name, self.store.view().last)

    def _step_down(self) -> None:
        with self._changed:
            self._leaving = True
            self._changed.wait_for(lambda: self._inside == 0 or self.log.lost, LONGEST)
            self._writes = False
        try:
            self.log.step_down()
        finally:
            with self._changed:
                self._leaving = False
                self._changed.notify_all()


@contextmanager
def _said(what: str, over: Event) -> Iterator[None]:
    """No thread ends of what passes, as a server that is away."""
    try:
        yield
    except FirstsightError as error:
        log.info("%s: %s", what, error.what)
        over.wait(PAUSE)
    except Exception:
        log.exception("%s", what)
        over.wait(PAUSE)
