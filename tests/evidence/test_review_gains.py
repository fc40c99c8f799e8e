"""What review has gained: people's words that are in force, and the images they put right."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from firstsight.core.protocols import Provenance
from firstsight.evidence.review_gains import Gained, gained
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.store.authors import HINDSIGHT
from firstsight.store.store import Arrival, Store


@pytest.fixture
def store() -> Iterator[Store]:
    """Known c0 and c1, and two new categories of four images each."""
    places = 9 * np.eye(4)
    register = StatisticsRegister(Spread(np.ones(4), np.full(4, 50.0), 0.0), ["c0", "c1"], np.ones(2), places[:2])
    model = Provenance("f" * 64, 1, "cpu", "fp32")
    with Store.in_memory(register, model) as made:
        stream = np.repeat(places, 4, axis=0).astype(np.float32)
        made.record([Arrival(f"{i}", bytes([i]), feature) for i, feature in enumerate(stream)], model)
        assert [len(made.view().images(id)) for id in ("c0", "c1", "new-1", "new-2")] == [4, 4, 4, 4]
        yield made


def test_nothing_was_gained_before_anybody_looked(store: Store) -> None:
    assert gained(store.view()) == Gained(0, 0, 0, 0, 0)


def test_images_count_once_and_confirming_puts_nothing_right(store: Store) -> None:
    first, second, third, _ = store.view().images("c0")
    store.confirm([first, second])
    store.move([second, third], "c1")
    store.split([second])
    store.discard([third])
    now = gained(store.view())
    assert now == Gained(words=4, confirmed=1, moved=1, merged=0, discarded=1)
    assert now.put_right == 2


def test_a_merge_puts_the_fewer_right_or_those_that_join_a_known_one(store: Store) -> None:
    store.move(store.view().images("new-2")[:1], "c0")
    store.merge("new-1", "new-2")  # four join three
    assert gained(store.view()).merged == 3
    store.merge("new-2", "c0")  # all seven
    assert gained(store.view()) == Gained(words=3, confirmed=0, moved=1, merged=10, discarded=0)


def test_what_was_undone_or_is_hindsight_counts_for_nothing(store: Store) -> None:
    images = store.view().images("c0")
    moved = store.move(images[:2], "c1")
    store.undo()
    store.edit(lambda draft: draft.move(images[2:], "c1"), by=HINDSIGHT)
    store.rename("c1", "wasp")
    assert gained(store.view()) == Gained(0, 0, 0, 0, 0)
    store.redo(moved.number)
    assert gained(store.view()).moved == 2


def test_several_edits_of_one_command_are_one_word(store: Store) -> None:
    store.edit(lambda draft: [draft.merge("new-1", "c0"), draft.merge("new-2", "c0")])
    assert gained(store.view()) == Gained(words=1, confirmed=0, moved=0, merged=8, discarded=0)
