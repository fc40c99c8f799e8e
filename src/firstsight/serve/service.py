"""The service: everything a route may do, and nothing of HTTP.

A model, a register that is written here and nowhere else, the pictures beside it, and the threads that answer.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from hashlib import sha256

from firstsight.core.assignments import Assignment
from firstsight.core.errors import BadImages, Conflict, ImageError
from firstsight.data.ahead import or_error
from firstsight.discoverer import Discoverer, Given, Prepared
from firstsight.encode.many import group_size
from firstsight.evidence.mapped import Map
from firstsight.model.model import Model
from firstsight.serve.metrics import Metrics
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
        self._counting = Discoverer(model, store=store, metadata=settings.metadata)
        self._recognising = Discoverer(model, store=store, metadata=settings.metadata, once=True)
        self._deciding = {each: partial(self._decided, each) for each in (self._counting, self._recognising)}
        self.worker = Worker(self._counting.encode, group_size(model), settings.queue)

    def view(self) -> View:
        """Everything as of now; it stays as it is."""
        return self.store.view()

    def close(self) -> None:
        """Answer what was accepted, and let go of the register."""
        self.worker.close()
        self.map.close(self.view())
        self.store.close()

    def predict(self, given: Sequence[Given]) -> list[Answer]:
        """What each of these is; nothing is recorded."""
        prepare = [self._counting.prepare] * len(given)
        return self._watched(self.worker.submit(given, prepare, self._counting.match))

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
        self._check_key(prepared, {})
        if isinstance(given, Upload):
            self._keep(given)
        return prepared

    def _decided(self, discoverer: Discoverer, group: list[Prepared]) -> list[Assignment | Conflict]:
        """Answers of the one thread that records, which alone knows what came with a key by then."""
        came: dict[str, bytes] = {}
        answers: list[Assignment | Conflict | None] = []
        for each in group:
            try:
                self._check_key(each, came)
                answers.append(None)
            except Conflict as conflict:
                answers.append(conflict)
        good = [each for each, conflict in zip(group, answers, strict=True) if conflict is None]
        decided = iter(discoverer.decide(good) if good else ())
        return [next(decided) if each is None else each for each in answers]

    def _check_key(self, prepared: Prepared, came: dict[str, bytes]) -> None:
        """Conflict where another image came with this key before."""
        if not prepared.key:
            return
        before = self.view().keyed(prepared.key)
        content = came.setdefault(prepared.key, prepared.content) if before is None else self._content(before)
        if content not in (prepared.content, b""):
            raise Conflict("this idempotency key came with another image before", "use a key for one request only")

    def _content(self, image: int) -> bytes:
        return self.view().assigned(image).content

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
