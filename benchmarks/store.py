"""What a register of a million events costs: writing, opening, memory, editing; and what durability costs.

uv run python benchmarks/store.py [EVENTS]
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from firstsight.core.codes import pack
from firstsight.core.protocols import Provenance
from firstsight.register.codes import CodeRegister
from firstsight.store.connection import Sync
from firstsight.store.store import Arrival, Store

MODEL = Provenance("0" * 64, 1, "cpu", "fp32")
CATEGORIES, BITS, RADIUS = 1_000, 64, 8


def main() -> None:
    events = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "million.db"
        print("| what | figure |\n|---|---|")
        began = time.perf_counter()
        fill(path, events, group=256)
        took = time.perf_counter() - began
        line("write, in groups of 256", f"{took:.1f} s, {events / took:,.0f} images/s")
        line("file", f"{path.stat().st_size / 1e6:.0f} MB, {path.stat().st_size / events:.0f} bytes an image")
        for what, snapshot in (("open, with its snapshot", True), ("open, folding from the start", False)):
            line(what, open_elsewhere(path, snapshot))
        edit(path)
        for sync in ("full", "normal"):
            durability(Path(folder) / f"{sync}.db", sync)


def fill(path: Path, events: int, group: int, sync: Sync = "normal") -> None:
    rng = np.random.default_rng(0)
    centres = pack(rng.integers(0, 2, size=(CATEGORIES, BITS), dtype=np.int8))
    with Store.create(path, CodeRegister(BITS, RADIUS), MODEL, sync) as store:
        for start in range(0, events, group):
            count = min(group, events - start)
            rows = centres[rng.integers(0, CATEGORIES, count)]
            rows[:, 0] ^= np.uint64(1) << rng.integers(0, BITS, count).astype(np.uint64)
            digests = rng.bytes(32 * count)
            store.record(
                [
                    Arrival(f"camera-{i % 7}/2026/{start + i:08d}.jpg", digests[32 * i : 32 * i + 32], row)
                    for i, row in enumerate(rows)
                ],
                MODEL,
            )


def open_elsewhere(path: Path, snapshot: bool) -> str:
    """Opening in a process of its own, so that its memory is its own."""
    script = (
        "import resource, sys, time\n"
        "from firstsight.store.store import Store\n"
        "from firstsight.store.sqlite import SqliteLog\n"
        "rss = lambda: int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize() / 1e6\n"
        "before = rss()\n"
        f"if not {snapshot}: SqliteLog.snapshot = lambda self: None\n"
        "began = time.perf_counter()\n"
        "store = Store.open(sys.argv[1], write=False)\n"
        "store.register\n"
        "took = time.perf_counter() - began\n"
        "print(f'{took:.1f} s, {rss() - before:.0f} MB of memory')\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    ).stdout.strip()


def edit(path: Path) -> None:
    with Store.open(path) as store:
        images = store.view().catalogue.images("new-3")
        for what, work in (
            ("rename", lambda: store.rename("new-1", "moth")),
            ("merge", lambda: store.merge("new-2", "new-1")),
            ("move an image", lambda: store.move(images[:1], "new-1")),
            ("split off ten images", lambda: store.split(images[1:11])),
            ("undo", store.undo),
            ("count the images of all categories", lambda: store.view().catalogue.columns()),
        ):
            began = time.perf_counter()
            work()
            store.register  # noqa: B018 - it follows an edit when it is asked for
            line(what, f"{(time.perf_counter() - began) * 1000:.0f} ms")


def durability(path: Path, sync: Sync) -> None:
    """One image at a time, each acknowledged when it is on the disk."""
    count = 500
    began = time.perf_counter()
    fill(path, count, group=1, sync=sync)
    line(f"one at a time, synchronous={sync}", f"{count / (time.perf_counter() - began):,.0f} images/s")


def line(what: str, figure: str) -> None:
    print(f"| {what} | {figure} |", flush=True)


if __name__ == "__main__":
    main()
