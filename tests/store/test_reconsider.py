"""Second thoughts: what would be answered otherwise by now, said and done, and taken back."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest
from tiny_store import MODEL, discover, new_store

from firstsight.cli.main import app
from firstsight.core.protocols import Silent
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.reconsider import apply, reconsider
from firstsight.store.store import Arrival, Store


def fresh() -> StatisticsRegister:
    """One known category of four features around 0; W is 1, B is 25."""
    return StatisticsRegister(Spread(np.ones(1), np.full(1, 25.0), 0.0), ["ant"], np.array([4]), np.zeros((1, 1)))


def arrival(value: float) -> Arrival:
    name = f"{value:g}.jpg"
    return Arrival(name, hashlib.sha256(name.encode()).digest(), np.array([value], dtype=np.float32))


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The founder of new-1, at 5.6, is nearer to new-2, which was found later around 8."""
    with Store.create(tmp_path / "r.db", fresh(), MODEL) as store:
        store.record([arrival(5.6)], MODEL)
        store.change_radius(-2.5)
        store.record([arrival(9.5)], MODEL)
        store.change_radius(0)
        answers = store.record([arrival(8 + i / 10) for i in range(8)], MODEL)
        assert {answer.category for answer in answers} == {"new-2"}
    return tmp_path / "r.db"


def statistics(store: Store) -> tuple[list[float], list[list[float]]]:
    assert isinstance(store.register, StatisticsRegister)
    return store.register.counts.tolist(), store.register.sums.tolist()


def test_the_founder_of_a_category_of_its_own_is_asked_without_what_it_taught(path: Path) -> None:
    with Store.open(path, write=False) as store:
        before = statistics(store)
        (found,) = reconsider(store.view(), Silent())
        assert (found.source, found.category, found.now) == ("5.6.jpg", "new-1", "new-2")
        assert 0 < (found.confidence or 0) < 1
        assert statistics(store) == before
        register = store.register
        assert isinstance(register, StatisticsRegister)
        assert register.match(np.array([5.6])).category == "new-1"  # which it is itself
        assert register.match(np.array([5.6]), without="new-1").category == "new-2"


def test_what_is_applied_is_moved_and_can_be_taken_back(path: Path) -> None:
    with Store.open(path) as store:
        (edit,) = apply(store, reconsider(store.view(), Silent()))
        assert store.view().catalogue.images("new-1") == []
        assert reconsider(store.view(), Silent()) == []
        store.undo(edit.number)
        assert [each.now for each in reconsider(store.view(), Silent())] == ["new-2"]


def test_what_a_person_decided_is_not_reconsidered(path: Path) -> None:
    with Store.open(path) as store:
        store.confirm(store.view().catalogue.images("new-1"))
        assert reconsider(store.view(), Silent()) == []


def test_codes_are_reconsidered_by_distance(tmp_path: Path) -> None:
    with new_store(tmp_path / "c.db", radius=2) as store:
        discover(store, 0b11, 0b111)  # 2 from ant; 3 from it, but 1 from the one before
        (found,) = reconsider(store.view(), Silent())
        assert (found.category, found.now, found.distance, found.confidence) == ("ant", "new-1", 1, None)


def test_the_command_lists_does_and_says_how_to_undo(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*words: str) -> tuple[str, str]:
        app(["categories", str(path), *words], standalone_mode=False)
        said = capsys.readouterr()
        return said.out, said.err

    out, err = run("reconsider")
    assert ["5.6.jpg" in line and "new-2" in line for line in out.splitlines()].count(True) == 1
    assert "1 of 1" in err
    assert "reconsider --limit 1 --apply" in err
    (listed,) = json.loads(run("reconsider", "--json")[0])
    assert (listed["category"], listed["now"]) == ("new-1", "new-2")
    _, err = run("reconsider", "--apply")
    undo = next(line.split("undo ")[1] for line in err.splitlines() if "Undo:" in line)
    assert "no image would be" in run("reconsider")[1]
    run("undo", undo)
    assert "1 of 1" in run("reconsider")[1]
