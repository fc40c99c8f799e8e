"""What it costs to look: a register's page with all its pictures, and an evaluation in many orders.

    uv run --all-extras python benchmarks/seeing.py --images 1000,10000 --side 2000 --stream 3000

The page is made of JPEG files of `--side` pixels, in categories of 100. Its baseline decodes every file whole. Orders
are decided in one process, which is the baseline, and in as many as this machine has cores for. `--page` keeps the
last page, to be opened in a browser.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from common import keep, photographs, show
from firstsight.core.threads import computing_threads
from firstsight.data.images import decode, read
from firstsight.data.thumbnails import SIDE, small
from firstsight.evaluate import processes
from firstsight.evaluate.stream import decided
from firstsight.evidence.overview import overview
from firstsight.pages.found import found_page
from firstsight.store.store import Arrival, Store
from firstsight.train.features import fit_features

EACH = 100  # images of a category
WIDTH = 64  # of a feature
ORDERS = 10
KNOWN, NEW = 20, 20  # categories of the stream


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", default="1000,10000")
    parser.add_argument("--stream", type=int, default=3000)
    parser.add_argument("--side", type=int, default=2000)
    parser.add_argument("--page", type=Path)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures: dict[str, Any] = {"side": options.side}
    pages(list(map(int, options.images.split(","))), options.side, options.page, figures)
    orders(options.stream, figures)
    keep(options.json, "cpu", figures)


def pages(sizes: Sequence[int], side: int, kept: Path | None, figures: dict[str, Any]) -> None:
    lines = []
    with tempfile.TemporaryDirectory() as name:
        files = photographs(Path(name), 48, side)
        whole, fast = (_each(work, files) for work in (_whole, lambda path: small(path, SIDE)))
        for count in sizes:
            store = _register(Path(name), files, count)
            took, found = _seconds(partial(overview, store.view()))
            drawn, page = _seconds(partial(found_page, found))
            lines.append((count, took, drawn, len(page)))
            if kept is not None:
                kept.write_bytes(page)
    figures |= {"pages": lines, "decoded whole": whole, "a picture": fast}
    show(
        f"A register's page, of JPEG files {side} pixels wide",
        ("images", "looking over the register", "the page", "its size"),
        [(f"{n:,}", f"{took:.1f} s", f"{drawn:.0f} s", f"{size / 1e6:.1f} MB") for n, took, drawn, size in lines],
    )
    cells = f"{1000 * whole:.0f} ms", f"{1000 * fast:.0f} ms", f"{whole / fast:.1f}"
    show("One small picture", ("decoded whole", "as here", "x"), [cells])


def _whole(path: Path) -> bytes:
    """The baseline: as a thumbnail is made of what is decoded as always."""
    return small(decode(path), SIDE)


def _each(work: Callable[[Path], object], files: Sequence[Path]) -> float:
    return _seconds(lambda: [work(path) for path in files[:16]])[0] / 16


def _register(folder: Path, files: Sequence[Path], count: int) -> Store:
    """So many images in categories of a hundred, under names of their own."""
    generator = np.random.default_rng(0)
    means = 8 * generator.standard_normal((max(4, count // EACH), WIDTH))
    taught = np.repeat(np.arange(2), 8)
    model = fit_features(means[taught] + generator.standard_normal((16, WIDTH)), [f"known {i}" for i in taught])
    store, arrivals = Store.in_memory(model.register(), model.provenance), []
    for i in range(count):
        path = folder / f"{count}-{i}.jpg"
        path.symlink_to(files[i % len(files)])
        feature = (means[i % len(means)] + generator.standard_normal(WIDTH)).astype(np.float32)
        arrivals.append(Arrival(str(path), read(path)[1], model.transform(feature[None])[0]))
    store.record(arrivals, model.provenance)
    return store


def orders(stream: int, figures: dict[str, Any]) -> None:
    generator = np.random.default_rng(0)
    means = 2 * generator.standard_normal((KNOWN + NEW, WIDTH))
    taught, labels = np.repeat(np.arange(KNOWN), 20), generator.integers(0, KNOWN + NEW, stream)
    model = fit_features(means[taught] + generator.standard_normal((len(taught), WIDTH)), [f"c{i}" for i in taught])
    features = model.transform((means[labels] + generator.standard_normal((stream, WIDTH))).astype(np.float32))
    truth = [f"c{i}" for i in labels]

    def passes() -> object:
        return decided(model.decision.register, features, truth, ORDERS)

    worth, processes.WORTH = processes.WORTH, float("inf")
    alone, _ = _seconds(passes)
    processes.WORTH = worth
    several, _ = _seconds(passes)
    figures["orders"] = {"stream": stream, "one process": alone, "several": several}
    header = ("images", "one process", f"up to {computing_threads()}", "x")
    cells = f"{stream:,}", f"{alone:.1f} s", f"{several:.1f} s", f"{alone / several:.1f}"
    show("An evaluation in 21 orders", header, [cells])


def _seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    began = time.perf_counter()
    result = work()
    return time.perf_counter() - began, result


if __name__ == "__main__":
    main()
