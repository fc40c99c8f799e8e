"""What a person is asked, in which order, what answers do, and when it is worth stopping."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from clouds import clouds
from colours import colour_model, painted
from firstsight import Discoverer, Store, fit_features
from firstsight.core.protocols import Silent
from firstsight.evidence import review_odds as odds
from firstsight.evidence.review import Item, Review, Worth, expected, find, queue, worth_stopping
from firstsight.store.authors import HINDSIGHT
from firstsight.store.reconsider import reconsider
from firstsight.store.suggest import Suggestion
from firstsight.store.views import summaries, unsure

SPLITTING = -5.0  # a radius that founds more categories than there are
FEATURES, LABELS = clouds(9, 16, width=6, apart=1.6)
SUPPORT = (LABELS < 5) & (np.arange(len(LABELS)) % 2 == 0)
MODEL = fit_features(FEATURES[SUPPORT], [f"c{i}" for i in LABELS[SUPPORT]])


def streamed(path: Path | None = None) -> Store:
    """Categories that touch, as features: some answers are unsure, some categories small."""
    arriving = np.random.default_rng(0).permutation(np.flatnonzero(~SUPPORT))
    stream: NDArray[np.float32] = FEATURES[arriving].astype(np.float32)
    start = MODEL.decision.register(SPLITTING)
    store = Store.in_memory(start, MODEL.provenance) if path is None else Store.create(path, start, MODEL.provenance)
    list(Discoverer(MODEL, store=store).discover_many(stream))
    return store


@pytest.fixture
def store() -> Iterator[Store]:
    with streamed() as made:
        yield made


def test_questions_of_all_other_kinds_are_asked_here(store: Store) -> None:
    asked = queue(store.view(), 1000)
    assert {each.kind for each in asked} >= {"merge", "elsewhere", "tentative", "unsure"}
    assert len({each.id for each in asked}) == len(asked)


def test_the_best_come_first_and_a_shorter_queue_is_the_beginning_of_a_longer_one(store: Store) -> None:
    review = Review(store.view(), find(store.view()))
    every = review.queue(1000)
    assert every == sorted(every, key=lambda each: (-each.worth, each.id))
    assert review.queue(7) == every[:7]
    assert review.next() == every[0]
    assert queue(store.view(), 1000) == every


def test_what_is_skipped_is_not_asked_and_nothing_else_is_lost(store: Store) -> None:
    review = Review(store.view(), find(store.view()))
    every = review.queue(1000)
    skipped = [each.id for each in every[::3]]
    assert review.queue(1000, skipped) == [each for each in every if each.id not in skipped]
    assert review.queue(5, skipped) == review.queue(1000, skipped)[:5]
    assert review.next([each.id for each in every]) is None


def test_every_question_can_be_answered_and_is_then_settled(store: Store) -> None:
    """Whatever is accepted, one after the other, is not asked again: neither at once nor when all is found anew."""
    for _ in range(12):
        review = Review(store.view(), find(store.view()))
        item = review.next()
        if item is None:
            break
        event = item.accept.do(store, by="Ann")
        assert event.event.by == "person Ann"
        assert item.id not in {each.id for each in review.at(store.view()).queue(1000)}
        assert item.id not in {each.id for each in queue(store.view(), 1000)}


def test_every_correction_is_a_verb_that_the_store_has(store: Store) -> None:
    for item in queue(store.view(), 1000)[::5]:
        for act in (item.accept, *item.corrections):
            given = {None: None, "name": "moth", "to": "c0", "into": "c0"}[act.asks]
            act.do(store, given)
            store.undo()


def test_a_later_view_asks_nothing_that_was_settled_since(store: Store) -> None:
    review = Review(store.view(), find(store.view()))
    asked = review.queue(1000)
    merged = next(each for each in asked if each.kind == "merge")
    store.merge(*merged.categories)
    store.confirm([image for each in asked if each.kind == "unsure" for image in each.images][:4])
    later = review.at(store.view())
    view, placed = store.view(), {n for n in store.view().images() if store.view().catalogue.placed(n)}
    for item in later.queue(1000):
        assert all(view.catalogue.resolve(id) == id for id in item.categories)
        if item.kind in ("unsure", "elsewhere"):
            assert not placed & set(item.images)
            assert {view.category_of(image) for image in item.images} == {item.categories[0]}
    store.undo()
    store.undo()
    again = {each.id for each in review.at(store.view()).queue(1000)}
    assert again == {each.id for each in asked} - {merged.id}  # which a person parted again


def test_images_are_asked_about_once_and_the_least_sure_before_others(store: Store) -> None:
    asked = queue(store.view(), 1000)
    images = [image for each in asked if each.kind in ("unsure", "elsewhere") for image in each.images]
    assert len(images) == len(set(images))
    small = {each.id for each in summaries(store.view()) if each.tentative}
    other = {each.image for each in reconsider(store.view(), Silent())}
    left = {e.image for e in unsure(store.view(), 1.1, 1000)[0] if e.category not in small and e.image not in other}
    asked = [each for each in asked if each.kind == "unsure"]
    assert {each.images[0] for each in asked} == left
    chances = [each.expects.put_right for each in asked]
    assert chances == sorted(chances, reverse=True)


def test_unsure_images_are_as_sure_as_the_register_is_by_now(store: Store) -> None:
    view, found = store.view(), find(store.view())
    for item in (each for each in Review(view, found).queue(1000) if each.kind == "unsure"):
        image = item.images[0]
        category = view.category_of(image)
        feature = view.register.feature_from(view.assigned(image).feature)
        answer = view.register.match(feature, without=category if view.catalogue.lesson(image) else None)
        assert item.expects.put_right == 1 - (answer.confidence or 0)


def test_before_anything_was_found_there_is_something_to_ask(store: Store) -> None:
    asked = Review(store.view()).queue(1000)
    assert {each.kind for each in asked} == {"tentative", "unsure"}
    least = unsure(store.view(), 1.1, 1)[0][0]
    assert next(each for each in asked if each.kind == "unsure").expects.put_right <= 1 - (least.confidence or 0)


def test_questions_are_the_same_after_a_restart(tmp_path: Path) -> None:
    with streamed(tmp_path / "r.db") as store:
        before = queue(store.view(), 50)
    with Store.open(tmp_path / "r.db") as store:
        assert queue(store.view(), 50) == before


def test_a_split_is_asked_for_and_no_is_remembered() -> None:
    features, labels = clouds(3, 16, apart=6.0)
    model = fit_features(features[::2], [f"c{i}" for i in labels[::2]])
    with Store.in_memory(model.register(), model.provenance) as store:
        list(Discoverer(model, store=store).discover_many(features[1::2].astype(np.float32)))
        one, other = (store.view().images(f"c{i}") for i in (0, 1))
        store.edit(lambda draft: draft.move(other, "c0"), by=HINDSIGHT)
        item = next(each for each in queue(store.view(), 1000) if each.kind == "split")
        assert {*item.images, *item.rest} == {*one, *other}
        item.corrections[-1].do(store)
        assert item.id not in {each.id for each in queue(store.view(), 1000)}
        store.undo()
        item.accept.do(store)
        assert len({store.view().category_of(image) for image in item.images}) == 1
        assert store.view().category_of(item.images[0]) != "c0"


def test_a_register_that_cannot_tell_is_reviewed_too(tmp_path: Path) -> None:
    discoverer = Discoverer(colour_model(), store=tmp_path / "r.db")
    assert discoverer.store is not None
    for i, colour in enumerate([(0, 255, 0), (255, 255, 255), (255, 0, 0)]):
        discoverer.discover_one(painted(colour), source=f"{i}.png")
    with discoverer.store as store:
        asked = queue(store.view(), 100)
        assert {each.kind for each in asked} >= {"tentative"}
        for item in asked:
            item.accept.do(store)
            store.undo()


def test_an_empty_register_has_nothing_to_ask() -> None:
    with Store.in_memory(MODEL.register(), MODEL.provenance) as store:
        assert queue(store.view(), 10) == []


# ------------------------------------------------------------------ arithmetic


def item_of(put_right: float, clicks: float, store: Store) -> Item:
    return replace(queue(store.view(), 1)[0], expects=Worth(put_right, clicks))


def test_clicks_ahead_are_filled_by_questions_in_turn(store: Store) -> None:
    questions = [item_of(*each, store) for each in ((6.0, 2.0), (1.0, 1.0), (4.0, 8.0))]
    assert expected(questions, 3) == 7.0
    assert expected(questions, 7) == 9.0  # of the last, half its clicks
    assert expected(questions, 100) == 11.0


def test_it_is_worth_stopping_where_little_is_left(store: Store) -> None:
    assert worth_stopping([]) == "Nothing is left to look at."
    assert worth_stopping([item_of(5.0, 20.0, store)]) is None
    little = worth_stopping([item_of(3.0, 20.0, store)])
    assert little == "The next 20 clicks are expected to put right about 3 images: a good moment to stop."
    assert "about one image" in str(worth_stopping([item_of(1.2, 20.0, store)]))
    assert "no image" in str(worth_stopping([item_of(0.1, 20.0, store)]))


@given(st.lists(st.tuples(st.integers(0, 3), st.floats(0, 2000)), max_size=12))
def test_shares_of_the_pairs_of_a_category_leave_room_for_none_of_them(drawn: list[tuple[int, float]]) -> None:
    merges = [Suggestion(f"new-{of}", f"c{i}", score, "") for i, (of, score) in enumerate(drawn)]
    found = odds.shares(merges, weighed=True)
    for of in range(4):
        assert (
            0
            <= sum(share for each, share in zip(merges, found, strict=True) if each.category == f"new-{of}")
            <= 1 + 1e-9
        )


@given(st.floats(0, 1), st.integers(1, 10_000), st.booleans())
def test_a_large_category_is_less_probably_part_of_another(share: float, images: int, known: bool) -> None:
    assert 0 <= odds.is_one(share, images + 1, known) <= odds.is_one(share, images, known) <= 1


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_together_is_never_worth_more_than_all_right_by_one_click(sure: list[float]) -> None:
    worth = odds.elsewhere(sure)
    assert worth.clicks >= 1
    assert 0 < worth.per_click <= len(sure)
