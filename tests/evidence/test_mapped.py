"""A register's map: kept beside it, the same after a restart, thrown away where it is damaged or of another."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstsight import Store
from firstsight.core.protocols import Provenance
from firstsight.evidence import mapped
from firstsight.evidence.map_bytes import map_bytes
from firstsight.evidence.mapped import Map
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.store import Arrival

MODEL = Provenance("f" * 64, 1, "cpu", "fp32")
WIDTH = 4


def register() -> StatisticsRegister:
    spread = Spread(np.ones(WIDTH), np.full(WIDTH, 25.0), concentration=0.0)
    return StatisticsRegister(spread, ["ant"], np.ones(1), np.zeros((1, WIDTH)))


def come(store: Store, count: int, seed: int = 0) -> None:
    """So many images arrive: around five corners."""
    rng = np.random.default_rng(seed)
    corners = 8 * np.concatenate([np.zeros((1, WIDTH)), np.eye(WIDTH)])
    features = (corners[rng.integers(0, 5, count)] + rng.standard_normal((count, WIDTH))).astype(np.float32)
    store.record([Arrival(f"{seed}-{i}.jpg", rng.bytes(32), each) for i, each in enumerate(features)], MODEL)


def made(path: Path, count: int = 30) -> Store:
    store = Store.create(path, register(), MODEL, "normal")
    come(store, count)
    return store


def places(of: Map, store: Store) -> Any:
    placed = of.at(store.view())
    return None if placed is None else placed.places.tolist()


def test_nothing_is_laid_out_until_someone_asks_and_then_nobody_moves(tmp_path: Path) -> None:
    with made(tmp_path / "r.db") as store:
        plane = Map(tmp_path / "r.db")
        assert plane.at(store.view()) is None
        plane.begin(store.view())
        plane.wait()
        first = places(plane, store)
        come(store, 20, seed=1)
        store.move(store.view().images()[:5], "ant")
        then = plane.at(store.view())
        assert then is not None
        assert then.places[:30].tolist() == first
        assert (len(then.places), then.since) == (50, 20)


def test_it_is_the_same_after_a_restart_also_after_a_crash(tmp_path: Path) -> None:
    with made(tmp_path / "r.db") as store:
        plane = Map(tmp_path / "r.db")
        plane.lay_out(store.view())
        come(store, 20, seed=1)
        before = places(plane, store)
        assert places(Map(tmp_path / "r.db"), store) == before  # the last were not kept: they are placed again
        plane.close(store.view())
        again = Map(tmp_path / "r.db")
        assert places(again, store) == before
        held = again.at(store.view())
        assert held is not None
        assert held.since == 20


def test_what_came_last_is_kept_now_and_then(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mapped, "OFTEN", 10)
    with made(tmp_path / "r.db") as store:
        plane = Map(tmp_path / "r.db")
        plane.lay_out(store.view())
        kept = (tmp_path / "r.db-map").stat().st_size
        come(store, 20, seed=1)
        plane.at(store.view())
        assert (tmp_path / "r.db-map").stat().st_size > kept


@pytest.mark.parametrize("where", ["empty", "cut", "text", "flipped", "later"])
def test_a_damaged_file_is_as_good_as_none(tmp_path: Path, where: str) -> None:
    with made(tmp_path / "r.db") as store:
        plane = Map(tmp_path / "r.db")
        plane.lay_out(store.view())
        file = tmp_path / "r.db-map"
        content = bytearray(file.read_bytes())
        spoiled = {"empty": b"", "cut": bytes(content[:-7]), "text": b"hello"}
        content[-5] ^= 1
        spoiled["flipped"] = bytes(content)
        spoiled["later"] = file.read_bytes().replace(b'"format": 1', b'"format": 2')
        file.write_bytes(spoiled[where])
        again = Map(tmp_path / "r.db")
        assert again.at(store.view()) is None
        again.lay_out(store.view())
        assert places(again, store) == places(plane, store)


def test_a_map_of_another_register_is_thrown_away(tmp_path: Path) -> None:
    with made(tmp_path / "r.db") as store, Store.create(tmp_path / "other.db", register(), MODEL, "normal") as other:
        come(other, 40, seed=7)
        Map(tmp_path / "r.db").lay_out(store.view())
        (tmp_path / "r.db-map").rename(tmp_path / "other.db-map")
        assert Map(tmp_path / "other.db").at(other.view()) is None


def test_a_register_in_memory_has_its_map_there() -> None:
    store = Store.in_memory(register(), MODEL)
    plane = Map()
    plane.lay_out(store.view())
    assert plane.at(store.view()) is None  # of nothing
    come(store, 12)
    plane.lay_out(store.view())
    assert len(places(plane, store)) == 12


def told(content: bytes) -> tuple[dict[str, Any], dict[int, tuple[Any, ...]]]:
    """What a browser reads."""
    assert content[:4] == b"FSM1"
    size = int.from_bytes(content[4:8], "little")
    header = json.loads(content[8 : 8 + size])
    at, columns = 8 + size, []
    for kind, each in (("<u4", 1), ("<u2", 2), ("<i4", 1), ("u1", 1)):
        values = np.frombuffer(content, kind, header["images"] * each, at)
        at += values.nbytes
        columns.append(values.reshape(header["images"], each))
    assert at == len(content)
    assert (8 + size) % 4 == 0
    numbers, spots, owners, flags = columns
    lines = zip(numbers[:, 0].tolist(), spots.tolist(), owners[:, 0].tolist(), flags[:, 0].tolist(), strict=True)
    return header, {number: (spot, owner, flag) for number, spot, owner, flag in lines}


def test_what_changed_added_to_what_was_is_what_is() -> None:
    store = Store.in_memory(register(), MODEL)
    come(store, 30)
    plane = Map()
    plane.lay_out(store.view())
    ids = [each.id for each in store.view().catalogue.live()]
    edits = (
        lambda: come(store, 5, seed=1),
        lambda: store.move(store.view().images()[:4], "ant"),
        lambda: store.merge(ids[1], ids[2]),
        lambda: store.rename(ids[2], "bee"),
        lambda: store.discard(store.view().images()[:3]),
        lambda: store.split(store.view().images()[5:8], "wasp"),
        lambda: store.confirm(store.view().images()[9:12]),
        lambda: store.undo(),
        lambda: store.undo(store.view().catalogue.edits[4]),
        lambda: store.promote(ids[2], None),
    )
    view = store.view()
    placed = plane.at(view)
    assert placed is not None
    header, images = told(map_bytes(placed, view.catalogue))
    names = {each[0]: each[1:] for each in header["categories"]}
    for edit in edits:
        edit()
        now = store.view()
        placed = plane.at(now)
        assert placed is not None
        change, changed = told(map_bytes(placed, now.catalogue, view.catalogue))
        images = {number: it for number, it in (images | changed).items() if number not in set(change["left"])}
        names |= {each[0]: each[1:] for each in change["categories"]}
        header, whole = told(map_bytes(placed, now.catalogue))
        assert images == whole
        assert {each[0]: each[1:] for each in header["categories"]}.items() <= names.items()
        assert (change["since"], change["last"], header["since"]) == (view.last, now.last, None)
        view = now


def test_nothing_changed_is_told_as_nothing() -> None:
    store = Store.in_memory(register(), MODEL)
    come(store, 12)
    plane, view = Map(), store.view()
    plane.lay_out(view)
    placed = plane.at(view)
    assert placed is not None
    header, changed = told(map_bytes(placed, view.catalogue, view.catalogue))
    assert (header["images"], header["categories"], header["left"], changed) == (0, [], [], {})


def test_a_fault_in_the_background_is_said_and_can_be_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    store = Store.in_memory(register(), MODEL)
    come(store, 12)
    plane = Map()
    with monkeypatch.context() as broken:
        broken.setattr(mapped, "fit", lambda *given: 1 / 0)
        plane.begin(store.view())
        plane.wait()
    assert plane.failed
    assert not plane.working
    plane.begin(store.view())
    plane.wait()
    assert plane.failed is None
    assert len(places(plane, store)) == 12


def test_only_the_latest_moments_are_remembered() -> None:
    store, plane, lasts = Store.in_memory(register(), MODEL), Map(), []
    for seed in range(mapped.MOMENTS + 3):
        come(store, 1, seed)
        plane.remember(store.view())
        lasts.append(store.view().last)
    assert [plane.moment(last) is not None for last in lasts] == [False] * 3 + [True] * mapped.MOMENTS
