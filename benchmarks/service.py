"""How many images a service answers under many clients, against encoding alone in the same run.

    uv run --all-extras python benchmarks/service.py [--backbone NAME] [--device NAME] [--images N] [--clients N]

The baseline is the encoder alone, on pixels that are there: nothing is read, sent or kept. `discover` reads the same
JPEG files from disk and keeps answers in a register. The service gets them from a socket, and keeps the pictures, too;
each answer is on disk before it is given. Clients are another process. All take turns, round by round, so that whatever
else the machine does hits all of them. Every answer must be in the register once.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import uvicorn

from common import keep, model_of, photographs, show
from firstsight.discoverer import Discoverer
from firstsight.model.model import Model
from firstsight.serve.app import create_app
from firstsight.serve.run import Server, listening
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings
from firstsight.store.store import Store

LOAD = Path(__file__).with_name("load.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    model = model_of(options.backbone, options.device, blank=options.backbone != "efficientnet-lite2")
    rounds = []
    with tempfile.TemporaryDirectory() as name:
        paths = photographs(Path(name), options.images)
        for number, path in enumerate(paths):  # every one another image
            path.write_bytes(path.read_bytes() + number.to_bytes(4, "big"))
        pixels = np.stack([model.prepare(path) for path in paths[:128]])
        encoding_alone(model, pixels)
        for number in range(options.rounds):
            alone = encoding_alone(model, pixels) | discovered(model, paths, Path(name) / f"{number} without.db")
            rounds.append(alone | served(model, Path(name), number, options.clients))
    report(rounds, options.images, options.clients, f"{options.backbone}, {model.torch_encoder.device}")
    keep(options.json, options.device, {"backbone": options.backbone, "clients": options.clients, "rounds": rounds})


def encoding_alone(model: Model, pixels: np.ndarray[Any, Any]) -> dict[str, float]:
    """Images a second, and milliseconds of the CPU for each."""
    began, worked = time.perf_counter(), time.process_time()
    model.torch_encoder.features(pixels)
    seconds, work = time.perf_counter() - began, time.process_time() - worked
    return {"encoding alone": len(pixels) / seconds, "encoding CPU": work * 1e3 / len(pixels)}


def discovered(model: Model, paths: list[Path], register: Path) -> dict[str, float]:
    """The same for files and a register, without a service."""
    began, worked = time.perf_counter(), time.process_time()
    with Discoverer(model, store=register) as discoverer:
        count = sum(1 for _ in discoverer.discover_many(paths))
    seconds, work = time.perf_counter() - began, time.process_time() - worked
    return {"discover": count / seconds, "discover CPU": work * 1e3 / count}


def served(model: Model, folder: Path, number: int, clients: int) -> dict[str, float]:
    """Images a second of a service with a register of its own, and how long clients waited, in milliseconds."""
    store = Store.create(folder / f"{number}.db", model.register(), model.provenance)
    service = Service(model, store, ServeSettings(port=0))
    worked = time.process_time()
    with answering(service) as address:
        command = [sys.executable, str(LOAD), address, str(folder), str(clients)]
        said = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
    work = (time.process_time() - worked) * 1e3 / len(said["answers"])
    check_once(folder / f"{number}.db", said["answers"])
    p50, p99 = (float(value) * 1e3 for value in np.percentile(said["took"], [50, 99]))
    return {"served": len(said["answers"]) / said["seconds"], "served CPU": work, "p50": p50, "p99": p99}


@contextmanager
def answering(service: Service) -> Iterator[str]:
    """A service behind a socket meanwhile; its address."""
    with listening(service.settings) as (bound, settings):
        server = Server(uvicorn.Config(create_app(service), log_config=None, access_log=False), service)
        bound.listen(2048)
        thread = Thread(target=server.run, args=([bound],))
        thread.start()
        try:
            yield settings.address
        finally:
            server.should_exit = True
            thread.join()
            service.close()


def check_once(register: Path, answers: list[dict[str, Any]]) -> None:
    """Every answer is recorded once, as it was given, and nothing else is."""
    with Store.open(register, write=False) as store:
        view = store.view()
        kept = {view.assigned(image).source: (image, view.category_of(image)) for image in view.images()}
        assert len(kept) == len(view.images()) == len(answers)
        for each in answers:
            assert kept[each["source"]] == (each["answer"]["image"], each["answer"]["category"]), each


def report(rounds: list[dict[str, float]], images: int, clients: int, title: str) -> None:
    middle = {name: float(np.median([each[name] for each in rounds])) for name in rounds[0]}
    waited = [f"{middle[name]:.0f}" for name in ("p50", "p99")]
    rows = []
    for name, work in (("encoding alone", "encoding CPU"), ("discover", "discover CPU"), ("served", "served CPU")):
        ratio = float(np.median([each[name] / each["encoding alone"] for each in rounds]))
        cells = [name, f"{middle[name]:.1f}", f"{ratio:.2f}", f"{middle[work]:.1f}"]
        rows.append([*cells, *(waited if name == "served" else ("", ""))])
    show(
        f"{title}: {images} images, {clients} clients, the median of {len(rounds)} rounds",
        ("what", "images/s", "ratio", "CPU ms an image", "p50 ms", "p99 ms"),
        rows,
    )
    print("\nevery answer is in the register once")


if __name__ == "__main__":
    main()
