"""What a register of many images costs: opening, answering after an edit, looking, writing; and what durability costs.

    uv run python benchmarks/store.py [--images 100000,1000000] [--kind statistics] [--width 64] [--json FILE]

Two baselines are run side by side. Opening is compared with folding every event, and an answer after an edit with one
from a register that is built again from the log, which is what an edit would cost without `unlearn`. Above a million
images what reads every event is left out.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Candidate
from firstsight.core.codes import pack
from firstsight.core.protocols import Provenance, Register, Silent
from firstsight.register.codes import CodeRegister
from firstsight.register.spread import ENOUGH, Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.reproduce.provenance import provenance
from firstsight.store import views
from firstsight.store.connection import Sync
from firstsight.store.events import Assigned, Created, Event
from firstsight.store.reconsider import reconsider
from firstsight.store.store import Arrival, Store

MODEL = Provenance("0" * 64, 1, "cpu", "fp32")
CATEGORIES, BITS, RADIUS = 1_000, 64, 8
GROUP, EDITS, RECORDED = 4096, 9, 5120
FEW, MANY = 100_000, 1_000_000

OPENING = """
import resource, sys, time
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Store
rss = lambda: int(open('/proc/self/statm').read().split()[1]) * resource.getpagesize() / 1e6
if sys.argv[2] == 'fold': SqliteLog.snapshot = lambda self: None
before, began = rss(), time.perf_counter()
store = Store.open(sys.argv[1], write=False)
opened = time.perf_counter()
store.register
print(opened - began, time.perf_counter() - began, rss() - before)
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", default="100000,1000000")
    parser.add_argument("--kind", choices=("statistics", "codes"), default="statistics")
    parser.add_argument("--width", type=int, default=64, help="values of a feature")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    results = []
    for images in map(int, options.images.split(",")):
        with tempfile.TemporaryDirectory() as folder:
            print(f"\n{options.kind}, {images:,} images in {CATEGORIES:,} categories\n\n| what | figure |\n|---|---|")
            found = measured(Path(folder), images, World(options.kind, options.width))
            results.append({"images": images, "kind": options.kind, "width": options.width, **found})
    if options.json:
        options.json.write_text(json.dumps({"sizes": results, **asdict(provenance("cpu"))}, indent=1) + "\n")


def measured(folder: Path, images: int, world: World) -> dict[str, float]:
    path, found = folder / "many.db", {}

    def say(what: str, value: float, unit: str, note: str = "") -> None:
        found[what] = value
        print(f"| {what} | {value:,.3g} {unit}{note} |", flush=True)

    with Store.create(path, world.register(), MODEL, "normal") as store:
        some = min(RECORDED, images // 2)
        say("record, in groups of 256", some / seconds(lambda: world.record(store, some, 256)), "images/s")
        world.fill(store, images - some)
        store.register  # noqa: B018 - so that the snapshot has what it learned
    say("file, an image", path.stat().st_size / images, "bytes")
    quick = opening(path, "snapshot")
    say("open", quick[0], "s")
    say("open, and have the register", quick[1], "s", f", {quick[2]:.0f} MB of memory")
    if images <= MANY:
        whole = opening(path, "fold")
        say("open, folding every event", whole[1], "s", f", {whole[0] / quick[0]:.0f} times as long")
    with Store.open(path, sync="normal") as store:
        edits(store, world, say)
        view = store.view()
        say("unsure, the first 20", 1000 * seconds(lambda: view.confident and views.unsure(view, 0.5, 20)), "ms")
        say("count the images of all categories", 1000 * seconds(lambda: views.summaries(view)), "ms")
        if images <= FEW:
            say("reconsider everything", seconds(lambda: reconsider(view, Silent())), "s")
        if images <= MANY:
            say("verify", seconds(store.verify), "s")
    for sync in ("full", "normal"):
        with Store.create(folder / f"{sync}.db", world.register(), MODEL, as_sync(sync)) as store:
            took = seconds(partial(world.record, store, 300, 1))
            say(f"one at a time, synchronous={sync}", 300 / took, "images/s")
    return found


def edits(store: Store, world: World, say: Callable[..., None]) -> None:
    """An answer before an edit, the edit, the answer after it; and one from a register built again."""
    asked = world.features(1)[0]

    def ask() -> None:
        store.match(asked, b"?" * 32)

    ask()
    before = 1000 * median(seconds(ask) for _ in range(50))
    say("answer", before, "ms")
    again = 1000 * seconds(lambda: store._build(store.view().catalogue))
    say("build the register again", again, "ms")
    images, others = store.view().images("new-3"), [each.id for each in views.summaries(store.view())][4:]
    times = max(1, min(EDITS, len(others), len(images) // 4))
    kinds: dict[str, Callable[[int], object]] = {
        "rename": lambda i: store.rename("new-1", f"moth {i}"),
        "move an image": lambda i: store.move([images[i]], "new-1"),
        "confirm an image": lambda i: store.confirm([images[times + i]]),
        "split off two images": lambda i: store.split(images[2 * times + 2 * i :][:2]),
        "merge": lambda i: store.merge(others[i], "new-1"),
        "undo": lambda i: store.undo(),
    }
    for what, edit in kinds.items():
        edited, after = [], []
        for i in range(times):
            edited.append(1000 * seconds(partial(edit, i)))
            after.append(1000 * seconds(ask))
        say(what, median(edited), "ms")
        more = max(0.0, median(after) - before)
        say(f"answer after it ({what}), more than before", more, "ms", f", {again / max(more, 1e-3):,.0f} times less")


class World:
    """Images of categories that are all new, as a register of a kind sees them."""

    def __init__(self, kind: str, width: int) -> None:
        self.kind = kind
        self.rng = np.random.default_rng(0)
        codes = pack(self.rng.integers(0, 2, size=(CATEGORIES, BITS), dtype=np.int8))
        means = 3 * self.rng.standard_normal((CATEGORIES, width))
        self.centres: NDArray[Any] = codes if kind == "codes" else means
        self.counts = np.zeros(CATEGORIES)
        self.names: dict[int, str] = {}

    def register(self) -> Register:
        if self.kind == "codes":
            return CodeRegister(BITS, RADIUS)
        width = self.centres.shape[1]
        spread = Spread(np.ones(width), np.full(width, 9.0), 6.0)
        return StatisticsRegister(spread, [], np.zeros(0), np.zeros((0, width)))

    def features(self, count: int) -> NDArray[Any]:
        return self._of(self.rng.integers(0, CATEGORIES, count))

    def _of(self, labels: NDArray[Any]) -> NDArray[Any]:
        features: NDArray[Any] = self.centres[labels]
        if self.kind == "codes":
            features[:, 0] ^= np.uint64(1) << self.rng.integers(0, BITS, len(labels)).astype(np.uint64)
            return np.asarray(features)
        return np.asarray(features + self.rng.standard_normal(features.shape), dtype=np.float32)

    def record(self, store: Store, images: int, group: int) -> None:
        """Answer so many, each category at least five times first."""
        labels = np.concatenate([np.tile(np.arange(CATEGORIES), 5), self.rng.integers(0, CATEGORIES, images)])[:images]
        for start in range(0, images, group):
            features = self._of(labels[start : start + group])
            digests = self.rng.bytes(32 * len(features))
            arrivals = [
                Arrival(f"camera-{i % 7}/2026/{start + i:08d}.jpg", digests[32 * i : 32 * i + 32], feature)
                for i, feature in enumerate(features)
            ]
            answers = store.record(arrivals, MODEL)
            for label, answer in zip(labels[start : start + group].tolist(), answers, strict=True):
                self.names.setdefault(label, str(answer.category))
                self.counts[label] += 1

    def fill(self, store: Store, images: int) -> None:
        """So many more, as if they had been answered: deciding a million images is not what is measured here."""
        encoder = store.encoder(MODEL)
        for start in range(0, images, GROUP):
            labels = self.rng.integers(0, CATEGORIES, min(GROUP, images - start))
            events = list(self._events(labels, encoder))
            store.take_over(events, [1_700_000_000_000_000 + start] * len(events))

    def _events(self, labels: NDArray[Any], encoder: int) -> Iterator[Event]:
        sure = self.rng.random(len(labels))
        for i, (label, feature) in enumerate(zip(labels.tolist(), self._of(labels), strict=True)):
            category, content = self.names.get(label, f"new-{len(self.names) + 1}"), self.rng.bytes(32)
            raw = feature.tobytes()
            if label not in self.names:
                self.names[label] = category
                yield Created(category, raw)
            lesson = bool(self.counts[label] < ENOUGH)
            self.counts[label] += lesson
            other = Candidate("new-1", 9.0)
            confidence = None if self.kind == "codes" else float(sure[i])
            answer = Assignment(category, True, False, 1.0, 0.0, other, confidence=confidence, lesson=lesson)
            yield Assigned.of(answer, f"camera-{i % 7}/2026/{i:08d}.jpg", encoder, raw, content)


def opening(path: Path, how: str) -> list[float]:
    """Seconds to open, to have the register too, and megabytes, in a process of its own."""
    command = [sys.executable, "-c", OPENING, str(path), how]
    return [float(each) for each in subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()]


def as_sync(name: str) -> Sync:
    return "full" if name == "full" else "normal"


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
