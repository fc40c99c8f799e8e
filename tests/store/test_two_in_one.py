"""Categories that hold two things are found, and what a person said is not questioned."""

from __future__ import annotations

import numpy as np
import pytest
from every_kind import EVERY_KIND, arrival_at, register_of
from tiny_store import MODEL

from firstsight.core.errors import NotFound
from firstsight.store.authors import HINDSIGHT
from firstsight.store.splits import suggest_splits
from firstsight.store.store import Store

HERE, THERE = [3.0, 0, 0, 0], [0.0, 3, 0, 0]  # two groups, far from the known categories


def store_of(kind: str) -> Store:
    """new-1 holds two things: five images here, and three there which a merge with them is taken back to."""
    store = Store.in_memory(register_of(kind), MODEL)
    generator = np.random.default_rng(0)
    for group, (place, count) in enumerate(((HERE, 5), (THERE, 3))):
        for i in range(count):
            at = np.array(place) + 0.05 * generator.standard_normal(4)
            store.record([arrival_at(kind, at, f"{group}-{i}.jpg")], MODEL)
    return store


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_two_groups_moved_together_by_a_rule_are_found(kind: str) -> None:
    store = store_of(kind)
    there = [n for n in store.view().images() if store.view().assigned(n).source.startswith("1-")]
    here = [n for n in store.view().images() if n not in there]
    home = store.view().category_of(here[0])
    assert suggest_splits(store.view()) == []
    store.edit(lambda draft: draft.move(there, home), by=HINDSIGHT)
    (found,) = suggest_splits(store.view())
    assert (found.category, found.images, found.rest) == (home, tuple(there), tuple(here))
    assert found.reason
    assert suggest_splits(store.view(), category=home) == [found]
    assert suggest_splits(store.view(), category="bee") == []


@pytest.mark.parametrize("kind", EVERY_KIND)
def test_what_a_person_said_is_not_questioned(kind: str) -> None:
    store = store_of(kind)
    there = [n for n in store.view().images() if store.view().assigned(n).source.startswith("1-")]
    here = [n for n in store.view().images() if n not in there]
    home, other = (store.view().category_of(part[0]) for part in (here, there))
    store.merge(other, home)
    assert suggest_splits(store.view()) == []
    store.undo()
    store.edit(lambda draft: draft.move(there, home), by=HINDSIGHT)
    store.confirm([here[0]])
    assert len(suggest_splits(store.view())) == 1
    store.confirm([there[0]])
    assert suggest_splits(store.view()) == []
    store.undo()
    store.split(there)
    store.undo()
    assert suggest_splits(store.view()) == []


def test_a_category_that_is_not_there_is_named() -> None:
    with pytest.raises(NotFound):
        suggest_splits(store_of("statistics").view(), category="nobody")
