"""Benchmarks: methods on a data set's split, over seeds and orders, each run kept as it is done, resumable.

Nothing of the query stream is known to training but, for the paper's preset, how many categories it has, as the paper
does. The last epoch is reported. Every run that looks at a query stream is written into a ledger.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Progress, Silent
from firstsight.core.settings import specs_of
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.folder import LabelledImages
from firstsight.data.splits import Split
from firstsight.evaluate.orders import RANDOM_ORDERS
from firstsight.methods.catalogue import parts_of
from firstsight.methods.settings import check_meaning
from firstsight.reproduce.execute import run_many
from firstsight.reproduce.provenance import Look, check_ledger, record
from firstsight.reproduce.results import MadeOf, RunResult
from firstsight.reproduce.run_files import RunFile
from firstsight.reproduce.runs import USUAL_SHARE, Run
from firstsight.reproduce.task import check_parts, made_of, prepare


@dataclass(frozen=True)
class Harness:
    """How runs are made and where their results go.

    `changes` are settings for all runs; `jobs` trainings at a time share the device. Without `same_orders` kept
    results may have been scored in more or fewer of them. Rows of the methods `beside` were not asked for: those that
    are kept stay, with whatever settings they were trained.
    """

    out: Path
    changes: Mapping[str, Any] = field(default_factory=dict)
    ledger: Path | None = None
    orders: int = RANDOM_ORDERS
    same_orders: bool = True
    device: str = "auto"
    jobs: int = 1
    beside: Sequence[str] = ()
    progress: Progress = field(default_factory=Silent)


def benchmark(wanted: Sequence[Run], split: Split, images: LabelledImages, harness: Harness) -> Iterator[RunResult]:
    """Make the runs of one split that are missing, and yield every result as it is there; the split is saved beside.

    What cannot be run is refused before anything is.
    """
    harness.out.mkdir(parents=True, exist_ok=True)
    share = "" if wanted[0].known_share == USUAL_SHARE else f"-{wanted[0].known_share}known"
    beside = harness.out / f"{wanted[0].data}{share}.split.json"
    for count, result in enumerate(_results(wanted, split.apply(images), harness)):
        if count == 0:  # only now is it known to be the split of what is there
            split.save(beside)
        yield result


def benchmark_data(
    data: str, root: Path, wanted: Callable[[str], Sequence[Run]], harness: Harness
) -> Iterator[tuple[RunResult, int]]:
    """Make what is missing on a data set, under every share of known categories; each result, and how many it will be.

    `wanted` says which runs, by the name that the data set goes by.
    """
    of, images = open_data(data, root)
    for text in images.left_out:
        harness.progress.note(text)
    every = wanted(of.name)
    for share in dict.fromkeys(run.known_share for run in every):
        own = [run for run in every if run.known_share == share]
        for result in benchmark(own, split_of(of, images, share=share), images, harness):
            yield result, len(every)


def _results(
    wanted: Sequence[Run], parts: tuple[LabelledImages, LabelledImages], harness: Harness
) -> Iterator[RunResult]:
    check_parts(*parts)
    check_meaning(harness.changes, [run.method for run in wanted])
    settings = {run: run.settings(harness.changes, len(parts[1].categories)) for run in wanted}
    for each in settings.values():
        for part in parts_of(each.method):
            part.check(len(parts[0].categories), each)
    now = made_of(parts, harness.changes.get("weights"), harness.orders)
    file = RunFile(harness.out, wanted[0].data)
    with file.alone():
        there = file.read()
        kept = [there[run] for run in wanted if run in there]
        for result in kept:
            _check_same(file.path, result, settings[result.run], now, harness)
        yield from kept
        missing = [(run, settings[run]) for run in wanted if run not in there]
        if missing:
            yield from _made(missing, parts, file, harness)


def _made(
    missing: Sequence[tuple[Run, Any]],
    parts: tuple[LabelledImages, LabelledImages],
    file: RunFile,
    harness: Harness,
) -> Iterator[RunResult]:
    """Results of runs that were missing, each kept before it is yielded."""
    if harness.ledger is not None:
        check_ledger(harness.ledger)
    task = prepare(parts, missing[0][1], harness.orders, harness.device, harness.progress)
    with tempfile.TemporaryDirectory(prefix="firstsight-") as shared:
        for result in run_many(task, missing, harness.jobs, Path(shared), harness.progress):
            if harness.ledger is not None:  # first: a look that is not in the ledger is worse than a line too many
                look = Look.of(result.run, result.made_of.split, result.made_by, result.settings)
                record(harness.ledger, look)
            file.append(result)
            yield result


def _check_same(path: Path, result: RunResult, settings: Any, made: MadeOf, harness: Harness) -> None:
    """Refuse an earlier result that was made otherwise; a setting that there was none of then had its default.

    What nobody asked for is only said to be other, so that results that are not trained do not hang on how others are.
    """
    now = {**settings.as_dict(), **asdict(made)}
    defaults = {name: spec.default for name, spec in specs_of(type(settings)).items()}
    then = {**defaults, **result.settings, **asdict(result.made_of)}
    differing = [key for key in now if then.get(key) != now[key] and (harness.same_orders or key != "orders")]
    if not differing:
        return
    key = differing[0]
    other = f"{path} has {result.run.name}, made with {key} {then.get(key)!r}; now it is {now[key]!r}"
    if result.run.method in harness.beside and not set(differing) & {each.name for each in fields(made)}:
        harness.progress.note(f"{other}; it stays as it is, since {result.run.method} was not asked for")
        return
    raise SettingsError(other, "give what it was made with, or choose another --out")
