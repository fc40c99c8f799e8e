"""What the map of a register of many images costs: laying it out, placing, telling a browser, and one large edit.

    uv run python benchmarks/map.py [--images 100000] [--categories 10000] [--json FILE]

With `--browser` a service is started, and Chromium draws the page (Playwright; `--chromium` says where it is).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy is loaded

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from statistics import median
from threading import Thread
from typing import Any

import numpy as np
import uvicorn
from numpy.typing import NDArray

from firstsight.core.assignments import Assignment, Candidate
from firstsight.data.synthetic import species, write_folder
from firstsight.evidence.layout import SAMPLE, points_of
from firstsight.evidence.map_bytes import map_bytes
from firstsight.evidence.mapped import Map, Placed
from firstsight.model.model import Model
from firstsight.reproduce.provenance import provenance
from firstsight.serve.app import create_app
from firstsight.serve.run import Server, listening
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings
from firstsight.store.events import Assigned, Created, Event
from firstsight.store.store import Store
from firstsight.store.view import View
from firstsight.train.features import fit_features

WIDTH, GENERA, KNOWN, SUPPORT = 64, 60, 40, 8
GROUP, LASSO = 4096, 5000
SHOTS = (("light", 1280, 800, "light"), ("dark", 1280, 800, "dark"), ("phone", 390, 844, "light"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=100_000)
    parser.add_argument("--categories", type=int, default=10_000)
    parser.add_argument("--browser", action="store_true")
    parser.add_argument("--chromium", default="/usr/bin/chromium")
    parser.add_argument("--shots", type=Path, help="a folder for pictures of the page")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        print(f"\n{options.images:,} images in {options.categories:,} categories\n\n| what | figure |\n|---|---|")
        model, path = many(Path(folder), options.images, options.categories)
        found = measured(path)
        if options.browser:
            drawn(found, model, path, options.chromium, options.shots)
    if options.json:
        options.json.write_text(json.dumps({**found, **asdict(provenance("cpu"))}, indent=1) + "\n")


class Figures(dict[str, float]):
    """What was measured, printed as it is known."""

    def say(self, what: str, value: float, unit: str, note: str = "") -> None:
        self[what] = value
        print(f"| {what} | {value:,.3g} {unit}{note} |", flush=True)

    def take(self, what: str, work: Callable[[], object]) -> None:
        """Seconds on the clock, and of one core: beside other work these are fewer."""
        began = time.process_time()
        took = seconds(work)
        self[f"{what}, time of one core"] = core = time.process_time() - began
        self.say(what, took, "s", f", {core:.3g} s of one core")


def measured(path: Path) -> Figures:
    found = Figures()
    with Store.open(path, sync="normal") as store:
        plane, view = Map(path), store.view()
        view.register  # noqa: B018 - which is built when it is first asked for
        found.take("lay out, and place all", lambda: plane.lay_out(view))
        placing(found, plane, view)
        size = path.with_name(f"{path.name}-map").stat().st_size
        found.say("file", size / 1e6, "MB", f", with a sample of {min(SAMPLE, len(view.catalogue.numbers)):,}")
        again = Map(path)
        found.say("have it again after a restart", 1000 * seconds(lambda: again.at(view)), "ms")
        assert (held(again, view).places == held(plane, view).places).all()
        editing(found, held(again, view), store)
    return found


def placing(found: Figures, plane: Map, view: View) -> None:
    """Place what is in the register, as if it came now."""
    layout, numbers, register = held(plane, view).layout, view.catalogue.numbers.values(), view.register
    points = points_of(register, [content for _, content in view.features()])
    found.take("place all, of that", lambda: layout.place(numbers + 10**9, points))
    found.say("place one, p50", 1000 * often(lambda: layout.place(numbers[:1], points[:1]), 200), "ms")


def editing(found: Figures, placed: Placed, store: Store) -> None:
    """What a browser is told, before and after a large edit that is taken back."""
    view = store.view()
    found.say("for a browser", len(map_bytes(placed, view.catalogue)) / 1e6, "MB")
    found.say("for a browser, making it, p50", 1000 * often(lambda: map_bytes(placed, view.catalogue)), "ms")
    numbers = view.images()
    some, target = numbers[:: max(1, len(numbers) // LASSO)][:LASSO], view.catalogue.live()[0].id
    found.take(f"move {len(some):,} images", lambda: store.move(some, target))
    now = store.view().catalogue
    found.say("what that changed, p50", 1000 * often(lambda: map_bytes(placed, now, view.catalogue)), "ms")
    found.take("undo it", store.undo)
    before, after = view.catalogue.state(), store.view().catalogue.state()
    assert all(before[name] == after[name] for name in ("homes", "flags", "authors"))


def held(plane: Map, view: View) -> Placed:
    placed = plane.at(view)
    assert placed is not None
    return placed


def drawn(found: Figures, model: Model, path: Path, chromium: str, shots: Path | None) -> None:
    """How soon a browser shows the page, and how fluid it is when panned."""
    from playwright.sync_api import sync_playwright

    with served(model, path) as address, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=chromium)
        firsts, frames = [], []
        for _ in range(5):
            page = browser.new_page(viewport={"width": 1280, "height": 800})
            page.goto(f"{address}/map")
            page.wait_for_selector("canvas[data-drawn]")
            firsts.append(page.evaluate("performance.getEntriesByName('map-drawn')[0].startTime"))
            frames += page.evaluate(PANNED)
            page.close()
        if shots is not None:
            pictures(browser, address, shots)
        browser.close()
    for what, values in (("first drawn", firsts), ("a frame while panned", frames)):
        found.say(f"{what}, p50", median(values), "ms", f", at worst {max(values):,.3g}")


PANNED = """async () => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect(), times = [];
  const finger = {pointerId: 1, pointerType: "touch", bubbles: true};
  const tell = (kind, x, y) => canvas.dispatchEvent(new PointerEvent(kind, {clientX: x, clientY: y, ...finger}));
  canvas.setPointerCapture = () => {};
  tell("pointerdown", box.left + 300, box.top + 300);
  let last = performance.now();
  for (let i = 1; i <= 60; i++) {
    tell("pointermove", box.left + 300 + 4 * i, box.top + 300 + 2 * i);
    await new Promise(requestAnimationFrame);
    times.push(performance.now() - last);
    last = performance.now();
  }
  tell("pointerup", box.left + 540, box.top + 420);
  return times.slice(1);
}"""


def pictures(browser: Any, address: str, folder: Path) -> None:
    """The page as people see it: whole and near, light and dark, wide and on a phone."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, width, height, scheme in SHOTS:
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.goto(f"{address}/map")
        page.wait_for_selector("canvas[data-drawn]")
        page.screenshot(path=str(folder / f"map-{name}.png"))
        for _ in range(7):
            page.click("[data-tool=in]")
        page.wait_for_load_state("networkidle")
        page.screenshot(path=str(folder / f"map-{name}-near.png"))
        page.close()


@contextmanager
def served(model: Model, path: Path) -> Iterator[str]:
    """A service of this register, in a thread of its own."""
    with listening(ServeSettings(port=0)) as (bound, settings):
        service = Service(model, Store.open(path, sync="normal"), settings)
        config = uvicorn.Config(create_app(service), log_config=None, access_log=False)
        server = Server(config, service)
        bound.listen(128)
        thread = Thread(target=server.run, kwargs={"sockets": [bound]})
        thread.start()
        try:
            yield settings.address
        finally:
            service.ending = server.should_exit = True
            thread.join()
            service.close()


def many(folder: Path, images: int, categories: int) -> tuple[Model, Path]:
    """A model, and a register with so many images of so many categories, as if they had been answered."""
    rng = np.random.default_rng(0)
    genera = 2.5 * rng.standard_normal((GENERA, WIDTH))
    means = genera[rng.integers(0, GENERA, categories)] + 1.2 * rng.standard_normal((categories, WIDTH))
    known = min(KNOWN, categories)
    taught = np.repeat(np.arange(known), SUPPORT)
    support = means[taught] + rng.standard_normal((len(taught), WIDTH))
    model = fit_features(support, [f"known moth {label + 1}" for label in taught])
    path, (sources, digests) = folder / "many.db", photographs(folder / "photographs")
    with Store.create(path, model.register(), model.provenance, "normal") as store:
        encoder, names = store.encoder(model.provenance), {label: f"known moth {label + 1}" for label in range(known)}
        for start in range(0, images, GROUP):
            labels = rng.integers(0, categories, min(GROUP, images - start))
            labels[: known if start == 0 else 0] = np.arange(known if start == 0 else 0)
            raw = means[labels] + rng.standard_normal((len(labels), WIDTH))
            features = model.transform(raw.astype(np.float32))
            events = list(_events(labels, features, encoder, names, known, sources, digests))
            store.take_over(events, [1_700_000_000_000_000 + start] * len(events))
        store.register  # noqa: B018 - so that the snapshot has what it learned
    return model, path


def _events(
    labels: NDArray[Any],
    features: NDArray[Any],
    encoder: int,
    names: dict[int, str],
    known: int,
    sources: list[str],
    digests: list[bytes],
) -> Iterator[Event]:
    for label, feature in zip(labels.tolist(), features, strict=True):
        raw = np.asarray(feature, dtype="<f4").tobytes()
        if label not in names:
            names[label] = f"new-{len(names) - known + 1}"
            yield Created(names[label], raw)
        other = Candidate(names[0], 9.0)
        answer = Assignment(names[label], label >= known, False, 1.0, 0.0, other, confidence=0.9, lesson=False)
        at = label % len(sources)
        yield Assigned.of(answer, sources[at], encoder, raw, digests[at])


def photographs(folder: Path) -> tuple[list[str], list[bytes]]:
    """Drawn moths to be the pictures of all images, and what they are recognised by."""
    write_folder(folder, species(24), range(1), size=112)
    paths = sorted(folder.rglob("*.jpg"))
    return [str(path) for path in paths], [sha256(path.read_bytes()).digest() for path in paths]


def seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def often(work: Callable[[], object], times: int = 9) -> float:
    return median(seconds(work) for _ in range(times))


if __name__ == "__main__":
    main()
