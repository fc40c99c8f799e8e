"""A register that lasts: one writer, readers who never wait for it, and a log that has everything first.

Whatever this acknowledges is in the log. A state is never changed: whoever writes makes the next one from a draft and,
once the log has its events, puts it in the place of the last. What goes wrong before that leaves nothing behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from threading import RLock
from types import TracebackType
from typing import Any, Self

from numpy.typing import NDArray

from firstsight._version import __version__
from firstsight.core.assignments import Assignment
from firstsight.core.errors import DiskError, Incompatible, SettingsError, StoreError
from firstsight.core.protocols import Progress, Provenance, Register, Silent
from firstsight.core.threads import one_thread
from firstsight.register.kinds import of_header
from firstsight.register.numbers import from_json
from firstsight.store import snapshot
from firstsight.store.authors import By, author
from firstsight.store.catalogue import Catalogue
from firstsight.store.connection import Sync, beside, damaged, sound
from firstsight.store.copying import copy_events
from firstsight.store.draft import Draft, Edit
from firstsight.store.editing import Editing
from firstsight.store.events import Assigned, Event, Recorded
from firstsight.store.forget import to_forget, unshared
from firstsight.store.groups import Arrival, Group
from firstsight.store.log import Grown, Log, Snapshot
from firstsight.store.memory import MemoryLog
from firstsight.store.opening import create_log, on_server, open_log
from firstsight.store.pictures import Pictures
from firstsight.store.sharing import SharedLog
from firstsight.store.sqlite import SqliteLog
from firstsight.store.state import State
from firstsight.store.teaching import build
from firstsight.store.view import View

__all__ = ["Arrival", "Store", "header_of"]

SNAPSHOT_EVERY = 10_000  # events at least, and a tenth of the log: what opening may have to fold
PATIENCE = 100  # times that others may append first before an edit is given up


class Store(Editing):
    """Categories and images in a log, with every edit people make.

    `create` starts a file from a fresh register, `open` goes on with one, `in_memory` needs none. `record` answers
    images and keeps the answers; the verbs of `Editing` correct them, each returns the event it recorded. `view` is
    everything as of now. Close it, or use it in a `with`. Threads may share one.

    >>> import numpy as np
    >>> from firstsight.register.codes import CodeRegister
    >>> register = CodeRegister(bits=4, radius=1, names=["ant"], centres=np.array([[0b0000]], dtype=np.uint64))
    >>> model = Provenance(fingerprint="f" * 64, preprocess=1, device="cpu", precision="fp32")
    >>> store = Store.in_memory(register, model)
    >>> image = Arrival("1.jpg", b"digest", np.array([0b0111], dtype=np.uint64))
    >>> [answer] = store.record([image], model)
    >>> answer.category, answer.is_new
    ('new-1', True)
    >>> event = store.rename("new-1", "moth")
    >>> store.match(image.feature, b"").name
    'moth'
    >>> event = store.undo()
    >>> store.view().name_of("new-1")
    'new-1'
    """

    def __init__(self, log: Log, trust: bool = False) -> None:
        """`trust` a register of a kind from elsewhere, `module:Class`, to run its module."""
        self._log = log
        self._turn = RLock()  # one writer at a time
        self._behind = False  # whether a commit was broken off, so that the log may have more than the state
        self._made_by = [log.header["model"][key] for key in ("fingerprint", "preprocess")]
        self._trust = trust
        self._encoders: dict[Provenance, int] = {}
        self._state = self._opened(log.snapshot())
        self._snapshot_at = self._state.catalogue.last
        self.refresh()

    def _opened(self, kept: Snapshot | None) -> State:
        if kept is None:
            known = [(name, bytes.fromhex(centre)) for name, centre in self._log.header["known"]]
            return State(Catalogue(known, from_json(self._log.header["register"]["radius"])), None, self._build)
        catalogue, learned = snapshot.unpack(kept.body)
        if catalogue.last != kept.number:
            raise damaged(self._log.name, f"the snapshot at event {kept.number} is not as it was written")
        register = None
        if learned is not None:
            with suppress(Incompatible):  # of a kind that is not here: the categories can be looked at all the same
                register = self._build(catalogue, learned)
        return State(catalogue, register, self._build)

    @one_thread()
    def _build(self, catalogue: Catalogue, learned: bytes | None = None) -> Register:
        with sound(self._log.name):
            return build(of_header(self._log.header["register"], self._trust), self._log, catalogue, learned)

    @classmethod
    def create(
        cls,
        path: Path | str,
        register: Register,
        model: Provenance,
        sync: Sync = "full",
        wait: float = 0.0,
        or_open: bool = False,
        trust: bool = False,
    ) -> Self:
        """A new file, or schema on a server, for what this register, fresh from this model, will find.

        With `or_open`, the file of whoever made one first, if someone did; it has a register of its own.
        """
        return cls._of(create_log(path, header_of(register, model), sync, wait, or_open), trust)

    @classmethod
    def open(
        cls, path: Path | str, write: bool = True, sync: Sync = "full", wait: float = 0.0, trust: bool = False
    ) -> Self:
        """A file or a register on a server. `write=False` reads beside a writer; `refresh` then follows it."""
        return cls._of(open_log(path, write, sync, wait), trust)

    @classmethod
    def in_memory(cls, register: Register, model: Provenance) -> Self:
        """The same without a file; it ends with the process."""
        return cls(MemoryLog(header_of(register, model)), trust=True)

    @classmethod
    def _of(cls, log: Log, trust: bool) -> Self:
        try:
            with sound(log.name):
                return cls(log, trust)
        except BaseException:
            log.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def say(self, address: str) -> None:
        """Tell others who would write it where to find whoever does: the address of a service."""
        self._log.say(address)

    @property
    def shared(self) -> SharedLog | None:
        """The log, where several take turns at writing it; a file has one writer until it is closed."""
        return self._log if isinstance(self._log, SharedLog) else None

    def close(self) -> None:
        """Let go of the log. Nothing is lost without this; the next opening is quicker with it."""
        with self._turn:
            try:
                self._keep_snapshot_when_due(eagerness=10)
            finally:
                self._log.close()

    # ------------------------------------------------------------------ looking

    def view(self) -> View:
        """Everything as of the last event: it stays as it is, and never waits for whoever writes."""
        if self._behind:
            self.refresh()
        return View(self._log, self._state)

    @property
    def name(self) -> str:
        """What people call it: the file's name."""
        return self._log.name

    @property
    def path(self) -> Path | None:
        """The file it is in; none where it is in memory."""
        return self._log.path if isinstance(self._log, SqliteLog) else None

    @property
    def pictures(self) -> Pictures:
        """The images that were sent to it, in a folder beside it."""
        return self._log.pictures

    def reachable(self) -> None:
        """An error where the log cannot be asked now, as one on a server that is away."""
        self._log.last()

    @property
    def register(self) -> Register:
        """The register as of the last event, to be asked and not to be changed."""
        return self.view().register

    def match(self, feature: NDArray[Any], content: bytes) -> Assignment:
        """What an image is; changes nothing. A person's word on this very image comes before the rule."""
        return self.view().match(feature, content)

    def recognise(self, content: bytes, source: str = "") -> Assignment | None:
        """The answer to an image that is here already: the one from this source, one a person placed, or the last."""
        return self.view().recognise(content, source)

    def assignment(self, number: int) -> Assignment:
        """An image as it stands: in the category it is in now, with what was measured unless it was moved since."""
        return self.view().assignment(number)

    def refresh(self) -> int:
        """Take in what was written since by whoever else writes; how many events that was."""
        with self._turn, one_thread(), sound(self._log.name):
            draft = Draft(self._log, self._state)
            for recorded in self._log.read(draft.start):
                draft.take(recorded)
            self._state, self._behind = draft.state(), False
            return draft.catalogue.last - draft.start

    @property
    def made_with(self) -> str:
        """The model it was made with as owner/name@commit, where that came from the hub; else nothing."""
        return str(self._log.header["model"]["origin"])

    def check_model(self, model: Provenance) -> None:
        """Refuse features of another model or another image path: they cannot be compared with what is here."""
        fingerprint, preprocess = self._made_by
        if fingerprint != model.fingerprint:
            theirs = self.made_with or str(fingerprint)[:12]
            raise Incompatible(
                f"{self.name} was written with another model ({theirs}; "
                f"this one is {model.origin or model.fingerprint[:12]}), whose features mean something else",
                "use that model",
                hint="model",
                log=self.name,
            )
        if preprocess != model.preprocess:
            raise Incompatible(
                f"{self.name} was written with version {preprocess} of the image path; "
                f"this is version {model.preprocess}, and a pixel of difference changes features",
                "use the release that wrote it",
                hint="release",
                log=self.name,
            )

    # ------------------------------------------------------------------ answering

    def record(self, arrivals: Sequence[Arrival], model: Provenance, once: bool = False) -> list[Assignment]:
        """Answer images in turn and keep the answers, all in one transaction.

        With `once`, an image whose content is here already is recognised: it is answered, and not counted again.
        """
        with self._turn, one_thread():
            group = Group(arrivals, self.encoder(model), once)
            recorded = self._commit(lambda draft: group.decide(View(self._log, self._state), draft), applied=False)
            self._keep_snapshot_when_due()
            view = self.view()
            return [view.named(answer) for answer in group.numbered(recorded)]

    # ------------------------------------------------------------------ correcting

    def edit(self, edit: Edit, by: By = None) -> list[Recorded]:
        """Several edits as one, all or none: `store.edit(lambda draft: [draft.merge(each, "ant") for each in ids])`.

        One undo takes all of them back. `by` is the name of whoever edits, here as in every verb. What is given the
        draft is run again if others wrote meanwhile.
        """
        with self._turn, one_thread():
            return self._commit(edit, by=by)

    def forget(self, images: Sequence[int], by: By = None) -> Recorded | None:
        """Remove where images came from, their content, time, place and camera, for good; the mark that is left.

        It cannot be undone. What the encoder made of them stays, and so do the categories. None where that was done.
        Pictures of them that are kept go first: were this broken off in between, the log still knows whose they are.
        """
        with self._turn:
            if self._log.writable:
                for content in unshared(self.view(), to_forget(self._log, images)):
                    self.pictures.remove(content)
            try:
                return self._log.forget(images, str(author(by)))
            finally:  # it may be done though old bytes could not be cleared
                self.refresh()

    # ------------------------------------------------------------------ keeping

    def verify(self, progress: Progress | None = None) -> None:
        """Check every event there is, and that they come to what this holds; Damaged where not."""
        self._log.verify(progress or Silent())
        if self.replay() != self.view().catalogue:
            raise damaged(self.name, "its snapshot says something else than its events")

    def back_up(self, path: Path | str, progress: Progress | None = None) -> None:
        """A copy as of now, checked, whoever is writing: a file, with the pictures that are kept, or on a server."""
        progress = progress or Silent()
        if not on_server(path):
            self._log.back_up(Path(path), progress)
            self.pictures.copy_to(beside(Path(path), "-images"))
            return
        copy = create_log(path, self._log.header)
        try:
            copy_events(self._log, copy, progress)
            copy.verify(progress)
        finally:
            copy.close()

    def replay(self) -> Catalogue:
        """The catalogue folded anew from the first event: what this store's must equal."""
        replayed = self._opened(None).catalogue
        for recorded in self._log.read(0, self.view().last):
            replayed.apply(recorded, self._log.event)
        return replayed

    def take_over(self, events: Sequence[Event], times: Sequence[int]) -> None:
        """Record events of another log, as they happened there."""
        with self._turn:
            self._commit(partial(_copied, events), times, applied=False)

    def encoder(self, model: Provenance) -> int:
        """The entry of the log for what makes features."""
        if model not in self._encoders:
            self.check_model(model)
            self._encoders[model] = self._log.encoder(model._asdict())
        return self._encoders[model]

    # ------------------------------------------------------------------ inside

    def _commit(
        self, make: Edit, times: Sequence[int] | None = None, applied: bool = True, by: By = None
    ) -> list[Recorded]:
        """Make a draft, append its events, and put it in the place of the state: all or nothing.

        `applied` is whether making the draft applied its events already.
        """
        for _ in range(PATIENCE):
            draft = Draft(self._log, self._state, by)
            make(draft)
            if not draft.events:
                return []
            try:
                recorded = self._log.append(draft.events, draft.start, times)
                for each in recorded:
                    if not applied:
                        draft.catalogue.apply(each, draft.fetch)
                    elif isinstance(each.event, Assigned):
                        draft.catalogue.date(each.number, each.at)
                self._state = draft.state()
                return recorded
            except Grown:  # others wrote meanwhile: follow them, and decide again
                self.refresh()
            except BaseException:  # the log may have it, or not
                self._behind = True
                raise
        raise Grown(f"{self.name} is being written by others all the time", "try again")

    def _keep_snapshot_when_due(self, eagerness: int = 1) -> None:
        """A snapshot only saves time, so one that cannot be kept is no fault."""
        state = self._state
        last = state.catalogue.last
        due = last - self._snapshot_at >= max(SNAPSHOT_EVERY, last // 10) / eagerness
        if due and self._log.writable:
            learned = None if state.built is None else state.built.learned()
            with suppress(DiskError, StoreError):
                self._log.keep_snapshot(Snapshot(last, snapshot.pack(state.catalogue, learned)))
                self._snapshot_at = last


def header_of(register: Register, model: Provenance) -> dict[str, Any]:
    """What a log says from the start: which register, of which model."""
    if not register.fresh:
        raise SettingsError(
            "a new store starts from a fresh register; this one has answered images already",
            "take a new one from the model: model.register()",
        )
    return {
        "firstsight": __version__,
        "model": {"fingerprint": model.fingerprint, "preprocess": model.preprocess, "origin": model.origin},
        "register": register.header(),
        "known": [[c.category, register.feature_bytes(c.feature).hex()] for c in register.known_centres()],
        "confident": register.confident,
    }


def _copied(events: Sequence[Event], draft: Draft) -> None:
    draft.events.extend(events)
    draft.built = None  # it has not followed them
