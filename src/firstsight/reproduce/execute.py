"""Carrying runs out: train, encode, score, one after the other or by several processes at a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from firstsight.core.errors import ProcessDied
from firstsight.core.protocols import Features, Progress, Silent
from firstsight.core.settings import Rule
from firstsight.evaluate.scores import Row
from firstsight.evaluate.stream import beside, offline, passes
from firstsight.methods.catalogue import method
from firstsight.model.model import Model
from firstsight.reproduce.inspection import inspect
from firstsight.reproduce.provenance import now
from firstsight.reproduce.results import Report, RunResult, Seconds
from firstsight.reproduce.runs import Run
from firstsight.reproduce.task import Task, encode_stream
from firstsight.reproduce.workers import by_processes
from firstsight.train.fit import fit_images
from firstsight.train.support import Stems


def run_one(task: Task, run: Run, settings: Any, stems: Stems, progress: Progress) -> RunResult:
    """Train, encode the stream once, and score it in every order."""
    began, progress = time.monotonic(), Named(progress, run)
    model = fit_images(task.support, settings, task.device, progress, task.pixels, stems)
    return result_of(task, run, model, time.monotonic() - began, stems, progress)


def result_of(task: Task, run: Run, model: Model, training: float, stems: Stems, progress: Progress) -> RunResult:
    """What a trained model comes to on the stream; `training` took so many seconds."""
    began, settings = time.monotonic(), model.settings
    model.image_encoder.exact = True  # figures depend on no batch
    features = encode_stream(task, model, progress)
    rows = _scored(task, run, model, settings, features)
    looked = inspect(task, model, settings, features, stems, progress) if run.inspected else None
    return RunResult(
        run=run,
        made_of=task.made_of,
        settings=settings.as_dict(),
        rows=rows,
        images=len(task.truth),
        true_categories=len(set(task.truth)),
        report=Report.of(model.report),
        seconds=Seconds(
            steps=model.report["seconds"],
            training=round(training, 1),
            scoring=round(time.monotonic() - began, 1),
        ),
        made_by=replace(task.made_by, time=now()),
        inspection=looked,
    )


class Named:
    """Progress of one run among several: whose work it is, is said."""

    def __init__(self, progress: Progress, run: Run) -> None:
        self._progress, self._name = progress, f"{run.method}, seed {run.seed}"

    def task(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        return self._progress.task(f"{self._name}: {what}", total)

    def note(self, text: str) -> None:
        self._progress.note(f"{self._name}: {text}")


def _scored(task: Task, run: Run, model: Model, settings: Any, features: Features) -> dict[str, list[Row]]:
    """Rows by rule, the method's own first; PHE also as the released code decides."""
    if not method(run.method).on_the_fly:
        return {"offline": [offline(model.decision.project(features), task.truth, model.names)]}
    compared = model.transform(features)
    own = settings.rule if settings.method == "phe" else "own"
    rules: dict[str, Rule | None] = {own: None, **({"reference": "reference"} if settings.method == "phe" else {})}
    rows = {
        name: passes(partial(model.decision.register, None, rule), compared, task.truth, task.made_of.orders)
        for name, rule in rules.items()
    }
    rows[own] += beside(model, features, task.truth)
    return rows


def run_many(
    task: Task, missing: Sequence[tuple[Run, Any]], jobs: int, shared: Path, progress: Progress
) -> Iterator[RunResult]:
    """Results as they come; several jobs are processes that share the decoded images by files in a folder.

    Where one fails, those that have begun are finished first, so that their work is not lost. One whose process is
    killed is tried again, alone, when the others are done.
    """
    if jobs == 1 or len(missing) == 1:
        stems: Stems = {}
        for run, settings in missing:
            yield run_one(task, run, settings, stems, progress)
        return
    task.pixels.share(shared / "support")
    task.stream.share(shared / "query")
    small = replace(task, support=replace(task.support, images=()))
    killed: list[str] = []

    def again(each: tuple[Run, Any], died: ProcessDied) -> None:
        progress.note(f"{each[0].name}: {died.what}; it is tried again, alone, when the others are done")

    with progress.task("training", len(missing)) as advance:
        for (run, _), result in by_processes(_run_in_worker, missing, jobs, partial(_begin, small), again):
            advance()
            if isinstance(result, ProcessDied):
                killed.append(run.name)
            else:
                yield result
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


def _run_in_worker(given: tuple[Run, Any]) -> RunResult:
    return run_one(_task, *given, _stems, Silent())
