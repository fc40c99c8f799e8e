"""One of several services of a register: it records where it writes, and sends to whoever does where it does not.

Images come encoded and with a key, so that they can be sent again until somebody has recorded them. Nobody waits long
for a writer that does not come: images are refused then, to be sent again later.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import uuid4

import httpx

from firstsight.client.transport import checked
from firstsight.core.errors import Locked, ReadOnly, Unreachable
from firstsight.core.protocols import Provenance
from firstsight.serve.between import wire
from firstsight.serve.between.seals import Seals
from firstsight.serve.between.standing import Standing
from firstsight.serve.between.wire import Group, Outcome
from firstsight.serve.problems import Refused
from firstsight.serve.recording import Recording
from firstsight.serve.worker import Busy
from firstsight.store.groups import Arrival

RECORD = "/api/between/record"
LAST = "X-Firstsight-Last"  # the last event of whoever answers
AGAIN = 0.2  # seconds between two tries
RETRY = 5  # seconds after which to come again where nobody writes
CONNECT, READ, EDIT = 2.0, 5.0, 120.0  # seconds for a writer to take a call, to record images, to make an edit

Made = TypeVar("Made")


class NoWriter(Busy):
    """Nobody writes the register now whom this service can reach."""

    def __init__(self, what: str) -> None:
        super().__init__(what, RETRY)


class Sharing:
    """Has images recorded and edits made, wherever the writer is. Threads may share one."""

    def __init__(self, recording: Recording, standing: Standing, seals: Seals, patience: float) -> None:
        self.recording, self.standing, self.seals, self.patience = recording, standing, seals, patience
        self.forwarded = 0  # images
        self._away: float | None = None  # since when nobody writes
        self._http = httpx.Client(timeout=httpx.Timeout(READ, connect=CONNECT), trust_env=False)

    def close(self) -> None:
        self.standing.stop()
        self._http.close()

    # ------------------------------------------------------------------ images

    def record(self, arrivals: Sequence[Arrival], model: Provenance, once: bool) -> list[Outcome]:
        """What each of these is, kept before this returns; NoWriter where nobody could be found to keep it."""
        keyed = [each if each.key else replace(each, key=uuid4().hex) for each in arrivals]
        return self._patiently(lambda: self._record(Group(keyed, model, once)))

    def recorded_here(self, group: Group) -> wire.Recorded:
        """The same for another service; never sent on, so that nothing goes round in circles."""
        with self.standing.held() as here:
            if not here:
                raise NoWriter("this service does not write the register")
            outcomes = self.recording.record(*group)
            return wire.Recorded(list(outcomes), self.standing.store.view().last)

    def _record(self, group: Group) -> list[Outcome]:
        with self.standing.held() as here:
            if here:
                return list(self.recording.record(*group))
        try:
            response = self._send("POST", RECORD, "application/json", wire.to_record(group), None, READ)
        except httpx.TransportError as error:
            raise NoWriter(f"the service that writes does not answer: {error or type(error).__name__}") from None
        if response.status_code in (401, 403, 404, 421, 503):
            raise NoWriter(f"the service that writes says: {_detail(response)}")
        recorded = wire.from_recorded(checked(response).json(), group.arrivals)
        self.forwarded += len(group.arrivals)
        self.standing.follow(recorded.last)
        return recorded.outcomes

    # ------------------------------------------------------------------ edits

    def edit(self, method: str, target: str, kind: str, body: bytes, by: str | None) -> httpx.Response | None:
        """What the writer makes of an edit; None where this service writes by now, and is to make it itself.

        An edit has no key. One that may have arrived is not sent again: whoever asked is told so.
        """
        return self._patiently(lambda: self._edit(method, target, kind, body, by))

    def _edit(self, method: str, target: str, kind: str, body: bytes, by: str | None) -> httpx.Response | None:
        if self.standing.writes:
            return None
        try:
            response = self._send(method, target, kind, body, by, EDIT, fresh=True)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise NoWriter(f"the service that writes does not answer: {error or type(error).__name__}") from None
        except httpx.TransportError as error:
            what = f"the answer of the service that writes was lost: {error or type(error).__name__}"
            raise Refused(504, what, "look at the history: the edit may have been made, or not") from None
        if response.status_code in (401, 421, 503):
            raise NoWriter(f"the service that writes says: {_detail(response)}")
        self.standing.follow(int(response.headers.get(LAST, 0)))
        return response

    # ------------------------------------------------------------------ inside

    def _patiently(self, work: Callable[[], Made]) -> Made:
        """Until it is done, or nobody has written for too long."""
        while True:
            try:
                made = work()
                self._away = None
                return made
            except (NoWriter, Unreachable, ReadOnly, Locked) as error:
                since = self._away = self._away or time.monotonic()
                if time.monotonic() - since > self.patience:
                    raise NoWriter(f"nothing can be recorded for {self.patience:g} s now: {error.what}") from None
            self.standing.pause(AGAIN)

    def _send(
        self, method: str, target: str, kind: str, body: bytes, by: str | None, seconds: float, fresh: bool = False
    ) -> httpx.Response:
        url = httpx.URL(f"{self._writer()}{target}")  # which may write it otherwise: what is sent is sealed
        sealed = (method, url.netloc.decode(), url.raw_path.decode(), kind, body, by)
        headers = {"Content-Type": kind, **self.seals.headers(*sealed)}
        if fresh:  # a connection that was kept may be closed as it is used, and nobody could say what arrived
            headers["Connection"] = "close"
        limits = httpx.Timeout(seconds, connect=CONNECT)
        return self._http.request(method, url, content=body, headers=headers, timeout=limits)

    def _writer(self) -> str:
        """The address of the service that writes; NoWriter where there is none, or none to be believed."""
        holder = self.standing.log.holder()
        if not holder.said.address:
            who = f"{holder.name} does, or did last" if holder.name else "nobody did yet"
            raise NoWriter(f"no service writes {self.standing.store.name}: {who}")
        if holder.said == self.standing.said:
            what = f"no other service writes {self.standing.store.name}"
            raise NoWriter(f"{what}; on several machines each is reached at an address of its own, see --advertise")
        try:
            return self.seals.address(holder.said)
        except ValueError as error:
            what = f"{holder.name} says that it writes, and is reached at {holder.said.address!r}"
            raise NoWriter(f"{what}, which is not believed: {error}") from None


def _detail(response: httpx.Response) -> str:
    try:
        return str(response.json()["detail"])
    except (ValueError, KeyError, TypeError):
        return f"{response.status_code}"
