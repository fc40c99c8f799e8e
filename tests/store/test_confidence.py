"""How sure an answer was: kept with it, shown to people, gone once the image is moved."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tiny_store import MODEL, discover, new_store

from firstsight.cli.main import app
from firstsight.core.errors import StoreError
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store import reencode, views
from firstsight.store.events import Assigned, Recorded, from_columns, to_columns
from firstsight.store.store import Arrival, Store


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "a.db"


def fresh() -> StatisticsRegister:
    """Two known categories of four features each, around 0 and 9; W is 1, B is 25."""
    spread = Spread(np.ones(1), np.full(1, 25.0), concentration=-6.0)
    return StatisticsRegister(spread, ["ant", "bee"], np.array([4, 4]), np.array([[0.0], [36.0]]))


def arrival(value: float, name: str | None = None) -> Arrival:
    name = name or f"{value:g}.jpg"
    return Arrival(name, hashlib.sha256(name.encode()).digest(), np.array([value], dtype=np.float32))


def filled(path: Path) -> Store:
    """Images by number: 1 is surely an ant, 2 and 3 less and less so, 4 is surely a bee."""
    store = Store.create(path, fresh(), MODEL)
    store.record([arrival(value) for value in (0, 3.5, 4.4, 9)], MODEL)
    return store


def shown(capsys: pytest.CaptureFixture[str], path: Path, *arguments: object) -> str:
    capsys.readouterr()
    app(["categories", str(path), *map(str, arguments)], standalone_mode=False)
    return capsys.readouterr().out


def test_an_answer_opened_again_is_as_sure_as_it_was_given(path: Path) -> None:
    with Store.create(path, fresh(), MODEL) as store:
        given = store.record([arrival(value) for value in (0, 4.4, 30)], MODEL)
        assert len({answer.confidence for answer in given}) == 3
    with Store.open(path) as store:
        assert [store.assignment(answer.image or 0).confidence for answer in given] == [a.confidence for a in given]
        assert [member.confidence for member in views.images(store.view())] == [a.confidence for a in given]
        again = store.record([arrival(value) for value in (0, 4.4, 30)], MODEL, once=True)
        assert [(a.decided_by, a.confidence) for a in again] == [("record", a.confidence) for a in given]


def test_once_moved_an_image_is_no_longer_as_sure_until_that_is_undone(path: Path) -> None:
    with filled(path) as store:
        before = store.assignment(3).confidence
        store.move([3], to="bee" if store.assignment(3).category == "ant" else "ant")
        assert store.assignment(3).confidence is None
        store.undo()
        assert store.assignment(3).confidence == before is not None


def test_a_persons_word_on_the_same_image_is_not_as_sure_as_the_rule_was(path: Path) -> None:
    with filled(path) as store:
        store.confirm([3])
        (again,) = store.record([arrival(4.4)], MODEL)
        assert (again.decided_by, again.confidence) == ("person", None)
        event = store.view().event(again.image or 0).event
        assert isinstance(event, Assigned)
        assert event.confidence is None


def test_a_log_written_before_confidence_was_kept_still_opens(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 0b1111, 0b1110)
    with closing(sqlite3.connect(path)) as db:
        bodies = [json.loads(body) for (body,) in db.execute("SELECT body FROM events WHERE kind = 'Assigned'")]
    assert not any("confidence" in body for body in bodies)  # as a register that cannot tell writes it to this day
    with Store.open(path) as store:
        assert [member.confidence for member in views.images(store.view())] == [None, None]


def test_an_event_says_how_sure_it_was_only_where_it_was() -> None:
    event = Assigned("a.jpg", "ant", None, -3.5, 0.0, None, None, "rule", 1, b"feature", b"content", 0.75)
    kind, body, feature, content = to_columns(event)
    assert from_columns(kind, body, feature, content) == event
    without = json.dumps({name: value for name, value in json.loads(body).items() if name != "confidence"})
    older = from_columns(kind, without, feature, content)
    assert isinstance(older, Assigned)
    assert older.confidence is None
    assert json.loads(to_columns(older)[1]) == json.loads(without)


def test_another_models_confidence_is_not_taken_over() -> None:
    event = Assigned("a.jpg", "ant", None, -3.5, 0.0, "bee", 2.0, "rule", 1, b"", b"content", 0.75)
    view = Store.in_memory(fresh(), MODEL).view()
    making = reencode.Anew(view, {1: np.zeros(1, dtype=np.float32)}, fresh(), known=())
    anew = making.event(Recorded(1, 0, event), encoder=2)
    assert isinstance(anew, Assigned)
    assert (anew.distance, anew.runner_up, anew.confidence, anew.encoder) == (None, None, None, 2)


def test_people_read_how_sure_it_was_and_not_log_odds(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with filled(path) as store:
        store.rename("bee", "honey bee")
        sure = f"{store.assignment(2).confidence:.0%} sure"
    line = next(line for line in shown(capsys, path, "show", "ant").splitlines() if "3.5.jpg" in line)
    assert sure in line
    assert line.rstrip().endswith("honey bee")
    assert "radius" not in line
    line = next(line for line in shown(capsys, path, "history").splitlines() if "3.5.jpg" in line)
    assert f"-> ant, {sure}" in line
    (_, member, *_) = json.loads(shown(capsys, path, "show", "ant", "--json"))
    assert member["runner_up"] == "bee"
    assert isinstance(member["runner_up_distance"], float)
    assert f"{member['confidence']:.0%} sure" == sure


def test_registers_of_codes_still_say_how_far_it_was(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with new_store(path) as store:
        discover(store, 1)
        store.rename("bee", "honey bee")
    text = shown(capsys, path, "show", "ant")
    assert "1 (radius 1)" in text
    assert "honey bee at 7" in text
    assert "1 away" in shown(capsys, path, "history")


def test_the_least_sure_come_first_up_to_a_limit(path: Path) -> None:
    with filled(path) as store:
        found, silent = views.unsure(store.view(), below=1.0, limit=3)
        assert [member.image for member in found] == [3, 2, 1]
        assert found == sorted(views.images(store.view()), key=lambda member: member.confidence or 0)[:3]
        assert silent == 0
        sure = store.assignment(2).confidence or 0
        assert [member.image for member in views.unsure(store.view(), sure, limit=20)[0]] == [3]  # below, not at


def test_what_people_settled_is_not_asked_again(path: Path) -> None:
    with filled(path) as store:
        store.confirm([3])
        store.move([2], to="bee")
        store.record([arrival(4.4)], MODEL)  # a person's answer to the same image
        assert [member.image for member in views.unsure(store.view(), 1.0, 20)[0]] == [1, 4]
        assert views.unsure(store.view(), 1.0, 20)[1] == 0  # a person's answer is no rule's that says nothing
        store.undo()
        assert [member.image for member in views.unsure(store.view(), 1.0, 20)[0]] == [2, 1, 4]
        store.undo(1)
        assert [member.image for member in views.unsure(store.view(), 1.0, 20)[0]] == [2, 4]


def test_answers_that_do_not_say_how_sure_they_were_are_counted(path: Path) -> None:
    with filled(path) as store:
        event = store.view().event(3).event
        assert isinstance(event, Assigned)
        store.take_over([replace(event, confidence=None)], [0])
        found, silent = views.unsure(store.view(), 1.0, 20)
        assert (len(found), silent) == (4, 1)


def test_a_register_that_cannot_tell_how_sure_it_is_says_so(path: Path) -> None:
    with new_store(path) as store:
        discover(store, 1)
        with pytest.raises(StoreError, match="cannot tell how sure it is"):
            views.unsure(store.view(), 0.5, 20)


def test_people_see_what_to_look_at_and_what_to_do(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with filled(path) as store:
        store.rename("ant", "wood ant")
        store.rename("bee", "honey bee")
    app(["categories", str(path), "unsure", "--below", "0.95"], standalone_mode=False)
    out, err = capsys.readouterr()
    (line,) = [line for line in out.splitlines() if ".jpg" in line]
    assert re.split(r"  +", line.strip()) == ["3", "4.4.jpg", "wood ant", "91% sure", "honey bee"]
    assert "confirm 3" in err
    assert "move 3 --to CATEGORY" in err
    (member,) = json.loads(shown(capsys, path, "unsure", "--below", "0.95", "--json"))
    assert (member["image"], member["category"], member["runner_up"]) == (3, "ant", "bee")
    app(["categories", str(path), "unsure"], standalone_mode=False)
    assert "no answer is less than 50% sure" in capsys.readouterr().err
