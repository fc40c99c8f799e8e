"""Images that are answered together: one answer for all, one lesson, and a log that replays to the same register."""

from __future__ import annotations

from pathlib import Path

import pytest
from every_log import LOGS, new_log
from hypothesis import given
from hypothesis import strategies as st
from tiny_store import KINDS, MODEL, Kind, arrival, fresh

from firstsight.core.assignments import Assignment
from firstsight.register.together import decide
from firstsight.store.groups import Arrival
from firstsight.store.store import Store


def together(kind: Kind, *values: int, burst: int | None = 1, start: int = 0) -> list[Arrival]:
    plain = [arrival(value, f"{start + i}-{value}.jpg", kind) for i, value in enumerate(values)]
    return [Arrival(each.source, each.content, each.feature, burst=burst) for each in plain]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("where", LOGS)
def test_a_burst_has_one_answer(tmp_path: Path, kind: Kind, where: str) -> None:
    """The second alone would found a category, and the third be a bee's."""
    with Store(new_log(tmp_path / "r.db", kind, where)) as store:
        answers = store.record(together(kind, 0b0000, 0b0111, 0b0000, 0b0000), MODEL)
        assert {answer.category for answer in answers} == {"ant"}
        assert sorted(answer.image or 0 for answer in answers) == [1, 2, 3, 4]
        assert sum(answer.lesson for answer in answers) == 1
        for i, answer in enumerate(answers):
            assert store.view().assigned(answer.image or 0).source.startswith(f"{i}-")


@pytest.mark.parametrize("kind", KINDS)
def test_a_burst_founds_one_category(tmp_path: Path, kind: Kind) -> None:
    with Store(new_log(tmp_path / "r.db", kind, "file")) as store:
        answers = store.record(together(kind, 0b11110000, 0b11110000, 0b11110001), MODEL)
        assert {answer.category for answer in answers} == {"new-1"}
        assert [answer.created for answer in answers].count(True) == 1
        kinds = [event.kind for event in store.view().events()]
        assert kinds == ["Created", "Assigned", "Assigned", "Assigned"]
        (founder,) = [answer for answer in answers if answer.created]
        assert founder.image == 2
    with Store.open(tmp_path / "r.db") as store:
        store.verify()
        again = store.record(together(kind, 0b11110000, 0b11110000, start=9), MODEL)
        assert {answer.category for answer in again} == {"new-1"}


@given(
    st.sampled_from(["codes", "statistics"]),
    st.lists(st.tuples(st.integers(0, 255), st.integers(0, 3)), min_size=1, max_size=14),
    st.booleans(),
)
def test_what_is_reopened_answers_as_what_was_live(kind: Kind, images: list[tuple[int, int]], once: bool) -> None:
    """Any values, in any bursts, some of them twice."""
    log = new_log(Path("none"), kind, "memory")
    live = Store(log)
    arrivals = [arrival(value, f"{value}.jpg", kind) for value, _ in images]
    bursts = [burst or None for _, burst in images]
    asked = [Arrival(a.source, a.content, a.feature, burst=b) for a, b in zip(arrivals, bursts, strict=True)]
    answers = live.record(asked[:5], MODEL, once) + live.record(asked[5:], MODEL, once)
    reopened = Store(log)
    assert reopened.view().catalogue == live.view().catalogue
    assert [reopened.register.match(each.feature) for each in arrivals] == [
        live.register.match(each.feature) for each in arrivals
    ]
    for answer in answers:
        assert live.view().category_of(answer.image or 0) == answer.category


@pytest.mark.parametrize("kind", KINDS)
def test_one_alone_is_answered_as_ever(kind: Kind) -> None:
    one, other = fresh(kind), fresh(kind)
    found: list[Assignment] = []
    for value in (0, 0b0111, 0b11110000, 0b11110001, 255):
        found += decide(one, [arrival(value, kind=kind).feature]).answers
        assert found[-1] == other.assign(arrival(value, kind=kind).feature)
