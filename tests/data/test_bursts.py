"""Which images are one burst, and that groups never cut one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.sightings import Sighting
from firstsight.data import bursts
from firstsight.data.bursts import runs, same_burst, whole

ONE = Sighting(taken="2026-05-01T12:00:00", camera="Reconyx PC800", serial="7")


def after(seconds: str, **changes: Any) -> Sighting:
    return replace(ONE, taken=f"2026-05-01T12:00:{seconds}", **changes)


@pytest.mark.parametrize(
    ("other", "source", "same"),
    [
        (after("02"), "card/2.jpg", True),
        (after("10"), "card/2.jpg", True),
        (after("11"), "card/2.jpg", False),
        (after("02", serial="8"), "card/2.jpg", False),
        (after("02", camera="Phone"), "card/2.jpg", False),
        (after("02"), "other card/2.jpg", False),
        (after("00"), "card/1.jpg", False),  # two parts of one frame
        (replace(ONE, taken=None), "card/2.jpg", False),
    ],
)
def test_a_burst_is_of_one_camera_within_seconds(other: Sighting, source: str, same: bool) -> None:
    assert same_burst(ONE, "card/1.jpg", other, source, 10) is same
    assert same_burst(other, source, ONE, "card/1.jpg", 10) is same


def near(a: int, b: int) -> bool:
    return b - a <= 1


@given(st.lists(st.integers(0, 40)).map(sorted), st.lists(st.integers(1, 5), min_size=1))
def test_groups_end_where_runs_do(items: list[int], sizes: list[int]) -> None:
    groups: list[list[int]] = []
    at = 0
    while at < len(items):
        size = sizes[len(groups) % len(sizes)]
        groups.append(items[at : at + size])
        at += size
    made = list(whole(groups, near))
    assert [item for group in made for item in group] == items
    inside = [[group[i] for i in run] for group in made for run in runs(group, near)]
    assert inside == [[items[i] for i in run] for run in runs(items, near)]


def test_a_camera_that_never_stops_does_not_hold_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bursts, "LONGEST", 6)
    made = list(whole(([i] for i in range(20)), near))
    assert [len(group) for group in made] == [6, 6, 6, 2]
