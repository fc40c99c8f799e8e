"""Processes that work beside each other: what they make, what they lose, and how they end."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest

from firstsight.core.errors import DataError, ProcessDied
from firstsight.reproduce.workers import by_processes

begun: list[str] = []


def begin(text: str) -> None:
    begun.append(text)


def work(item: int) -> tuple[str, int, str]:
    return begun[-1], item * item, os.environ["OMP_NUM_THREADS"]


def fatal(folder: Path, item: int) -> int:
    """3 kills its process the first time, 4 every time."""
    mark = folder / str(item)
    if item == 4 or (item == 3 and not mark.exists()):
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return item


def process(item: int) -> int:
    return os.getpid()


def refuse(item: int) -> int:
    if item == 0:
        raise DataError("of its own")
    return item


def never(item: int, died: ProcessDied) -> None:
    raise AssertionError(item)


def test_every_item_is_worked_on_by_a_process_that_has_begun(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    results = dict(by_processes(work, range(5), 2, partial(begin, "so"), never))
    assert results == {item: ("so", item * item, "1") for item in range(5)}
    assert begun == []


def test_an_item_whose_process_is_killed_is_tried_once_more(tmp_path: Path) -> None:
    told: list[tuple[int, str]] = []
    outcomes = list(
        by_processes(
            partial(fatal, tmp_path), range(7), 2, partial(begin, ""), lambda item, died: told.append((item, died.what))
        )
    )
    assert sorted(told) == [(item, "a process that helps was killed by signal 9") for item in (3, 4)]
    results = dict(outcomes)
    assert isinstance(results.pop(4), ProcessDied)
    assert results == {item: item for item in (0, 1, 2, 3, 5, 6)}
    assert {item for item, _ in outcomes[-2:]} == {3, 4}  # when the others are done


def test_an_error_of_another_kind_is_raised() -> None:
    with pytest.raises(DataError, match="of its own"):
        list(by_processes(refuse, range(9), 2, partial(begin, ""), never))


def test_who_stops_early_leaves_no_process_behind() -> None:
    results = by_processes(process, range(10**4), 2, partial(begin, ""), never)
    _, number = next(results)
    assert isinstance(number, int)
    results.close()  # type: ignore[attr-defined]
    with pytest.raises(ProcessLookupError):
        os.kill(number, 0)
