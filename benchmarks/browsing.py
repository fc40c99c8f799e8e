"""What a page of the service costs to ask for, by the number of images: each question of `store.browse`.

    uv run python benchmarks/browsing.py [--images 100000] [--categories 10000] [--json FILE]

The baseline is what a page would do without it: all categories summed up, all images read, then cut to the page.
`anew` is after an image has come, when the columns of that moment are made again; `again` is the same moment.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import hashlib
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np

from firstsight.core.protocols import Provenance
from firstsight.register.codes import CodeRegister
from firstsight.store import browse, views
from firstsight.store.events import Assigned, Created, Event
from firstsight.store.store import Arrival, Store
from firstsight.store.view import View

MODEL = Provenance("0" * 64, 1, "cpu", "fp32")
GROUP, EDITS, TIMES = 5000, 500, 7
A_DAY = 86_400_000_000

QUESTIONS: dict[str, Callable[[View], object]] = {
    "categories, by size": lambda view: browse.categories(view),
    "categories, by name": lambda view: browse.categories(view, sort="name"),
    "categories, by last seen": lambda view: browse.categories(view, sort="seen"),
    "categories, the most unsure": lambda view: browse.categories(view, kind="new", sort="unsure"),
    "categories, searched, last page": lambda view: browse.categories(view, search="99", offset=100),
    "100 newest images": lambda view: browse.arrivals(view),
    "100 images, far back": lambda view: browse.images(view, offset=50_000),
    "100 images of a category": lambda view: browse.images(view, "new-1"),
    "births in 50 stretches": lambda view: browse.births(view),
    "counts": lambda view: browse.counts(view),
    "history of a category": lambda view: browse.history(view, "new-1"),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--categories", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, filled(Path(folder) / "a.db", options) as store:
        figures = {
            name: {"anew, ms": anew(store, ask), "again, ms": again(store, ask)} for name, ask in QUESTIONS.items()
        }
        view = store.view()
        began = time.perf_counter()
        views.summaries(view)
        list(views.images(view))
        baseline = 1000 * (time.perf_counter() - began)
    for name, each in figures.items():
        print(f"{name:34} {each['anew, ms']:8.1f} ms anew {each['again, ms']:8.1f} ms again")
    worst = max(each["anew, ms"] for each in figures.values())
    print(f"{'baseline: everything is read':34} {baseline:8.1f} ms, {baseline / worst:.0f} times the dearest page")
    if options.json:
        options.json.write_text(json.dumps({"questions": figures, "baseline, ms": baseline}))


def filled(path: Path, options: argparse.Namespace) -> Store:
    """Categories of very different sizes, found over a hundred days, and some hundred edits."""
    generator = np.random.default_rng(0)
    known = [f"species {i}" for i in range(max(1, options.categories // 10))]
    centres = np.arange(len(known), dtype=np.uint64)[:, None]
    store = Store.create(path, CodeRegister(64, 1, known, centres), MODEL, sync="normal")
    entry, found, events = store.encoder(MODEL), list(known), list[Event]()
    births = set(generator.choice(options.images, options.categories - len(known), replace=False).tolist())
    for i in range(options.images):
        born = i in births
        if born:
            found.append(f"new-{len(found) - len(known) + 1}")
            events.append(Created(found[-1], i.to_bytes(8, "little")))
        category = found[-1] if born else found[int(len(found) * generator.random() ** 3)]
        sure = float(generator.random())
        digest = hashlib.sha256(i.to_bytes(8, "big")).digest()
        events.append(
            Assigned(f"upload:{i}.jpg", category, None, 3, 8, None, None, "rule", entry, digest[:8], digest, sure)
        )
    for start in range(0, len(events), GROUP):
        some = events[start : start + GROUP]
        at = [(start + i) * 100 * A_DAY // len(events) for i in range(len(some))]
        store.take_over(some, at)
    images = store.view().images()
    for i in range(min(EDITS, options.categories // 2)):
        store.confirm(generator.choice(images, 5, replace=False).tolist())
        if i % 10 == 0:
            store.rename(f"new-{i + 1}", f"moth {i}")
    return store


def anew(store: Store, ask: Callable[[View], object]) -> float:
    """The milliseconds after an image has come."""
    took = []
    for _ in range(TIMES):
        number = store.view().last
        store.record(
            [
                Arrival(
                    f"upload:{number}", hashlib.sha256(f"later {number}".encode()).digest(), np.array([0], np.uint64)
                )
            ],
            MODEL,
        )
        took.append(timed(store.view(), ask))
    return 1000 * median(took)


def again(store: Store, ask: Callable[[View], object]) -> float:
    ask(store.view())
    return 1000 * median(timed(store.view(), ask) for _ in range(TIMES))


def timed(view: View, ask: Callable[[View], object]) -> float:
    began = time.perf_counter()
    ask(view)
    return time.perf_counter() - began


if __name__ == "__main__":
    main()
