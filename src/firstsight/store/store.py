"""A register that lasts: the log, what it says, and the rule that decides, kept in step.

Whatever this acknowledges is on the disk first. The register and the catalogue follow the log, never the other way.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import wraps
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from firstsight._version import __version__
from firstsight.core.errors import DiskError, SettingsError, StoreError
from firstsight.core.protocols import Assignment, Candidate, Centre, Provenance, Register
from firstsight.core.threads import one_thread
from firstsight.register.kinds import of_header
from firstsight.store import edits, snapshot
from firstsight.store.catalogue import Catalogue
from firstsight.store.connection import Sync, sound
from firstsight.store.events import Assigned, Created, Event, Recorded, Undone
from firstsight.store.groups import numbered, repeats
from firstsight.store.sqlite import SqliteLog

SNAPSHOT_EVERY = 10_000  # events at least, and a tenth of the log: what opening may have to fold

Method = TypeVar("Method", bound=Callable[..., Any])


def alone(method: Method) -> Method:
    """One thread at a time in all methods so marked, and only with log and catalogue in step."""

    @wraps(method)
    def run(self: Store, *arguments: Any, **named: Any) -> Any:
        with self.lock, one_thread():
            self._get_in_step()
            return method(self, *arguments, **named)

    return cast("Method", run)


@dataclass(frozen=True)
class Arrival:
    """An image to be answered: where it came from, the SHA-256 of its content, what the encoder made of it."""

    source: str
    content: bytes
    feature: NDArray[Any]


class Store:
    """Categories and images in a file, with every edit people make. One writer, many readers.

    `create` starts a file from a fresh register, `open` goes on with one. `record` answers images and keeps the
    answers; the other verbs correct them, and each returns the event it recorded. Close it, or use it in a `with`.
    Threads may share one: each verb waits for the one before.
    """

    def __init__(self, log: SqliteLog) -> None:
        self.log = log
        self.lock = RLock()  # held for more than one question, it keeps everything as it is in between
        self._made_by = [log.header["model"][key] for key in ("fingerprint", "preprocess")]
        self._register = of_header(log.header["register"])
        kept = log.snapshot()
        folded = None if kept is None else snapshot.unpack(kept.body)
        if kept is not None and folded is not None:
            log.skip(kept, folded.last)
        self.catalogue = folded or self._empty()
        self._stale = True  # whether the register has yet to follow the catalogue
        self._in_step = True  # whether the catalogue says what the log says
        self._snapshot_at = self.catalogue.last
        self._encoders: dict[Provenance, int] = {}
        self.refresh()

    @classmethod
    def create(
        cls,
        path: Path | str,
        register: Register,
        model: Provenance,
        sync: Sync = "full",
        wait: float = 0.0,
        or_open: bool = False,
    ) -> Self:
        """A new file for what this register, fresh from this model, will find.

        With `or_open`, the file of whoever made one first, if someone did; it has a register of its own.
        """
        if register.has_learned or of_header(register.header()).next_name() != register.next_name():
            raise SettingsError(
                "a new store starts from a fresh register; this one has answered images already",
                "take a new one from the model: model.register()",
            )
        made_by = {"fingerprint": model.fingerprint, "preprocess": model.preprocess}
        header = {"firstsight": __version__, "model": made_by, "register": register.header()}
        return cls._of(SqliteLog.create(Path(path), header, sync, wait, or_open))

    @classmethod
    def open(cls, path: Path | str, write: bool = True, sync: Sync = "full", wait: float = 0.0) -> Self:
        """A file that is there. `write=False` reads beside a writer; `refresh` then follows it."""
        return cls._of(SqliteLog.open(Path(path), write, sync, wait))

    @classmethod
    def _of(cls, log: SqliteLog) -> Self:
        try:
            with sound(log.path):
                return cls(log)
        except BaseException:
            log.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the file. Nothing is lost without this; the next opening is quicker with it."""
        with self.lock:
            try:
                self._keep_snapshot_when_due(eagerness=10)
            finally:
                self.log.close()

    @property
    def register(self) -> Register:
        """The register as of the last event."""
        with self.lock, one_thread():
            if self._stale:
                feature_from, features = (
                    self._register.feature_from,
                    self.log.features() if self._register.learns else (),
                )
                self._register.rebuild(
                    (
                        Centre(feature_from(feature), category, home)
                        for feature, category, home in self.catalogue.centres()
                    ),
                    self.catalogue.names,
                    ((feature_from(feature), category) for feature, category in self.catalogue.members(features)),
                )
                self._register.radius = self.catalogue.radius
                self._stale = False
            return self._register

    @alone
    def refresh(self) -> int:
        """Take in what was written since by whoever holds the file; how many events that was."""
        before = self.catalogue.last
        self._in_step = False
        for recorded in self.log.tail():
            self._stale |= self._register.learns or not isinstance(recorded.event, Assigned)
            self.catalogue.apply(recorded, self.log.event)
        self._in_step = True
        return self.catalogue.last - before

    @alone
    def replay(self) -> Catalogue:
        """The catalogue folded anew from the first event: what this store's must equal."""
        replayed = self._empty()
        for recorded in self.log.events():
            replayed.apply(recorded, self.log.event)
        return replayed

    def check_model(self, model: Provenance) -> None:
        """Refuse features of another model or another image path: they cannot be compared with what is here."""
        fingerprint, preprocess = self._made_by
        remedy = f"encode its images anew: firstsight categories {self.log.path} reencode MODEL NEW.db"
        if fingerprint != model.fingerprint:
            raise StoreError(
                f"{self.log.path} was written with another model ({str(fingerprint)[:12]}; "
                f"this one is {model.fingerprint[:12]}), whose features mean something else",
                f"use that model, or {remedy}",
            )
        if preprocess != model.preprocess:
            raise StoreError(
                f"{self.log.path} was written with version {preprocess} of the image path; "
                f"this is version {model.preprocess}, and a pixel of difference changes features",
                f"use the release that wrote it, or {remedy}",
            )

    # ------------------------------------------------------------------ answering

    @alone
    def match(self, feature: NDArray[Any], content: bytes) -> Assignment:
        """What an image is; changes nothing. A person's word on this very image comes before the rule."""
        return self._named(self._placed_before(content) or self.register.match(feature))

    @alone
    def recognise(self, content: bytes, source: str = "") -> Assignment | None:
        """The answer to an image that is here already: the one from this source, one a person placed, or the last."""
        here = [number for number in self.log.with_content(content) if self.catalogue.has_image(number)]
        if not here:
            return None
        number = max(here, key=lambda n: (self._assigned(n).source == source, self.catalogue.placed(n), n))
        return self._named(replace(self.assignment(number), decided_by="record"))

    @alone
    def assignment(self, number: int) -> Assignment:
        """An image as it stands: in the category it is in now, with what was measured unless it was moved since."""
        event, home = self._assigned(number), self.catalogue.home(number)
        category, other = self.catalogue.resolve(home), event.runner_up and self.catalogue.resolve(event.runner_up)
        where_it_was = home == event.home
        second = other if where_it_was and other != category else None
        return Assignment(
            category=category,
            is_new=not self.catalogue.categories[category].known,
            created=False,
            distance=event.distance if where_it_was else None,
            radius=event.radius,
            runner_up=Candidate(second, event.runner_up_distance or 0) if second else None,
            via=home if home != category else None,
            image=number,
            decided_by="person" if self.catalogue.placed(number) else "rule",
            confidence=event.confidence if where_it_was else None,
            lesson=self.catalogue.lesson(number),
        )

    @alone
    def record(self, arrivals: Sequence[Arrival], model: Provenance, once: bool = False) -> list[Assignment]:
        """Answer images in turn and keep the answers, all in one transaction.

        With `once`, an image whose content is here already is recognised: it is answered, and not counted again.
        """
        encoder = self._encoder(model)
        answers = [
            self.recognise(arrival.content, arrival.source) if once else self._placed_before(arrival.content)
            for arrival in arrivals
        ]
        again = repeats([arrival.content for arrival in arrivals], answers) if once else {}
        undecided = [i for i, answer in enumerate(answers) if answer is None and i not in again]
        register = self.register
        self._stale = True  # until the log has what the register is about to learn
        if register.learns:
            self._decide_in_turn(arrivals, answers, set(again))
        elif undecided:
            features = np.stack([arrivals[i].feature for i in undecided])
            for i, decided in zip(undecided, register.assign_many(features), strict=True):
                answers[i] = decided
        events: list[Event] = []
        for arrival, answer in zip(arrivals, answers, strict=True):
            if answer is not None and answer.decided_by != "record":
                feature = register.feature_bytes(arrival.feature)
                if answer.created:
                    events.append(Created(str(answer.category), feature))
                events.append(Assigned.of(answer, arrival.source, encoder, feature, arrival.content))
        numbers = [each.number for each in self._commit(events) if isinstance(each.event, Assigned)] if events else []
        self._stale = False
        self._keep_snapshot_when_due()
        return [self._named(answer) for answer in numbered(answers, numbers, again)]

    def _decide_in_turn(
        self, arrivals: Sequence[Arrival], answers: list[Assignment | None], again: Container[int]
    ) -> None:
        """Where the register learns, an image that a person placed is a lesson for those after it."""
        for i, (arrival, answer) in enumerate(zip(arrivals, answers, strict=True)):
            if answer is None and i not in again:
                answers[i] = self._register.assign(arrival.feature)
            elif answer is not None and answer.decided_by == "person":
                self._register.learn(arrival.feature, str(answer.category))

    def _placed_before(self, content: bytes) -> Assignment | None:
        """The answer to an image that a person placed before, if one did."""
        if not self.catalogue.placed_images:
            return None
        here = self.log.with_content(content, among=self.catalogue.placed_images)
        if not here:
            return None
        answer = self.assignment(here[-1])
        return replace(answer, distance=None, runner_up=None, confidence=None, radius=self.catalogue.radius, image=None)

    def _named(self, answer: Assignment) -> Assignment:
        """The answer with the name people gave its category."""
        name = None if answer.category is None else self.catalogue.categories[answer.category].name
        return answer if name == answer.category else replace(answer, name=name)

    # ------------------------------------------------------------------ correcting

    @alone
    def rename(self, category: str, name: str) -> Recorded:
        """Call a category something else; its id stays."""
        return self._edit(edits.rename(self.catalogue, category, name))

    @alone
    def merge(self, category: str, into: str) -> Recorded:
        """Make a category part of another: its images belong there, and what its centres match goes there."""
        return self._edit(edits.merge(self.catalogue, category, into))

    @alone
    def split(self, images: Sequence[int], name: str | None = None) -> Recorded:
        """Give images a category of their own, with a centre of its own."""
        register = self.register
        images = edits.images(self.catalogue, images)
        features = np.stack([register.feature_from(self._assigned(number).feature) for number in images])
        centre = register.feature_bytes(register.centre_of(features))
        return self._edit(edits.split(self.catalogue, images, register.next_name(), name, centre))

    @alone
    def move(self, images: Sequence[int], to: str) -> Recorded:
        """Put images into a category, for good."""
        return self._edit(edits.move(self.catalogue, images, to))

    @alone
    def confirm(self, images: Sequence[int]) -> Recorded:
        """Say that images are where they belong."""
        return self._edit(edits.confirm(self.catalogue, images))

    @alone
    def change_radius(self, radius: int | float) -> Recorded:
        """Set how far categories reach, for the images to come."""
        edits.check_radius(self._register, self.log.header["register"]["radius"], radius)
        return self._edit(edits.change_radius(self.catalogue, radius))

    @alone
    def undo(self, event: int | None = None) -> Recorded:
        """Take back an event: the one named, or the last edit by a person. Refused where later ones depend on it."""
        return self._edit(edits.undo(self.catalogue, event, self.log.event, self.log.edits()))

    @alone
    def can_be_undone(self, event: int) -> bool:
        """Whether an event is one to undo: not undone already, and no undo itself."""
        return event not in self.catalogue.undone and not isinstance(self.log.event(event).event, Undone)

    @alone
    def redo(self, event: int | None = None) -> Recorded:
        """Bring back what was taken back."""
        return self._edit(edits.redo(self.catalogue, event, self.log.event, self.log.edits()))

    # ------------------------------------------------------------------ inside

    @alone
    def take_over(self, events: Sequence[Event], times: Sequence[int]) -> None:
        """Record events of another log, as they happened there."""
        self._stale = True
        self._commit(events, times)

    def _edit(self, event: Event) -> Recorded:
        self._stale = True
        (recorded,) = self._commit([event])
        return recorded

    def _commit(self, events: Sequence[Event], times: Sequence[int] | None = None) -> list[Recorded]:
        self._in_step = False
        try:
            recorded = self.log.append(events, times)
        except (DiskError, StoreError):
            self._in_step = self.log.is_current()  # refused as a whole, as far as one can see
            raise
        for each in recorded:
            self.catalogue.apply(each, self.log.event)
        self._in_step = True
        return recorded

    def _get_in_step(self) -> None:
        """After a commit or a refresh that was broken off, wherever that was, read the log from the start."""
        if not self._in_step:
            self.log.rewind()
            catalogue = self._empty()
            for recorded in self.log.tail():
                catalogue.apply(recorded, self.log.event)
            self.catalogue, self._stale, self._in_step = catalogue, True, True

    def _assigned(self, number: int) -> Assigned:
        event = self.log.event(number).event
        assert isinstance(event, Assigned)
        return event

    def _encoder(self, model: Provenance) -> int:
        if model not in self._encoders:
            self.check_model(model)
            self._encoders[model] = self.log.encoder(model._asdict())
        return self._encoders[model]

    def _keep_snapshot_when_due(self, eagerness: int = 1) -> None:
        """A snapshot only saves time, so one that cannot be kept is no fault."""
        last = self.catalogue.last
        due = last - self._snapshot_at >= max(SNAPSHOT_EVERY, last // 10) / eagerness
        if due and self.log.writable and self._in_step:
            with suppress(DiskError, StoreError):
                self.log.keep_snapshot(last, snapshot.pack(self.catalogue))
                self._snapshot_at = last

    def _empty(self) -> Catalogue:
        """The catalogue before the first event."""
        known = [(c.category, self._register.feature_bytes(c.feature)) for c in self._register.known_centres()]
        return Catalogue(known, self.log.header["register"]["radius"])
