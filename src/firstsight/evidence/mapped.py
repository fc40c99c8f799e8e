"""The map of one register: its layout, and where every image is by now.

Laid out once, in the background, and kept beside the register. Images that come are placed without moving the others,
so a layout whose sample knew few of them is not made anew by itself: a person asks for that. Edits change no place.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock, Thread
from typing import NamedTuple

import numpy as np

from firstsight.core.errors import DiskError, FirstsightError
from firstsight.evidence.layout import SAMPLE, Layout, Places, fit, points_of, sample
from firstsight.evidence.layout_file import keep, kept
from firstsight.store.connection import beside
from firstsight.store.events import Assigned
from firstsight.store.view import View

PAGE = 4096  # features read and placed at once
OFTEN = 1000  # images placed, at least, before they are kept: without that they would be placed again, alike


class Placed(NamedTuple):
    """A layout, and where the images of a view are."""

    layout: Layout
    places: Places  # of all images there ever were, in order of arrival
    since: int  # images that came after it was laid out


class Map:
    """The map of a register, in the file beside it or, without one, in memory. Threads may share it."""

    def __init__(self, register: Path | None = None) -> None:
        self._path = None if register is None else beside(register, "-map")
        self._turn = Lock()  # to read or change what is held
        self._fitting = Lock()  # held while someone lays out
        self._held: tuple[Layout, Places, int] | None = None  # and how many images there were when it was laid out
        self._looked = self._path is None  # whether what was kept has been read
        self._kept_at = 0
        self._thread: Thread | None = None
        self.failed: str | None = None  # why the last try to lay out came to nothing

    @property
    def working(self) -> bool:
        """Whether it is being laid out."""
        return self._fitting.locked()

    def at(self, view: View) -> Placed | None:
        """Where the images are; those that came since are placed first. None where it was never laid out."""
        with self._turn:
            self._look(view)
            if self._held is None:
                return None
            layout, places, known = self._held
            count = len(view.catalogue.numbers)
            if count > len(places):
                places = np.concatenate([places, *_placed(view, layout, len(places))])
                self._held = layout, places, known
                if len(places) - self._kept_at >= max(OFTEN, len(places) // 20):
                    self._keep(view)
            return Placed(layout, places[:count], count - known)

    def lay_out(self, view: View) -> None:
        """Make a layout of the images there are, instead of the one before. Takes half a minute; nobody waits for it.

        Whoever asks while another does it has it done by that one.
        """
        if not self._fitting.acquire(blocking=False):
            return
        try:
            numbers, owners, _ = view.catalogue.columns()
            if not len(numbers):
                return
            chosen = numbers[sample(owners, SAMPLE)]
            contents = _features_of(view, set(chosen.tolist()))
            layout = fit(chosen, points_of(view.register, contents))
            places = np.concatenate(list(_placed(view, layout, 0)))
            with self._turn:
                self._held, self._looked, self.failed = (layout, places, len(places)), True, None
                self._keep(view)
        except FirstsightError as error:
            self.failed = str(error)
            raise
        finally:
            self._fitting.release()

    def begin(self, view: View) -> None:
        """The same in the background."""
        if not self.working:
            self._thread = Thread(target=self._quietly, args=(view,), name="map", daemon=True)
            self._thread.start()

    def wait(self) -> None:
        """Until what began in the background is done."""
        if self._thread is not None:
            self._thread.join()

    def close(self, view: View) -> None:
        """Keep where the images are that came last. Nothing is lost without this: they would be placed again."""
        with self._turn:
            if self._held is not None and len(self._held[1]) > self._kept_at:
                self._keep(view)

    def _quietly(self, view: View) -> None:
        with suppress(FirstsightError):  # `failed` says it
            self.lay_out(view)

    def _look(self, view: View) -> None:
        if not self._looked and self._path is not None:
            found = kept(self._path, view)
            if found is not None:
                self._held, self._kept_at = found, len(found[1])
            self._looked = True

    def _keep(self, view: View) -> None:
        """A file that cannot be written is no fault: the map is here."""
        assert self._held is not None
        if self._path is not None:
            with suppress(DiskError):
                keep(self._path, view, *self._held)
                self._kept_at = len(self._held[1])


def _placed(view: View, layout: Layout, after: int) -> Iterator[Places]:
    """Where the images after so many are, a page at a time."""
    numbers, register = view.catalogue.numbers.values(), view.register
    contents = _contents(view, 0 if after == 0 else int(numbers[after - 1]))
    yield np.zeros((0, 2), dtype=np.uint16)
    for first in range(after, len(numbers), PAGE):
        some = numbers[first : first + PAGE]
        yield layout.place(some, points_of(register, list(islice(contents, len(some)))))


def _contents(view: View, after: int) -> Iterator[bytes]:
    """The features of the images after an event, as the log keeps them."""
    if after == 0:
        return (content for _, content in view.features())
    return (each.event.feature for each in view.events(after) if isinstance(each.event, Assigned))


def _features_of(view: View, numbers: set[int]) -> list[bytes]:
    return [content for number, content in view.features() if number in numbers]
