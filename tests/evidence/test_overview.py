"""Everything a register holds: founders, what categories are near, what is unsure, what may be mended."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from clouds import clouds
from colours import colour_model, painted
from firstsight import Discoverer, Store, fit_features
from firstsight.evidence.overview import Found, Overview, overview
from firstsight.store.splits import suggest_splits
from firstsight.store.suggest import suggest

GREEN, WHITE = (0, 255, 0), (255, 255, 255)


def by_id(found: Overview) -> dict[str, Found]:
    return {each.summary.id: each for each in found.categories}


def seen(tmp_path: Path, *colours: tuple[int, int, int]) -> Store:
    """Colours arrive one by one: red and blue are known, green and white are not."""
    discoverer = Discoverer(colour_model(), store=tmp_path / "r.db")
    assert discoverer.store is not None
    for i, colour in enumerate(colours):
        discoverer.discover_one(painted(colour), source=f"{i}.png")
    return discoverer.store


def test_founders_members_and_times(tmp_path: Path) -> None:
    with seen(tmp_path, GREEN, (255, 0, 0), GREEN) as store:
        found = by_id(overview(store.view()))
    green, red, blue = found["new-1"], found["red"], found["blue"]
    assert green.founder is not None
    assert green.founder.source == "0.png"
    assert [each.source for each in green.members] == ["2.png"]
    assert [each.source for each in green.images] == ["0.png", "2.png"]
    assert red.founder is None
    assert [each.source for each in red.members] == ["1.png"]
    assert (blue.images, blue.first_seen, blue.last_seen) == ((), None, None)
    assert green.first_seen == green.founder.time
    assert green.last_seen == green.members[0].time


def test_a_founder_that_was_moved_founds_nothing(tmp_path: Path) -> None:
    with seen(tmp_path, GREEN, GREEN) as store:
        store.move([2], "red")  # the first event founds new-1
        found = by_id(overview(store.view()))
    assert found["new-1"].founder is None
    assert [each.image for each in found["new-1"].members] == [3]
    assert [each.image for each in found["red"].images] == [2]


def test_the_nearest_is_another_category_also_without_images(tmp_path: Path) -> None:
    """Green is 0100, white 1110, red 1001, blue 0010; of equals the older one."""
    with seen(tmp_path, GREEN, WHITE) as store:
        found = by_id(overview(store.view()))
        nearest = {id: each.nearest for id, each in found.items()}
        assert nearest == {"red": "blue", "blue": "new-1", "new-1": "blue", "new-2": "blue"}
        assert found["new-2"].next_best == 1
        assert found["new-1"].next_best == 1
        store.merge("new-2", "red")
        merged = by_id(overview(store.view()))
    assert "new-2" not in merged
    assert "new-2" not in {each.nearest for each in merged.values()}
    assert merged["red"].nearest == "blue"


def test_where_all_is_one_category_it_is_near_to_nothing() -> None:
    model = colour_model()
    with Store.in_memory(model.register(), model.provenance) as store:
        store.merge("blue", "red")
        (found,) = overview(store.view()).categories
    assert found.nearest is None


@pytest.fixture
def told() -> Store:
    """Categories that touch, as features: some answers are unsure."""
    features, labels = clouds(6, 20, width=4, apart=2.0)
    support = (labels < 4) & (np.arange(len(labels)) % 2 == 0)
    model = fit_features(features[support], [f"c{i}" for i in labels[support]])
    stream: NDArray[np.float32] = features[~support].astype(np.float32)
    store = Store.in_memory(model.register(), model.provenance)
    list(Discoverer(model, store=store).discover_many(stream))
    return store


def test_unsure_images_are_those_below_that_no_person_settled(told: Store) -> None:
    with told as store:
        every = overview(store.view(), below=1.1)
        assert all(each.unsure == {one.image for one in each.images} for each in every.categories)
        some = overview(store.view(), below=0.6)
        unsure = {image for each in some.categories for image in each.unsure}
        expected = {one.image for each in some.categories for one in each.images if (one.confidence or 1) < 0.6}
        assert unsure == expected
        assert unsure
        store.confirm([min(unsure)])
        assert min(unsure) not in {image for each in overview(store.view(), 0.6).categories for image in each.unsure}


def test_suggestions_are_the_stores_own_and_cut_short(told: Store) -> None:
    with told as store:
        found = overview(store.view(), suggestions=1)
        assert list(found.merges) == suggest(store.view(), 1)
        assert list(found.splits) == suggest_splits(store.view(), 1)
        assert found.confident
        assert found.events == store.view().last
