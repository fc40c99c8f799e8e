"""What sharing a register costs: events a second in PostgreSQL against SQLite, one at a time and in groups, in one run.

    uv run --all-extras python benchmarks/shared.py [--seconds 3] [--rounds 3] [--server ADDRESS] [--json FILE]

Both keep every event for good before it is acknowledged: SQLite with synchronous=full, PostgreSQL with fsync. They take
turns, round by round, on the same features. Deciding is in both, and appending alone is shown beside it. Without an
address, a server is started from installed binaries, on this machine and its disk, by a local socket.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from common import keep, show
from firstsight.store.events import Renamed
from firstsight.store.store import Store
from postgres import Server
from store import MODEL, World

GROUPS = (1, 16, 256)
KINDS = ("SQLite", "PostgreSQL")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--server")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    rounds: list[dict[str, float]] = []
    with tempfile.TemporaryDirectory() as folder, _server(options.server) as address:
        for number in range(options.rounds):
            where = {"SQLite": f"{folder}/{number}.db", "PostgreSQL": address(f"round{number}_{os.getpid()}")}
            rounds.append(measured(where, options.seconds))
    report(rounds)
    keep(options.json, "cpu", {"rounds": rounds})


def measured(where: dict[str, str], seconds: float) -> dict[str, float]:
    """Events a second of each, by what was done."""
    found = {}
    worlds = {kind: World("statistics", 64) for kind in KINDS}
    stores = {kind: Store.create(where[kind], worlds[kind].register(), MODEL) for kind in KINDS}
    try:
        for group in GROUPS:
            for kind in KINDS:
                work = partial(worlds[kind].record, stores[kind], group, group)
                found[f"{kind} images {group}"] = rate(stores[kind], work, seconds)
        for group in GROUPS:
            for kind in KINDS:
                found[f"{kind} appending {group}"] = rate(stores[kind], partial(append, stores[kind], group), seconds)
    finally:
        for store in stores.values():
            store.close()
    return found


def append(store: Store, group: int) -> None:
    """Events that need no deciding, all at once."""
    store._log.append([Renamed("new-1", "one name", "another")] * group, store._log.last())


def rate(store: Store, work: Callable[[], object], seconds: float) -> float:
    """Events a second, after a first go that does not count."""
    work()
    before, began = store._log.last(), time.perf_counter()
    while time.perf_counter() - began < seconds:
        work()
    return (store._log.last() - before) / (time.perf_counter() - began)


@contextmanager
def _server(given: str | None) -> Iterator[Callable[[str], str]]:
    """What gives a register's address by its name."""
    if given is not None:
        yield lambda name: f"{given}{'&' if '?' in given else '?'}register={name}"
        return
    server = Server(durable=True)
    try:
        yield server.address
    finally:
        server.close()


def report(rounds: list[dict[str, float]]) -> None:
    rows = []
    for what in ("images", "appending"):
        for group in GROUPS:
            file, server = (f"{kind} {what} {group}" for kind in KINDS)
            ratio = median(each[server] / each[file] for each in rounds)
            rates = (median(each[name] for each in rounds) for name in (file, server))
            said = "one at a time" if group == 1 else f"in groups of {group}"
            rows.append([f"{what}, {said}", *(f"{each:,.0f}" for each in rates), f"{ratio:.2f}"])
    show(
        f"events a second, the median of {len(rounds)} rounds",
        ("what", *KINDS, "PostgreSQL / SQLite"),
        rows,
    )


if __name__ == "__main__":
    main()
