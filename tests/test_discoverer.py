"""The discoverer: the contract, bad images in a stream, and what it accepts."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import firstsight
from firstsight.checks import check_discoverer
from firstsight.core.errors import BadImages, ImageError, SettingsError, StoreError
from firstsight.data.folder import walk
from firstsight.encode.many import GROUP
from firstsight.model.model import Model
from firstsight.store.events import Assigned
from firstsight.store.store import Store


@pytest.fixture(scope="module")
def model(sure_model: Path) -> Model:
    return firstsight.load(sure_model, device="cpu")


@pytest.fixture
def images(swatches: Path) -> list[Path]:
    return list(walk(swatches / "stream"))


def fresh(model: Model, radius: int = 0) -> firstsight.Discoverer:
    return firstsight.Discoverer(model, model.register(radius=radius))


@pytest.mark.parametrize("rule", ["nearest", "first", "reference"])
def test_phe_keeps_the_contract(model: Model, images: list[Path], rule: str) -> None:
    check_discoverer(lambda: firstsight.Discoverer(model, model.register(rule=rule)), images)  # type: ignore[arg-type]


def test_the_closed_set_keeps_the_contract(model: Model, images: list[Path]) -> None:
    check_discoverer(lambda: firstsight.Discoverer(model, model.closed_set()), images)


def test_many_gives_what_one_by_one_gives(model: Model, images: list[Path]) -> None:
    one, many = fresh(model), fresh(model)
    assert list(many.discover_many(images)) == [one.discover_one(image) for image in images]
    assert list(many.predict_many(images)) == [one.predict_one(image) for image in images]


def test_a_path_a_picture_an_array_and_bytes_are_one_image(model: Model, images: list[Path]) -> None:
    path, discoverer = images[0], fresh(model)
    with Image.open(path) as picture:
        answers = [
            discoverer.predict_one(x) for x in (path, str(path), picture, np.asarray(picture), path.read_bytes())
        ]
    assert len(set(answers)) == 1


def test_a_bad_image_is_yielded_in_its_place(model: Model, images: list[Path], tmp_path: Path) -> None:
    bad = tmp_path / "bad.jpg"
    bad.write_bytes(b"no picture")
    stream = [images[0], bad, images[1]]
    answers = list(fresh(model).discover_many(stream, errors="yield"))
    assert [isinstance(answer, ImageError) for answer in answers] == [False, True, False]
    assert [answers[0], answers[2]] == list(fresh(model).discover_many(images[:2]))


def test_what_came_before_a_bad_image_stays_recorded(model: Model, images: list[Path]) -> None:
    discoverer = fresh(model)
    with pytest.raises(ImageError, match="does not exist"):
        list(discoverer.discover_many([images[0], Path("nowhere.jpg"), images[1]]))
    expected = fresh(model)
    expected.discover_one(images[0])
    assert list(discoverer.predict_many(images)) == list(expected.predict_many(images))


def test_a_store_of_another_model_is_refused_and_let_go(model: Model, images: list[Path], tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    Store.create(path, model.register(), model.provenance._replace(fingerprint="0" * 64)).close()
    for _ in range(2):
        with pytest.raises(StoreError, match="another model"):
            firstsight.Discoverer(model, store=path)


def test_a_discoverer_leaves_a_store_it_was_given_open(model: Model, images: list[Path], tmp_path: Path) -> None:
    with Store.create(tmp_path / "a.db", model.register(), model.provenance) as store:
        with firstsight.Discoverer(model, store=store) as discoverer:
            answer = discoverer.discover_one(images[0].read_bytes(), source="camera 7")
        assert [store.view().category_of(n) for n in store.view().images()] == [answer.category]
        recorded = store.view().event(answer.image or 0).event
        assert isinstance(recorded, Assigned)
        assert recorded.source == "camera 7"


def test_an_image_undone_after_it_was_recognised_is_recorded_again(
    model: Model, images: list[Path], tmp_path: Path
) -> None:
    with firstsight.Discoverer(model, store=tmp_path / "a.db", once=True) as discoverer:
        held = list(discoverer.discover_many(images[:20]))
        store = discoverer.store
        assert store is not None
        answers = discoverer.discover_many(images[:20])
        next(answers)
        store.undo(held[-1].image or 0)
        *_, last = answers
        assert last.decided_by == "rule"
        assert store.view().catalogue.has_image(last.image or 0)


def test_what_is_no_image_is_an_error_in_its_place(model: Model, images: list[Path], tmp_path: Path) -> None:
    with firstsight.Discoverer(model, store=tmp_path / "a.db") as discoverer:
        odd: list[Any] = [None, 7, images[0], bytearray(images[0].read_bytes())]
        answers = list(discoverer.discover_many(odd, errors="yield"))
    assert [isinstance(answer, ImageError) for answer in answers] == [True, True, False, False]


def test_images_are_read_only_a_little_ahead(model: Model, images: list[Path]) -> None:
    asked = 0

    def endless() -> Iterator[Path]:
        nonlocal asked
        while True:
            asked += 1
            yield images[asked % len(images)]

    answers = fresh(model).discover_many(endless())
    for _ in range(40):
        next(answers)
    answers.close()  # type: ignore[attr-defined]
    assert asked < 120


def test_a_group_is_recorded_before_its_first_answer_is_given(model: Model, images: list[Path]) -> None:
    discoverer = fresh(model)
    answers = discoverer.discover_many(images)
    next(answers)
    whole = fresh(model)
    list(whole.discover_many(images[:GROUP]))
    assert discoverer.predict_one(images[-1]) == whole.predict_one(images[-1])


def test_what_is_no_list_is_refused_at_once(model: Model) -> None:
    discoverer = fresh(model)
    with pytest.raises(SettingsError, match="errors is 'banana'; allowed: raise, yield"):
        discoverer.predict_many([], errors="banana")  # type: ignore[call-overload]
    for given in ("photos/a.jpg", Path("photos/a.jpg")):
        with pytest.raises(SettingsError, match=r"images are 'photos/a.jpg', not a list"):
            discoverer.discover_many(given)  # type: ignore[arg-type]


def test_what_is_taught_is_all_or_nothing_and_one_undo(model: Model, images: list[Path], tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="kept in a store"):
        fresh(model).teach(images[:1], ["gnat"])
    with firstsight.Discoverer(model, store=tmp_path / "a.db") as discoverer:
        store = discoverer.store
        assert store is not None
        with pytest.raises(BadImages, match=r"nowhere\.jpg"):
            discoverer.teach([images[0], Path("nowhere.jpg")], ["gnat", "gnat"])
        assert store.view().last == 0
        answers = discoverer.teach(images[:3], ["gnat", "GNAT", model.names[0].upper()], by="Ann")
        assert [answer.name or answer.category for answer in answers] == ["gnat", "gnat", model.names[0]]
        assert {answer.decided_by for answer in answers} == {"person"}
        assert not any(answer.is_new for answer in answers)
        assert discoverer.predict_one(images[0]).name == "gnat"
        store.undo()
        assert store.view().images() == []


def test_features_can_be_taught(tmp_path: Path) -> None:
    model = firstsight.fit_features([[0, 1], [0.1, 1], [1, 0], [1, 0.1]], ["ant", "ant", "bee", "bee"])
    with firstsight.Discoverer(model, store=tmp_path / "a.db") as discoverer:
        far = [np.array([-1, -1 + i / 100], dtype=np.float32) for i in range(3)]
        answers = discoverer.teach(far, ["Cat", "cat", "Cat"])
        assert {answer.name for answer in answers} == {"Cat"}
        answer = discoverer.discover_one(np.array([-1, -1.01]))
        assert (answer.name, answer.is_new, answer.created) == ("Cat", False, False)
