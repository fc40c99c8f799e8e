"""The service: everything a route may do, and nothing of HTTP.

A model, a register, the pictures beside it, and the threads that answer. A register in a file is written here and
nowhere else; one on a server may have several services, of which one writes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress
from functools import partial
from hashlib import sha256

from firstsight.core.assignments import Assignment
from firstsight.core.errors import BadImages, FirstsightError, ImageError, StoreError
from firstsight.data.ahead import or_error
from firstsight.discoverer import Discoverer, Given, Prepared
from firstsight.encode.many import group_size
from firstsight.evidence.mapped import Map
from firstsight.model.model import Model
from firstsight.serve.between.seals import Seals
from firstsight.serve.between.sharing import Sharing
from firstsight.serve.between.standing import Standing
from firstsight.serve.metrics import Metrics
from firstsight.serve.recording import Recording
from firstsight.serve.security import services_secrets
from firstsight.serve.settings import ServeSettings
from firstsight.serve.uploads import Upload
from firstsight.serve.worker import Answer, Worker
from firstsight.store.store import Store
from firstsight.store.view import View


class Service:
    """Answers images and features, keeps what it answers, and lets people correct it."""

    def __init__(self, model: Model, store: Store, settings: ServeSettings) -> None:
        self.model, self.store, self.settings = model, store, settings
        self.metrics = Metrics(self)
        self.map = Map(store.path)
        self.started = time.time()
        self.ending = False
        self.listening = 0  # streams of events there are
        self.recording = Recording(store)
        self.sharing = self._shared()
        self._counting = Discoverer(model, store=store, metadata=settings.metadata)
        self._recognising = Discoverer(model, store=store, metadata=settings.metadata, once=True)
        self._deciding = {each: partial(self._decided, each) for each in (self._counting, self._recognising)}
        self.worker = Worker(self._counting.encode, group_size(model), settings.queue)

    def _shared(self) -> Sharing | None:
        if (shared := self.store.shared) is None:
            return None
        given = self.settings.tokens
        seals = Seals([shared.secret] if given is None else services_secrets(given), local=given is None)
        standing = Standing(self.store, shared, seals.of_address(self.settings.reached_at))
        standing.start()
        return Sharing(self.recording, standing, seals, self.settings.takeover)

    @property
    def writes(self) -> bool:
        """Whether this service writes the register; another does where not."""
        return self.sharing is None or self.sharing.standing.writes

    def view(self) -> View:
        """Everything as of now; it stays as it is."""
        return self.store.view()

    def end(self) -> None:
        """It is told to end: streams end by themselves, and another service that stands by writes from now on."""
        self.ending = True
        if self.sharing is not None:
            self.sharing.standing.hand_over()

    def close(self) -> None:
        """Answer what was accepted, and let go of the register."""
        self.worker.close()
        if self.sharing is not None:
            self.sharing.close()
        with suppress(StoreError):  # a server that is away, which has everything
            self.map.close(self.view())
        self.store.close()

    def predict(self, given: Sequence[Given]) -> list[Answer]:
        """What each of these is; nothing is recorded."""
        prepare = [self._counting.prepare] * len(given)
        return self._watched(self.worker.submit(given, prepare, self._counting.match, pure=True))

    def discover(self, given: Sequence[Given], once: bool = False, key: str = "") -> list[Answer]:
        """What each of these is, kept before its answer is there.

        With `once`, those that the register holds are recognised. With a `key`, those that came with it before are
        not counted again, and have the answer they had.
        """
        discoverer = self._recognising if once else self._counting
        keys = [sha256(f"{key}/{i}".encode()).hexdigest() if key else "" for i in range(len(given))]
        prepare = [partial(self._prepared, discoverer, each) for each in keys]
        return self._watched(self.worker.submit(given, prepare, self._deciding[discoverer]))

    def teach(self, given: Sequence[Upload], labels: Sequence[str], by: str | None) -> list[Assignment]:
        """Add labelled images to known or new categories, all or none."""
        tried = map(or_error(self._counting.prepare), given)
        if bad := [each for each in tried if isinstance(each, ImageError)]:
            raise BadImages(bad)
        for each in given:
            self._keep(each)
        return self._counting.teach(given, labels, by)

    def _prepared(self, discoverer: Discoverer, key: str, given: Given) -> Prepared:
        prepared = discoverer.prepare(given)._replace(key=key)
        self.recording.check(key, prepared.content)
        if isinstance(given, Upload):
            self._keep(given)
        return prepared

    def _decided(self, discoverer: Discoverer, group: list[Prepared]) -> list[Assignment | FirstsightError]:
        """Answers of the one thread that records, here or wherever the register is written."""
        known, arrivals = discoverer.arrivals(group)
        record = self.recording.record if self.sharing is None else self.sharing.record
        fresh = iter(record(arrivals, self.model.provenance, discoverer.once) if arrivals else ())
        return [next(fresh) if each is None else each for each in known]

    def _keep(self, given: Upload) -> None:
        """The picture as it came, before anything is said of it."""
        if self.settings.store_images and self.store.pictures.folder is not None:
            digest = sha256(given.content).digest()
            self.store.pictures.put(given.content, digest, withheld=not self.settings.metadata)

    def _watched(self, answers: list[Answer]) -> list[Answer]:
        began = time.monotonic()
        for each in answers:
            each.add_done_callback(partial(self.metrics.answered, began))
        return answers
