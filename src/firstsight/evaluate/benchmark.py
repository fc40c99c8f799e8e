"""Benchmarks: methods on a data set's split, over seeds and orders, one JSON file per run, resumable.

Nothing of the query stream is known to training but, for the paper's preset, how many categories it has, as the paper
does. The last epoch is reported. Every run that looks at a query stream is written into a ledger.
"""

from __future__ import annotations

import json
import re
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from firstsight.backbones import build
from firstsight.config import Rule, Settings
from firstsight.data.folder import LabelledImages
from firstsight.data.images import CENTRE
from firstsight.errors import SettingsError
from firstsight.evaluate.orders import RANDOM_ORDERS
from firstsight.evaluate.provenance import provenance, record
from firstsight.evaluate.stream import Row, beside, offline, passes, without_nan
from firstsight.files import write_file
from firstsight.methods.catalogue import method
from firstsight.methods.model import Model
from firstsight.protocols import Encoded, Progress, Silent
from firstsight.train.fit import fit_images
from firstsight.train.pixels import PixelCache
from firstsight.train.support import Stems

ALWAYS = ("closed-set-ce", "offline-kmeans")  # in every table, asked for or not
QUERY_BUDGET = 12 * 2**30  # bytes of the stream's decoded images that are kept for all runs
BATCH = 128


@dataclass(frozen=True)
class Run:
    """One training: everything that names its file. `bits` is None where code lengths mean nothing to the method."""

    data: str
    method: str
    bits: int | None
    seed: int
    known_share: int = 50

    @property
    def file(self) -> str:
        share = f"-{self.known_share}known" if self.known_share != 50 else ""
        bits = f"-{self.bits}bit" if self.bits is not None else ""
        method = re.sub(r"[^\w-]", "-", self.method)  # a name such as module:Class
        return f"{self.data}{share}-{method}{bits}-seed{self.seed}.json"

    def settings(self, changes: Mapping[str, Any], categories: int) -> Settings:
        """The method's settings with those asked for; the paper's preset is told how many categories will come."""
        told = {"expected_categories": categories} if self.method == "phe-paper" else {}
        length = {} if self.bits is None else {"bits": self.bits}
        return method(self.method).settings(**{**told, **changes, **length, "seed": self.seed})


@dataclass(frozen=True)
class Task:
    """What all runs of a table share: the images, decoded once, and how they are scored."""

    support: LabelledImages
    pixels: PixelCache
    truth: tuple[str, ...]
    stream: PixelCache
    orders: int
    device: str


def runs(data: str, methods: Sequence[str], bits: Sequence[int], seeds: int, known_share: int = 50) -> list[Run]:
    """All trainings of a table, those that tell most first: every method once before the next seed."""
    names = dict.fromkeys([*methods, *ALWAYS])
    wanted = [Run(data, m, b, s, known_share) for s in range(seeds) for m in names for b in method(m).lengths(bits)]
    return [run for run in wanted if run.method != "offline-kmeans" or run.seed == 0]  # it learns nothing


def benchmark(
    wanted: Sequence[Run],
    parts: tuple[LabelledImages, LabelledImages],
    changes: Mapping[str, Any],
    out: Path,
    *,
    ledger: Path | None = None,
    orders: int = RANDOM_ORDERS,
    device: str = "auto",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[dict[str, Any]]:
    """Run what is missing and yield every result as it is there; `jobs` trainings at a time share the device."""
    progress = progress or Silent()
    missing: list[tuple[Run, Settings]] = []
    for run in wanted:
        settings = run.settings(changes, len(parts[1].categories))
        path = out / run.file
        if path.is_file():
            yield _kept(path, settings, orders)
        else:
            missing.append((run, settings))
    if not missing:
        return
    with tempfile.TemporaryDirectory(dir=out, prefix=".pixels-") as shared:
        task = prepare(parts, missing[0][1], orders, device, progress)
        for run, result in run_many(task, missing, jobs, Path(shared), progress):
            write_file(out / run.file, (json.dumps(result, indent=1) + "\n").encode())
            if ledger is not None:
                record(ledger, result)
            yield result


def prepare(
    parts: tuple[LabelledImages, LabelledImages], settings: Settings, orders: int, device: str, progress: Progress
) -> Task:
    """Decode all images once, at the size the backbone wants."""
    support, query = parts
    preprocess = build(settings.backbone, settings.image_size, 0, settings.weights, blank=True).preprocess
    pixels = PixelCache(support.images, preprocess, progress)
    stream = PixelCache(query.images, preprocess, progress, QUERY_BUDGET)
    truth = tuple(query.categories[label] for label in query.labels)
    return Task(support, pixels, truth, stream, orders, device)


def run_one(task: Task, run: Run, settings: Settings, stems: Stems, progress: Progress) -> dict[str, Any]:
    """Train, encode the stream once, and score it; PHE also as the released code decides."""
    began = time.monotonic()
    model = fit_images(task.support, settings, task.device, progress, task.pixels, stems)
    trained = time.monotonic()
    encoded = encode_pixels(model, task.stream)
    rows: dict[str, list[Row]]
    if method(run.method).on_the_fly:
        rules: list[Rule] = [settings.rule, "reference"] if settings.method == "phe" else [settings.rule]
        rows = {rule: passes(partial(model.register, None, rule), encoded, task.truth, task.orders) for rule in rules}
        rows[settings.rule] += beside(model, encoded, task.truth)
    else:
        rows = {"offline": [offline(encoded, task.truth, model.names)]}
    return {
        **asdict(run),
        "settings": settings.as_dict(),
        "orders": task.orders,
        "report": model.report,
        "rows": without_nan({rule: [asdict(row) for row in some] for rule, some in rows.items()}),
        "images": len(task.truth),
        "true_categories": len(set(task.truth)),
        "seconds": {"training": round(trained - began, 1), "scoring": round(time.monotonic() - trained, 1)},
        **provenance(task.device),
    }


def encode_pixels(model: Model, pixels: PixelCache) -> Encoded:
    """The rows of images that are decoded already, from their central crops."""
    rows = [
        model.rows(pixels.crops(some, torch.full((len(some), 3), CENTRE), model.device))
        for some in torch.split(torch.arange(len(pixels)), BATCH)
    ]
    return model.encoded(torch.cat(rows))


def _kept(path: Path, settings: Settings, orders: int) -> dict[str, Any]:
    result: dict[str, Any] = json.loads(path.read_bytes())
    now = {**settings.as_dict(), "orders": orders}
    then = {**result["settings"], "orders": result["orders"]}
    if differing := [key for key in now if then.get(key) != now[key]]:
        key = differing[0]
        raise SettingsError(
            f"{path} was made with {key} {then.get(key)!r}, now it is {now[key]!r}",
            "give the settings it was made with, or choose another --out",
        )
    return result


def run_many(
    task: Task, missing: Sequence[tuple[Run, Settings]], jobs: int, shared: Path, progress: Progress
) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Results as they come; several jobs are processes that share the decoded images by files in a folder."""
    if jobs == 1 or len(missing) == 1:
        stems: Stems = {}
        for run, settings in missing:
            yield run, run_one(task, run, settings, stems, progress)
        return
    task.pixels.share(shared / "support")
    task.stream.share(shared / "query")
    small = replace(task, support=replace(task.support, images=()))
    spawned = torch.multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(jobs, mp_context=spawned, initializer=_begin, initargs=(small,)) as pool,
        progress.task("training", len(missing)) as advance,
    ):
        futures = {pool.submit(_run_in_worker, run, settings): run for run, settings in missing}
        try:
            for future in as_completed(futures):
                advance()
                yield futures[future], future.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


_task: Task
_stems: Stems


def _begin(task: Task) -> None:
    """In a worker: what its runs share."""
    global _task, _stems
    _task, _stems = task, {}


def _run_in_worker(run: Run, settings: Settings) -> dict[str, Any]:
    return run_one(_task, run, settings, _stems, Silent())
