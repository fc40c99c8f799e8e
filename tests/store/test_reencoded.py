"""A model that was fitted again, with what was found and named: the register goes on with it."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from every_kind import NAMES, PLACES, feature_at, register_of
from tiny_store import MODEL

from firstsight.core.errors import Conflict
from firstsight.core.protocols import Register, Silent
from firstsight.core.sightings import Sighting
from firstsight.data.crops import Crop, picture_of
from firstsight.data.images import read
from firstsight.register.codes import CodeRegister
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.reencode import reencode
from firstsight.store.relocate import find
from firstsight.store.store import Arrival, Store

HERE, THERE = (30, 0, 0, 0), (0, 30, 0, 0)  # an image is four bytes, tenths of a place
AGAIN = MODEL._replace(fingerprint="e" * 64)


def encoder(register: Register, kind: str) -> Any:
    """Something that makes features of four bytes, and knows what the register knows."""
    return SimpleNamespace(
        register=lambda: register,
        provenance=AGAIN,
        batch=8,
        prepare=lambda picture: np.frombuffer(picture, np.uint8),
        encode=lambda images: np.stack(images).astype(np.float32) / 10,
        transform=lambda features: np.stack([feature_at(kind, each) for each in features]),
    )


def knowing(kind: str, *names: str) -> Register:
    """A register whose model also knows categories here, there and so on."""
    places = [*PLACES, *np.array([HERE, THERE][: len(names)]) / 10]
    if kind == "codes":
        return CodeRegister(8, 1, [*NAMES, *names], np.stack([feature_at(kind, place) for place in places]))
    spread = Spread(np.full(4, 0.1), np.full(4, 4.0), 0.0)
    return StatisticsRegister(spread, [*NAMES, *names], np.ones(len(places)), np.array(places))


def offer(store: Store, folder: Path, *images: tuple[int, ...], kind: str) -> list[Arrival]:
    arrivals = []
    for each in images:
        path = folder / f"{len(list(folder.iterdir()))}.jpg"
        path.write_bytes(bytes(each))
        content = read(path)[1]
        arrivals.append(Arrival(str(path), content, feature_at(kind, np.array(each) / 10)))
    store.record(arrivals, MODEL)
    return arrivals


@pytest.fixture(params=["codes", "statistics"])
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def images(tmp_path: Path) -> Path:
    (tmp_path / "images").mkdir()
    return tmp_path / "images"


def test_a_promoted_category_and_the_one_the_new_model_knows_become_one(
    kind: str, images: Path, tmp_path: Path
) -> None:
    with Store.create(tmp_path / "old.db", register_of(kind), MODEL) as store:
        offer(store, images, HERE, (31, 0, 0, 0), THERE, (0, 31, 0, 0), kind=kind)
        store.promote("new-1", "Blue Morpho", by="Ann")
        store.rename("new-2", "Owl")  # named, not promoted
        store.rename("ant", "Emmet")
        with pytest.raises(Conflict, match=r"knows Emmet, as ant is called here"):
            reencode(store, encoder(knowing(kind, "Emmet"), kind), tmp_path / "no.db", Silent())
        made = reencode(
            store, encoder(knowing(kind, "Blue Morpho", "Owl"), kind), tmp_path / "new.db", Silent(), by="Bob"
        )
        before = store.view()
    assert made.joined == [("new-1", "Blue Morpho"), ("new-2", "Owl")]
    with Store.open(tmp_path / "new.db") as new:
        view = new.view()
        assert [c.id for c in view.catalogue.live()] == ["ant", "bee", "Blue Morpho", "Owl"]
        assert view.images("Blue Morpho") == before.images("new-1")
        assert view.category("new-1").id == "Blue Morpho"
        answer = new.match(feature_at(kind, np.array(HERE) / 10), b"nobody's")
        assert (answer.category, answer.is_new) == ("Blue Morpho", False)
        (answer,) = new.record([Arrival("x", b"x" * 32, feature_at(kind, np.array(HERE) / 10))], AGAIN)
        assert answer.category == "Blue Morpho"
        assert new.view().event(made.events).event.by == "person Bob"
        new.undo()
        assert new.view().name_of("new-1") == "Blue Morpho (new-1)"
        assert new.view().category("new-1").known
        new.verify()


def test_everything_people_said_is_taken_over(kind: str, images: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "old.db", register_of(kind), MODEL) as store:
        arrivals = offer(store, images, HERE, (29, 0, 0, 0), (31, 1, 0, 0), THERE, (0, 29, 0, 0), kind=kind)
        store.teach(arrivals[3:4], ["Gnat"], MODEL, by="Ann")
        store.discard([store.view().images("new-1")[0]])
        store.undo()
        store.redo()
        store.discard_category("new-2")
        reencode(store, encoder(knowing(kind), kind), tmp_path / "new.db", Silent())
        with Store.open(tmp_path / "new.db") as new:
            one, other = store.view(), new.view()
            assert other.catalogue.live() == one.catalogue.live()  # the same encoder, so the same centres
            assert [other.category_of(n) for n in other.images()] == [one.category_of(n) for n in one.images()]
            for told in (lambda e: e.event.by, lambda e: e.command, lambda e: e.kind):
                assert list(map(told, other.edits())) == list(map(told, one.edits()))
            for each in (store, new):
                each.undo(), each.undo(), each.undo()
            assert new.view().catalogue.live() == store.view().catalogue.live()


def test_files_that_moved_are_found_and_encoded_anew(kind: str, images: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "old.db", register_of(kind), MODEL) as store:
        offer(store, images, HERE, (29, 0, 0, 0), THERE, kind=kind)
        store.discard([store.view().images("new-1")[0]])  # which is looked for too: it may come back
        (tmp_path / "disk" / "2026").mkdir(parents=True)
        for path in images.iterdir():
            path.rename(tmp_path / "disk" / "2026" / f"IMG_{path.name}")
        (tmp_path / "disk" / "other.jpg").write_bytes(b"something else")
        with pytest.raises(Conflict, match="no longer there") as refused:
            reencode(store, encoder(knowing(kind), kind), tmp_path / "new.db", Silent())
        assert refused.value.hint == "relocate"
        search = find(store.view(), tmp_path / "disk", Silent())
        assert (len(search.found), search.missing) == (3, [])
        store.relocate(search.found, by="Ann")
        assert find(store.view(), tmp_path / "disk", Silent()) == ({}, [])
        number = store.view().images()[0]
        (found,) = store.view().with_source("IMG_1.jpg")
        assert found == (number, str(tmp_path / "disk" / "2026" / "IMG_1.jpg"))
        assert store.view().with_source("1.jpg") == []
        made = reencode(store, encoder(knowing(kind), kind), tmp_path / "new.db", Silent())
        with Store.open(tmp_path / "new.db") as new:
            assert made.events == new.view().last == store.view().last
            assert new.view().assigned(number).source == found[1]
        store.undo()
        assert store.view().assigned(number).source == str(images / "1.jpg")
        assert [each for each, _ in store.view().with_source("1.jpg")] == [number]


def test_of_two_files_alike_the_one_of_the_same_name_is_taken(images: Path, tmp_path: Path) -> None:
    with Store.in_memory(register_of("codes"), MODEL) as store:
        offer(store, images, HERE, HERE, kind="codes")
        there = tmp_path / "there"
        images.rename(there)
        search = find(store.view(), there, Silent())
        assert sorted(Path(path).name for path in search.found.values()) == ["0.jpg", "1.jpg"]
        (there / "0.jpg").unlink()
        assert {Path(path).name for path in find(store.view(), there, Silent()).found.values()} == {"1.jpg"}
        (there / "1.jpg").write_bytes(b"another")
        assert len(find(store.view(), there, Silent()).missing) == 2


def test_parts_of_frames_that_moved_are_found_by_their_frame(images: Path, tmp_path: Path) -> None:
    with Store.in_memory(register_of("codes"), MODEL) as store:
        arrivals = []
        for frame, left in (("a", 0.0), ("a", 0.5), ("b", 0.0), ("b", 0.5), ("gone", 0.0)):
            (images / f"{frame}.jpg").write_bytes(frame.encode())
            box = (left, 0.0, 0.5, 1.0)
            content = read(Crop(images / f"{frame}.jpg", box))[1]
            feature = feature_at("codes", np.array(HERE) / 10)
            arrivals.append(Arrival(str(images / f"{frame}.jpg"), content, feature, Sighting(box=box)))
        store.record(arrivals, MODEL)
        (tmp_path / "disk").mkdir()
        (images / "a.jpg").rename(tmp_path / "disk" / "a.jpg")
        (images / "b.jpg").rename(tmp_path / "disk" / "another name.jpg")
        (images / "gone.jpg").unlink()
        search = find(store.view(), tmp_path / "disk", Silent())
        assert [Path(place).stem for place in search.found.values()] == [*["a"] * 2, *["another name"] * 2]
        assert search.missing == [str(images / "gone.jpg")]
        store.relocate(search.found)
        for number in search.found:
            event = store.view().assigned(number)
            assert read(picture_of(event.source, event.box))[1] == event.content


def test_what_is_in_a_pack_that_is_there_is_not_missing(tmp_path: Path) -> None:
    with Store.in_memory(register_of("codes"), MODEL) as store:
        for pack in ("here", "gone"):
            source = f"{tmp_path / pack}.tar:ant/1.jpg"
            store.record([Arrival(source, pack.encode() * 8, feature_at("codes", np.array(HERE) / 10))], MODEL)
        (tmp_path / "here.tar").write_bytes(b"")
        assert find(store.view(), tmp_path, Silent()).missing == [f"{tmp_path / 'gone'}.tar:ant/1.jpg"]


def test_what_was_sent_is_encoded_anew_and_kept_with_the_new_register(kind: str, tmp_path: Path) -> None:
    with Store.create(tmp_path / "old.db", register_of(kind), MODEL) as store:
        content = read(bytes(HERE))[1]
        store.record([Arrival("upload:1.jpg", content, feature_at(kind, np.array(HERE) / 10))], MODEL)
        with pytest.raises(Conflict, match="not kept"):
            reencode(store, encoder(register_of(kind), kind), tmp_path / "new.db", Silent())
        store.pictures.put(bytes(HERE), content)
        reencode(store, encoder(register_of(kind), kind), tmp_path / "new.db", Silent())
    with Store.open(tmp_path / "new.db", write=False) as new:
        path = new.pictures.path(content)
        assert path is not None
        assert path.parent.parent == tmp_path / "new.db-images"
        assert path.read_bytes() == bytes(HERE)


def test_files_of_what_was_discarded_or_undone_may_be_gone(kind: str, images: Path, tmp_path: Path) -> None:
    with Store.create(tmp_path / "old.db", register_of(kind), MODEL) as store:
        arrivals = offer(store, images, HERE, (29, 0, 0, 0), (31, 0, 0, 0), THERE, kind=kind)
        first, second, third = store.view().images("new-1")
        store.discard([second])
        store.undo(third)
        for gone in arrivals[1:3]:
            Path(gone.source).unlink()
        reencode(store, encoder(knowing(kind), kind), tmp_path / "new.db", Silent())
        with Store.open(tmp_path / "new.db") as new:
            assert new.view().images("new-1") == [first]
            assert new.view().catalogue.is_discarded(second)
            new.verify()
        store.discard_category("new-2")
        Path(arrivals[3].source).unlink()  # nothing is left of that category, should it come back
        with pytest.raises(Conflict, match="no picture any more, and new-2 no other image"):
            reencode(store, encoder(knowing(kind), kind), tmp_path / "no.db", Silent())
        Path(arrivals[0].source).unlink()
        with pytest.raises(Conflict, match="1 images cannot be encoded anew"):
            reencode(store, encoder(knowing(kind), kind), tmp_path / "no.db", Silent())
