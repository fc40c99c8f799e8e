"""Services of one register as processes that can be killed, stalled and restarted, and clients that never give up.

A process loads the model once and forks a service whenever it is told to, so that one starts in a moment:

    python tests/serve/several.py MODEL LEASE
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from threading import Event
from typing import NamedTuple

import httpx
from served import jpeg

from firstsight.core.errors import FirstsightError
from firstsight.model.folder import load_model
from firstsight.serve.run import serve
from firstsight.serve.settings import ServeSettings
from firstsight.store import writing
from firstsight.store.store import Store
from swatches import COLOURS

PATIENCE = 60.0  # seconds after which something has gone wrong


class Process(NamedTuple):
    pid: int
    address: str

    def role(self) -> str:
        """Writer, follower, or nothing where it does not say."""
        with suppress(httpx.TransportError, KeyError, ValueError):
            return str(httpx.get(f"{self.address}/health", timeout=1).json()["role"])
        return ""

    def signal(self, what: signal.Signals) -> None:
        os.kill(self.pid, what)


@dataclass
class Several:
    """Services of a register that are running."""

    forking: subprocess.Popen[str]
    register: str
    running: list[Process] = field(default_factory=list)

    def start(self, port: int = 0) -> Process:
        assert self.forking.stdin is not None
        assert self.forking.stdout is not None
        print(port, self.register, file=self.forking.stdin, flush=True)
        while not (said := self.forking.stdout.readline()).startswith("serves "):
            assert said, "the process that forks has ended"
        _, pid, address = said.split()
        self.running.append(Process(int(pid), address))
        return self.running[-1]

    def end(self, process: Process, how: signal.Signals = signal.SIGTERM) -> int:
        """Wait until it is gone; the port it had."""
        process.signal(how)
        until(lambda: not _is_there(process.pid))
        self.running.remove(process)
        return int(process.address.rpartition(":")[2])

    def writer(self) -> Process:
        """The one that writes, as soon as one does."""
        found: list[Process] = []

        def one_does() -> bool:
            found.extend(each for each in self.running if each.role() == "writer")
            return bool(found)

        until(one_does)
        return found[0]


@contextmanager
def forking(model: Path, lease: float = 2.0) -> Iterator[subprocess.Popen[str]]:
    """What makes services; a writer that shows no sign of life for `lease` seconds loses its place."""
    command = [sys.executable, __file__, str(model), str(lease)]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "OMP_NUM_THREADS": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, text=True, env=environment, **pipes) as process:  # type: ignore[call-overload]
        try:
            yield process
        finally:
            process.kill()


@contextmanager
def several(forking: subprocess.Popen[str], register: str, number: int) -> Iterator[Several]:
    """So many services of a register; what is left of them in the end is killed."""
    made = Several(forking, register)
    try:
        for _ in range(number):
            made.start()
        yield made
    finally:
        for each in made.running:
            with suppress(ProcessLookupError):
                each.signal(signal.SIGKILL)


@dataclass
class Load:
    """Clients that send one image after another, each to any service until one answers."""

    services: Several
    answered: dict[str, int] = field(default_factory=dict)  # the image's number, by its key
    longest: float = 0.0  # seconds that an answer took
    _keys: Iterator[int] = field(default_factory=count)
    _over: Event = field(default_factory=Event)

    @contextmanager
    def running(self, clients: int) -> Iterator[None]:
        with ThreadPoolExecutor(clients) as pool:
            sending = [pool.submit(self._send, number) for number in range(clients)]
            try:
                yield
            finally:
                self._over.set()
            for each in sending:
                each.result()

    def more(self, answers: int) -> None:
        """Wait until so many more are answered."""
        enough = len(self.answered) + answers
        until(lambda: len(self.answered) >= enough)

    def _send(self, client: int) -> None:
        before = 0
        with httpx.Client(timeout=10) as http:
            while not self._over.is_set():
                key = f"{client}-{next(self._keys)}"
                began = time.monotonic()
                number = self._answer(http, key, client)
                assert number > before, "an image that was sent later came earlier"
                before = self.answered[key] = number
                self.longest = max(self.longest, time.monotonic() - began)

    def _answer(self, http: httpx.Client, key: str, client: int) -> int:
        image, until = image_of(key), time.monotonic() + PATIENCE
        for turn in count(client):
            assert time.monotonic() < until, f"{key} is not answered"
            if running := list(self.services.running):
                with suppress(httpx.TransportError):
                    said = http.post(
                        f"{running[turn % len(running)].address}/api/discover",
                        content=image,
                        headers={"Idempotency-Key": key},
                        params={"name": key},
                    )
                    if said.status_code == 200:
                        return int(said.json()["answers"][0]["answer"]["image"])
                    assert said.status_code == 503, said.text
            time.sleep(0.02)
        raise AssertionError("it counts for ever")


def image_of(key: str) -> bytes:
    """An image of its own, of one of eight colours."""
    return jpeg(list(COLOURS)[sum(key.encode()) % 8]) + key.encode()


def check(register: str, load: Load) -> None:
    """All that was answered is in the register, once, and in order; and the register is sound."""
    with Store.open(register, write=False) as store:
        view = store.view()
        sources = {view.assigned(number).source: number for number in view.images()}
        assert len(sources) == len(view.images()), "an image is there twice"
        assert {f"upload:{key}": number for key, number in load.answered.items()} == sources
        assert [each.number for each in view.events()] == list(range(1, view.last + 1))
        store.verify()
        if store.pictures.folder is not None:
            assert all(store.pictures.path(view.assigned(number).content) for number in view.images())


def until(so: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE
    while not so():
        assert time.monotonic() < end, "it did not come to that"
        time.sleep(0.02)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def fork(model: Path, lease: float) -> None:
    """A service for every line: the port it is to have, and its register."""
    writing.LEASE, writing.SIGNS = lease, lease / 5
    loaded = load_model(model, "cpu")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # those that end are gone
    for line in iter(sys.stdin.readline, ""):
        if os.fork() == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            port, register = line.split()
            settings = ServeSettings(port=int(port))
            try:
                serve(lambda: loaded, register, settings, lambda at: print("serves", os.getpid(), at, flush=True))
            except FirstsightError as error:
                print(error, file=sys.stderr, flush=True)
            os._exit(0)


if __name__ == "__main__":
    fork(Path(sys.argv[1]), float(sys.argv[2]))
