"""Kill a store at random moments, again and again, and see what is left.

    uv run python tests/store/crash.py 200
    uv run python tests/store/crash.py 50 server

A child discovers and edits, and says on a pipe what was acknowledged to it; the parent kills it with SIGKILL. After
every kill the file must open, hold every acknowledged event as it was acknowledged, hold no image twice, though many
are sent again under their keys, and its register must answer as one replayed from the first event. No torch is
imported.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import select
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where tests have it

from tiny_store import BITS, KINDS, MODEL, Kind, arrival, feature, fresh

from firstsight.core.errors import FirstsightError
from firstsight.store import store as store_module
from firstsight.store.events import Assigned, to_columns
from firstsight.store.opening import is_there, on_server
from firstsight.store.store import Arrival, Store
from postgres import Server


def main(kills: int, kind: Kind, where: str = "file", seed: int = 0) -> None:
    store_module.SNAPSHOT_EVERY = 25  # so that kills fall into snapshots too
    moments = random.Random(seed)
    acknowledged: dict[int, str] = {}
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, _server(where) as server:
        path = str(Path(folder) / "crash.db") if server is None else server.address("crash")
        kill, longest = 0, 0.2
        while kill < kills or len(acknowledged) <= 2 * kills:
            acknowledged |= run_and_kill(path, kind, seed=kill, after=moments.uniform(0.0, longest))
            if is_there(path):
                check(path, kind, acknowledged)
            kill += 1
            longest *= 1 if kill < kills else 2  # where the machine is so busy that the children hardly come to work
        with Store.open(path) as store:
            events, images = store.view().last, len(store.view().catalogue.numbers)
    assert "torch" not in sys.modules
    took = time.monotonic() - began
    print(f"{kills} kills of {kind} in {took:.0f} s: {len(acknowledged):,} acknowledged events, all there;")
    print(f"{events:,} in the log; {images:,} images, none twice; the register equalled its replay after each kill")


@contextmanager
def _server(where: str) -> Iterator[Server | None]:
    """A server of PostgreSQL of its own that waits for the disk, where that is to be tried."""
    if where == "file":
        yield None
        return
    with closing(Server(durable=True)) as server:
        yield server


def run_and_kill(path: str, kind: Kind, seed: int, after: float) -> dict[int, str]:
    """Let a child work for a while; the events it was told are safe, by number."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        work(path, kind, seed, writing)
        os._exit(1)  # it works until it is killed
    os.close(writing)
    if on_server(path) and seed % 4:  # every fourth is killed at whatever it does to begin with
        select.select([reading], [], [], 10)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the child failed by itself"
    with os.fdopen(reading, "rb") as pipe:
        lines = pipe.read().splitlines(keepends=True)
    return {int(n): text for line in lines if line.endswith(b"\n") for n, text in json.loads(line)}


def work(path: str, kind: Kind, seed: int, pipe: int) -> None:
    """Discover and edit without end, saying what was acknowledged only once it was."""
    rng = random.Random(seed)
    count = 0
    store = Store.open(path, wait=5) if is_there(path) else Store.create(path, fresh(kind), MODEL, wait=5)
    while True:
        before = store.view().last
        try:
            if rng.random() < 0.6:
                names = [f"{seed}-{count + i}" for i in range(rng.randint(1, 5))]
                count += len(names)
                names += [f"{rng.randint(max(0, seed - 1), seed)}-{rng.randrange(count)}" for _ in range(2)]
                store.record([sent(name, kind) for name in rng.sample(names, len(names))], MODEL)
            else:
                edit(store, rng)
        except FirstsightError:
            continue  # an edit that is not possible now
        lines = [(each.number, fingerprint(store, each.number)) for each in store.view().events(before)]
        os.write(pipe, json.dumps(lines).encode() + b"\n")


def sent(name: str, kind: Kind) -> Arrival:
    """An image whose name says what it shows, by itself or again."""
    return replace(arrival(hashlib.sha256(name.encode()).digest()[0], name, kind), key=name)


def edit(store: Store, rng: random.Random) -> None:
    ids = [category.id for category in store.view().catalogue.live()]
    images = store.view().catalogue.numbers.values().tolist() or [1]
    match rng.randrange(8):
        case 0:
            store.rename(rng.choice(ids), f"name {rng.randrange(1000)}")
        case 1:
            store.merge(rng.choice(ids), rng.choice(ids))
        case 2:
            store.split(rng.sample(images, min(2, len(images))))
        case 3:
            store.move(rng.sample(images, 1), rng.choice(ids))
        case 4:
            store.confirm(rng.sample(images, 1))
        case 5:
            store.change_radius(rng.randrange(3))
        case 6:
            store.undo(*([rng.randint(1, max(1, store.view().last))] if rng.random() < 0.5 else []))
        case 7:
            store.redo()


def check(path: str, kind: Kind, acknowledged: dict[int, str]) -> None:
    with Store.open(path, wait=5) as store:
        for number, text in acknowledged.items():
            assert fingerprint(store, number) == text, f"event {number} is not what was acknowledged"
        events = list(store.view().events())
        assert [each.number for each in events] == list(range(1, len(events) + 1))
        contents = [each.event.content for each in events if isinstance(each.event, Assigned)]
        assert len(set(contents)) == len(contents), "an image was recorded twice"
        replayed = store.replay()
        assert replayed == store.view().catalogue, "the snapshot and the replay differ"
        store.verify()
        built = store._build(replayed)
        for value in range(0, 1 << BITS, 3):
            asked = feature(value, kind)
            assert store.register.match(asked) == built.match(asked), "the register is not the replay"


def fingerprint(store: Store, number: int) -> str:
    """All of an event, briefly."""
    recorded = store.view().event(number)
    return hashlib.sha256(repr((recorded.at, to_columns(recorded.event))).encode()).hexdigest()[:16]


if __name__ == "__main__":
    for each in KINDS:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10, each, "server" if "server" in sys.argv else "file")
