"""What a benchmark keeps, resumes, refuses and writes into the ledger, with runs that take no training."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest
from run_results import a_result

from firstsight.core.errors import DataError, DiskError, ProcessDied, SettingsError
from firstsight.core.settings import ImageSettings, Settings
from firstsight.data.folder import LabelledImages, read_folder
from firstsight.data.splits import Split, split
from firstsight.reproduce import benchmark as module
from firstsight.reproduce.benchmark import Harness, benchmark
from firstsight.reproduce.results import MadeOf, RunResult
from firstsight.reproduce.run_files import RunFile
from firstsight.reproduce.runs import Run
from firstsight.reproduce.task import check_parts, made_of, split_digest

WANTED = [Run("mini", "ncm", None, seed) for seed in range(3)]


@dataclass
class Work:
    """Stands for all training: says which runs were made, and can be killed before one of them."""

    made: list[Run] = field(default_factory=list)
    killed_at: Run | None = None

    def prepare(self, parts: Any, settings: ImageSettings, orders: int, device: str, progress: Any) -> MadeOf:
        return made_of(parts, settings.weights, orders)

    def run_many(self, task: MadeOf, missing: Sequence[tuple[Run, Settings]], *_: Any) -> Iterator[RunResult]:
        for run, settings in missing:
            if run == self.killed_at:
                raise ProcessDied("killed")
            self.made.append(run)
            yield replace(a_result(), run=run, settings=settings.as_dict(), made_of=task)


@pytest.fixture
def work(monkeypatch: pytest.MonkeyPatch) -> Work:
    work = Work()
    monkeypatch.setattr(module, "prepare", work.prepare)
    monkeypatch.setattr(module, "run_many", work.run_many)
    return work


@pytest.fixture
def images(moths: Path) -> LabelledImages:
    return read_folder(moths / "stream")


@pytest.fixture
def half(images: LabelledImages) -> Split:
    return split("mini", images, range(4))


def test_what_is_missing_is_made_and_what_is_there_is_kept(
    work: Work, images: LabelledImages, half: Split, tmp_path: Path
) -> None:
    harness = Harness(tmp_path)
    assert [result.run for result in benchmark(WANTED[:1], half, images, harness)] == WANTED[:1]
    assert Split.load(tmp_path / "mini.split.json") == half
    assert [result.run for result in benchmark(WANTED, half, images, harness)] == WANTED
    assert work.made == WANTED
    assert list(RunFile(tmp_path, "mini").read()) == WANTED


def test_a_benchmark_that_is_killed_goes_on_where_it_was(
    work: Work, images: LabelledImages, half: Split, tmp_path: Path
) -> None:
    work.killed_at = WANTED[1]
    with pytest.raises(ProcessDied):
        list(benchmark(WANTED, half, images, Harness(tmp_path)))
    work.killed_at = None
    assert len(list(benchmark(WANTED, half, images, Harness(tmp_path)))) == 3
    assert work.made == WANTED  # each once
    assert not list(tmp_path.glob(".*"))  # no lock is left


def test_every_look_is_in_the_ledger(work: Work, images: LabelledImages, half: Split, tmp_path: Path) -> None:
    harness = Harness(tmp_path, ledger=tmp_path / "looks" / "ledger.jsonl")
    for _ in range(2):
        list(benchmark(WANTED, half, images, harness))
    lines = [json.loads(line) for line in (tmp_path / "looks" / "ledger.jsonl").read_text().splitlines()]
    assert [(line["data"], line["method"], line["seed"]) for line in lines] == [("mini", "ncm", i) for i in range(3)]
    assert {"split", "commit", "time", "command", "hardware", "settings"} <= set(lines[0])


def test_a_ledger_that_cannot_be_written_is_refused_before_the_work(
    work: Work, images: LabelledImages, half: Split, tmp_path: Path
) -> None:
    with pytest.raises(DiskError):
        list(benchmark(WANTED, half, images, Harness(tmp_path, ledger=tmp_path)))
    assert work.made == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"changes": {"image_size": 96}}, "made with image_size 224; now it is 96"),
        ({"orders": 3}, "made with orders 10; now it is 3"),
    ],
)
def test_results_made_otherwise_are_not_passed_off(
    work: Work, images: LabelledImages, half: Split, tmp_path: Path, change: dict[str, Any], said: str
) -> None:
    list(benchmark(WANTED[:1], half, images, Harness(tmp_path)))
    with pytest.raises(SettingsError, match=said) as caught:
        list(benchmark(WANTED, half, images, Harness(tmp_path, **change)))
    assert "mini-ncm-seed0" in caught.value.what
    assert work.made == WANTED[:1]


def test_orders_may_differ_where_that_is_said(work: Work, images: LabelledImages, half: Split, tmp_path: Path) -> None:
    list(benchmark(WANTED, half, images, Harness(tmp_path)))
    assert len(list(benchmark(WANTED, half, images, Harness(tmp_path, orders=3, same_orders=False)))) == 3
    assert work.made == WANTED


def test_another_split_is_refused_and_not_saved(
    work: Work, images: LabelledImages, half: Split, tmp_path: Path
) -> None:
    list(benchmark(WANTED, half, images, Harness(tmp_path)))
    other = split("mini", images, range(4), seed=1)
    with pytest.raises(SettingsError, match="made with split"):
        list(benchmark(WANTED, other, images, Harness(tmp_path)))
    assert Split.load(tmp_path / "mini.split.json") == half


def test_a_run_that_cannot_be_is_refused_before_anything_is_made(
    work: Work, images: LabelledImages, half: Split, tmp_path: Path
) -> None:
    wanted = [*WANTED, Run("mini", "phe", 1, 0)]
    with pytest.raises(SettingsError, match="4 known categories do not fit"):
        list(benchmark(wanted, half, images, Harness(tmp_path)))
    assert work.made == []


def test_a_split_that_teaches_nothing_is_refused(images: LabelledImages, half: Split) -> None:
    support, query = half.apply(images)
    with pytest.raises(DataError, match="got no support image"):
        check_parts(support.select([0], list(range(4))), query)
    with pytest.raises(DataError, match="0 images to arrive"):
        check_parts(support, query.select([], []))


def test_a_digest_tells_splits_apart(images: LabelledImages, half: Split) -> None:
    first, other = half.apply(images), split("mini", images, range(4), seed=1).apply(images)
    assert split_digest(*first) == split_digest(*half.apply(images))
    assert split_digest(*first) != split_digest(*other)
    assert split_digest(*first) != split_digest(*reversed(first))
