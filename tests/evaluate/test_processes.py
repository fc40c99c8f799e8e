"""Work spread over processes: the same results in the same order, one process where that is enough, clear errors."""

from __future__ import annotations

import os
import pickle
import select
import signal
from pathlib import Path
from typing import NamedTuple

import pytest
from test_stream import CODES, TRUTH, of_codes

from firstsight.core.errors import ProcessDied, SettingsError
from firstsight.evaluate import processes
from firstsight.evaluate.processes import spread
from firstsight.evaluate.stream import decided

LONGEST = 60  # seconds until a process that should have come is given up


class Meeting(NamedTuple):
    """Where this process waits, at its third item, until another has begun one; which then may come to an end."""

    place: Path
    here: int
    fate: str = ""


def squared(meeting: Meeting, item: int) -> tuple[int, bool]:
    """The square, and whether another process found it."""
    elsewhere = os.getpid() != meeting.here
    if elsewhere:
        with meeting.place.open("wb") as told:
            told.write(b"!")
        if meeting.fate == "killed":
            os.kill(os.getpid(), signal.SIGKILL)
        if meeting.fate == "refused":
            raise SettingsError(f"{item} cannot be squared")
    elif item > 1:
        opened = os.open(meeting.place, os.O_RDONLY | os.O_NONBLOCK)
        select.select([opened], [], [], LONGEST)
        os.close(opened)
    return item * item, elsewhere


@pytest.fixture
def meeting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Meeting:
    """Two processes, however little there is to do."""
    monkeypatch.setattr(processes, "helpers_for", lambda took, computed, items: 1)
    os.mkfifo(tmp_path / "meet")
    return Meeting(tmp_path / "meet", os.getpid())


def test_results_are_in_order_whoever_found_them(meeting: Meeting) -> None:
    steps: list[None] = []
    found = spread(squared, meeting, [0, 1, 2, 3], lambda: steps.append(None))
    assert [square for square, _ in found] == [0, 1, 4, 9]
    assert [elsewhere for _, elsewhere in found].count(True) == 1
    assert len(steps) == 4


def test_a_process_that_is_killed_is_a_clear_error(meeting: Meeting) -> None:
    with pytest.raises(ProcessDied, match="was killed by signal 9"):
        spread(squared, meeting._replace(fate="killed"), [0, 1, 2, 3])


def test_an_error_in_another_process_is_the_same_here(meeting: Meeting) -> None:
    with pytest.raises(SettingsError, match="cannot be squared"):
        spread(squared, meeting._replace(fate="refused"), [0, 1, 2, 3])


def test_passes_in_two_processes_are_those_of_one(meeting: Meeting, monkeypatch: pytest.MonkeyPatch) -> None:
    two = decided(of_codes, CODES, TRUTH, orders=4)
    monkeypatch.setattr(processes, "helpers_for", lambda took, computed, items: 0)
    one = decided(of_codes, CODES, TRUTH, orders=4)
    assert two.keys() == one.keys()
    for kind in one:
        for each, other in zip(one[kind], two[kind], strict=True):
            assert each.measures == other.measures
            assert each.placed.tolist() == other.placed.tolist()


def added(given: object, item: int) -> int:
    return item + 1


@pytest.mark.parametrize(
    ("took", "computed", "items", "threads", "expected"),
    [
        (1.0, 1.0, 19, 4, 3),
        (1.0, 1.0, 19, 16, 11),  # 19 seconds are worth a dozen processes
        (1.0, 1.0, 2, 16, 0),
        (0.1, 0.1, 19, 16, 0),  # little to do
        (1.0, 1.0, 19, 1, 0),  # one core
        (1.0, 0.5, 19, 16, 0),  # which others use
        (60.0, 60.0, 3, 16, 2),
    ],
)
def test_processes_are_started_where_that_is_faster(
    took: float, computed: float, items: int, threads: int, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(processes, "computing_threads", lambda: threads)
    assert max(0, processes.helpers_for(took, computed, items)) == expected


@pytest.mark.parametrize("items", [[], [1], [1, 2], [1, 2, 3, 4]])
@pytest.mark.parametrize("given", [None, lambda: None])  # the latter cannot be told to a process
def test_one_process_is_enough(items: list[int], given: object, monkeypatch: pytest.MonkeyPatch) -> None:
    def never() -> None:
        raise AssertionError("a process was started")

    monkeypatch.setattr(processes, "Helper", never)
    monkeypatch.setattr(processes, "helpers_for", lambda took, computed, items: 0 if given is None else 4)
    assert spread(added, given, items) == [item + 1 for item in items]


def test_what_a_script_made_stays_in_its_process() -> None:
    made = type("Made", (), {"__module__": "__main__"})
    assert processes._as_bytes(added, made) is None
    told = processes._as_bytes(added, 1)
    assert told is not None
    assert pickle.loads(told) == (added, 1)
