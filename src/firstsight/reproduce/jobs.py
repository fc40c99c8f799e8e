"""Runs of a benchmark: trained, encoded and scored, one after the other or by several processes at a time."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from firstsight.core.errors import ProcessDied
from firstsight.core.protocols import Features, Progress, Silent
from firstsight.core.settings import Rule, Settings
from firstsight.data.folder import LabelledImages
from firstsight.data.images import CENTRE
from firstsight.encode.backbones import build
from firstsight.encode.many import encode_crops
from firstsight.evaluate.stream import Row, beside, offline, passes, without_nan
from firstsight.methods.catalogue import method
from firstsight.model.model import Model
from firstsight.reproduce.closer import closer_look
from firstsight.reproduce.provenance import provenance
from firstsight.reproduce.workers import by_processes
from firstsight.train.fit import fit_images
from firstsight.train.pixels import PixelCache
from firstsight.train.support import Stems

if TYPE_CHECKING:
    from firstsight.reproduce.benchmark import Run

QUERY_BUDGET = 12 * 2**30  # bytes of the stream's decoded images that are kept in memory for all runs
BATCH = 128


@dataclass(frozen=True)
class Task:
    """What all runs of a table share: the images, decoded once, and how they are scored."""

    support: LabelledImages
    pixels: PixelCache
    truth: tuple[str, ...]
    stream: PixelCache
    orders: int
    device: str


def prepare(
    parts: tuple[LabelledImages, LabelledImages], settings: Any, orders: int, device: str, progress: Progress
) -> Task:
    """Decode all images once, at the size the backbone wants."""
    support, query = parts
    preprocess = build(settings.backbone, settings.image_size, 0, settings.weights, blank=True).preprocess
    pixels = PixelCache(support.images, preprocess, progress)
    stream = PixelCache(query.images, preprocess, progress, QUERY_BUDGET)
    truth = tuple(query.categories[label] for label in query.labels)
    return Task(support, pixels, truth, stream, orders, device)


def run_one(task: Task, run: Run, settings: Any, stems: Stems, progress: Progress) -> dict[str, Any]:
    """Train, encode the stream once, and score it; PHE also as the released code decides."""
    began = time.monotonic()
    model = fit_images(task.support, settings, task.device, progress, task.pixels, stems)
    model.looking.exact = True  # figures depend on no batch
    trained = time.monotonic()
    features = encode_pixels(model, task.stream)
    compared = model.transform(features)
    rows: dict[str, list[Row]]
    if method(run.method).on_the_fly:
        own = settings.rule if settings.method == "phe" else "own"
        rules: dict[str, Rule | None] = {own: None, **({"reference": "reference"} if settings.method == "phe" else {})}
        rows = {
            name: passes(partial(model.register, None, rule), compared, task.truth, task.orders)
            for name, rule in rules.items()
        }
        rows[own] += beside(model, features, task.truth)
    else:
        rows = {"offline": [offline(model.decision.project(features), task.truth, model.names)]}
    look = {"look": closer_look(task, model, settings, features, stems, progress)} if run.closer else {}
    return {
        **asdict(run),
        "settings": settings.as_dict(),
        "report": model.report,
        "rows": without_nan({rule: [asdict(row) for row in some] for rule, some in rows.items()}),
        "images": len(task.truth),
        "true_categories": len(set(task.truth)),
        "seconds": {"training": round(trained - began, 1), "scoring": round(time.monotonic() - trained, 1)},
        **look,
    }


def encode_pixels(model: Model, pixels: PixelCache) -> Features:
    """The features of images that are decoded already, from their central crops."""
    batches = torch.split(torch.arange(len(pixels)), BATCH)
    device = model.looking.device
    return encode_crops(model, (pixels.crops(some, torch.full((len(some), 3), CENTRE), device) for some in batches))


def run_many(
    task: Task, missing: Sequence[tuple[Run, Settings]], jobs: int, shared: Path, progress: Progress
) -> Iterator[tuple[Run, dict[str, Any]]]:
    """Results as they come; several jobs are processes that share the decoded images by files in a folder.

    Where one fails, those that have begun are finished first, so that their work is not lost. One whose process is
    killed is tried again, alone, when the others are done.
    """
    made_by = partial(provenance, task.device)
    if jobs == 1 or len(missing) == 1:
        stems: Stems = {}
        for run, settings in missing:
            yield run, {**run_one(task, run, settings, stems, progress), **made_by()}
        return
    task.pixels.share(shared / "support")
    task.stream.share(shared / "query")
    small = replace(task, support=replace(task.support, images=()))
    killed: list[str] = []

    def again(each: tuple[Run, Settings], died: ProcessDied) -> None:
        progress.note(f"{each[0].name}: {died.what}; it is tried again, alone, when the others are done")

    with progress.task("training", len(missing)) as advance:
        for (run, _), result in by_processes(_run_in_worker, missing, jobs, partial(_begin, small), again):
            advance()
            if isinstance(result, ProcessDied):
                killed.append(run.name)
            else:
                yield run, {**result, **made_by()}
    if killed:
        raise ProcessDied(
            f"{len(killed)} of {len(missing)} runs are missing, each killed twice: {', '.join(killed)}",
            "often memory runs out: free some, or use fewer --jobs, and run again; what is there is not repeated",
        )


_task: Task
_stems: Stems


def _begin(task: Task) -> None:
    """In a worker: what its runs share."""
    global _task, _stems
    _task, _stems = task, {}


def _run_in_worker(given: tuple[Run, Settings]) -> dict[str, Any]:
    return run_one(_task, *given, _stems, Silent())
