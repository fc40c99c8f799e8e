"""What a page of the service costs, with very many images and categories, beside the same page with few.

    uv run --extra serve python benchmarks/pages.py [--images 100000] [--categories 10000] [--json FILE]

Every page is asked for within one process, without a socket and without pictures. `cpu` is what one core works on it;
`wall` is what a person waits, also for whatever else the machine does. The baseline is a hundredth of the images.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import hashlib
import json
import tempfile
import time
from pathlib import Path
from statistics import median

import numpy as np
from fastapi.testclient import TestClient

from firstsight.model.model import Model
from firstsight.serve.app import create_app
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings
from firstsight.serve.site.finding import Finder, nothing_found
from firstsight.store.events import Assigned, Created, Event
from firstsight.store.store import Store
from firstsight.train.features import fit_features

WIDTH, KNOWN, SUPPORT, GROUP, TIMES = 64, 200, 10, 20_000, 5
A_SECOND = 1_000_000
PAGES = {
    "stream": "/",
    "older images": "/parts/stream?before=500",
    "categories": "/categories",
    "categories by name, searched": "/categories?order=name&q=new-7",
    "category": "/categories/known-3",
    "image": "/images/2",
    "review": "/review",
    "overview": "/overview",
    "typing a category": "/parts/find?q=new-7",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--categories", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    many = measured(options.images, options.categories)
    few = measured(max(100, options.images // 100), max(10, options.categories // 100))
    for name, (cpu, wall) in many.items():
        print(f"{name:30} {cpu:7.1f} ms cpu {wall:7.1f} ms wall, {cpu / few[name][0]:5.1f} times the baseline")
    if options.json:
        options.json.write_text(json.dumps({"pages": many, "baseline": few}))


def measured(images: int, categories: int) -> dict[str, tuple[float, float]]:
    """The milliseconds of every page, as medians: of one core, and by the clock."""
    model = taught()
    with tempfile.TemporaryDirectory() as folder:
        service = Service(model, filled(Path(folder) / "a.db", model, images, categories), ServeSettings())
        try:
            app = create_app(service)
            app.state.finder = Finder(nothing_found(service.view()))  # which is found in the background
            with TestClient(app, "http://127.0.0.1:8000") as client:
                return {name: timed(client, address) for name, address in PAGES.items()}
        finally:
            service.close()


def timed(client: TestClient, address: str) -> tuple[float, float]:
    took = []
    for _ in range(TIMES + 1):
        began = time.process_time(), time.perf_counter()
        client.get(address).raise_for_status()
        took.append((time.process_time() - began[0], time.perf_counter() - began[1]))
    cpu, wall = zip(*took[1:], strict=True)
    return 1000 * median(cpu), 1000 * median(wall)


def taught() -> Model:
    """Known categories far from each other."""
    generator = np.random.default_rng(0)
    centres = generator.normal(size=(KNOWN, WIDTH)).repeat(SUPPORT, axis=0)
    features = (centres + 0.1 * generator.normal(size=centres.shape)).astype(np.float32)
    return fit_features(features, [f"known-{i // SUPPORT}" for i in range(len(features))])


def filled(path: Path, model: Model, images: int, categories: int) -> Store:
    """As many images in as many new categories, and in known ones, one every three seconds."""
    generator = np.random.default_rng(1)
    register = model.register()
    store = Store.create(path, model.register(), model.provenance, sync="normal")
    entry = store.encoder(model.provenance)
    centres = generator.normal(size=(categories + KNOWN, WIDTH))
    homes = np.concatenate([np.arange(categories), generator.integers(0, len(centres), images - categories)])
    features = model.transform((centres[homes] + 0.1 * generator.normal(size=(images, WIDTH))).astype(np.float32))
    events, times = list[Event](), list[int]()
    for i, home in enumerate(homes.tolist()):
        name = f"new-{home + 1}" if home < categories else f"known-{home - categories}"
        feature, content = register.feature_bytes(features[i]), hashlib.sha256(i.to_bytes(8, "big")).digest()
        if i < categories:
            events.append(Created(name, feature))
        sure, came_next = float(generator.beta(6, 1.5)), f"known-{i % KNOWN}"
        source = f"upload:IMG_{i}.jpg"
        events.append(Assigned(source, name, None, -3.0, 0.0, came_next, 2.0, "rule", entry, feature, content, sure))
        times += [3 * A_SECOND * (i + 1)] * (len(events) - len(times))
    for start in range(0, len(events), GROUP):
        store.take_over(events[start : start + GROUP], times[start : start + GROUP])
    return store


if __name__ == "__main__":
    main()
