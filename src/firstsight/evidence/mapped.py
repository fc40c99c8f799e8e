"""The map of one register: its layout, and where every image is by now.

Laid out once, in the background, and kept beside the register. Images that come are placed without moving the others,
so a layout whose sample knew few of them is not made anew by itself: a person asks for that. Only the first handful
is laid out again as it doubles. Edits change no place.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from threading import Lock, Thread
from typing import NamedTuple

import numpy as np

from firstsight.core.errors import DiskError, FirstsightError
from firstsight.core.packages import need
from firstsight.evidence.layout import SAMPLE, Layout, Places, fit, points_of, sample
from firstsight.evidence.layout_file import keep, kept
from firstsight.store.catalogue import Catalogue
from firstsight.store.connection import beside
from firstsight.store.events import Assigned
from firstsight.store.view import View

log = logging.getLogger(__name__)

PAGE = 4096  # features read and placed at once
MOMENTS = 16  # catalogues remembered, to tell what changed since; they share what did not
SETTLED = 64  # images from which on a layout stays until a person asks for another
OFTEN = 1000  # images placed, at least, before they are kept: without that they would be placed again, alike


class Placed(NamedTuple):
    """A layout, and where the images of a view are."""

    layout: Layout
    places: Places  # of all images there ever were, in order of arrival
    since: int  # images that came after it was laid out

    @property
    def outgrown(self) -> bool:
        """Whether it is of a handful of images, and twice as many are there now: it should be laid out anew."""
        known = len(self.places) - self.since
        return known < SETTLED and len(self.places) >= 2 * known


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
        self._moments: dict[int, Catalogue] = {}  # by their last event
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

    def remember(self, view: View) -> None:
        """Someone was told the map as of this view."""
        with self._turn:
            self._moments.pop(view.last, None)
            self._moments[view.last] = view.catalogue
            for old in list(self._moments)[:-MOMENTS]:
                del self._moments[old]

    def moment(self, last: int) -> Catalogue | None:
        """The catalogue as of an event, where someone was told it lately."""
        with self._turn:
            return self._moments.get(last)

    def lay_out(self, view: View) -> None:
        """Make a layout of the images there are, instead of the one before. Takes half a minute; nobody waits for it.

        Whoever asks while another does it has it done by that one.
        """
        if self._fitting.acquire(blocking=False):
            try:
                self._lay_out(view)
            finally:
                self._fitting.release()

    def begin(self, view: View) -> None:
        """The same in the background; `failed` says what went wrong."""
        if self._fitting.acquire(blocking=False):
            self._thread = Thread(target=self._in_background, args=(view,), name="map", daemon=True)
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

    def _in_background(self, view: View) -> None:
        try:
            self._lay_out(view)
        except FirstsightError as error:
            self.failed = str(error)
        except Exception:  # nobody is there to be told, and the next may ask again
            log.exception("the map of %s could not be laid out", view.name)
            self.failed = "a fault of ours; the log has the trace"
        finally:
            self._fitting.release()

    def _lay_out(self, view: View) -> None:
        numbers, owners, _ = view.catalogue.columns()
        if not len(numbers):
            return
        need("laying out a map", "scipy", "sklearn")
        chosen = numbers[sample(owners, SAMPLE)]
        layout = fit(chosen, points_of(view.register, _features_of(view, set(chosen.tolist()))))
        places = np.concatenate(list(_placed(view, layout, 0)))
        with self._turn:
            self._held, self._looked, self.failed = (layout, places, len(places)), True, None
            self._keep(view)

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
