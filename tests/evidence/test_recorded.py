"""An image of a register: the answer it was given stays, what would be answered today stands beside it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from clouds import clouds
from colours import BLUE, RED, colour_model, painted
from firstsight import Discoverer, Model, Store, explain, fit_features
from firstsight.core.errors import BadRequest, NotFound
from firstsight.data.crops import Crop
from firstsight.evidence.words import day
from firstsight.store.store import Arrival

GREEN = (0, 255, 0)


def taught() -> tuple[Model, Store]:
    """Categories of features that touch, and a store that has seen a stream of them and of two more."""
    features, labels = clouds(6, 24, width=6, apart=3.0)
    support = (labels < 4) & (np.arange(len(labels)) % 2 == 0)
    model = fit_features(features[support], [f"c{i}" for i in labels[support]])
    store = Store.in_memory(model.register(), model.provenance)
    stream = np.random.default_rng(0).permutation(features[~support].astype(np.float32))
    list(Discoverer(model, store=store).discover_many(stream))
    return model, store


def test_the_recorded_answer_is_told_with_its_confidence_then() -> None:
    model, store = taught()
    with store:
        for number in store.view().images():
            event, found = store.view().assigned(number), explain(model, number, store=store)
            assert found.given is not None
            told = (found.given.image, found.given.category, found.given.confidence)
            assert told == (number, event.category, event.confidence)
            assert found.called == store.view().category_of(number)


def test_what_came_next_is_never_the_answer_itself() -> None:
    """A category that was merged since is the one it was merged into."""
    model, store = taught()
    with store:
        view = store.view()
        number = next(each for each in view.images() if (view.assigned(each).runner_up or "").startswith("new-"))
        event = view.assigned(number)
        store.merge(str(event.runner_up), event.category)
        found = explain(model, number, store=store)
    assert found.given is not None
    assert found.given.runner_up is None
    assert "came next" not in found.sentence


def test_today_is_asked_without_what_the_image_taught() -> None:
    """As `reconsider` asks; a register that was asked with it would be surer of itself."""
    model, store = taught()
    with store:
        view, surer = store.view(), 0
        for number in view.images():
            feature = view.register.feature_from(view.assigned(number).feature)
            category = view.category_of(number)
            lesson = category if view.catalogue.lesson(number) else None
            expected = view.register.match(feature, without=lesson)
            found = explain(model, number, store=store)
            assert found.answer.category == expected.category
            assert found.answer.confidence == pytest.approx(expected.confidence)
            with_it = view.register.match(feature)
            surer += (with_it.confidence or 0) > (expected.confidence or 0) + 1e-9
            assert found.given is not None
            assert found.given.taught == (lesson is not None)
        assert surer > 0


def test_a_founder_alone_would_be_new_again_and_nothing_is_near_by_itself() -> None:
    model, store = taught()
    with store:
        discoverer, generator = Discoverer(model, store=store), np.random.default_rng(1)
        anywhere = ((9 * generator.standard_normal(6)).astype(np.float32) for _ in range(1000))
        answer = next(each for each in map(discoverer.discover_one, anywhere) if each.created)
        found = explain(model, answer.image or 0, store=store)
    assert found.answer.category is None
    assert found.given is not None
    assert found.given.founded
    assert found.called == answer.category
    assert answer.category not in {each.category for each in found.near}
    assert f"founded {answer.category}" in found.sentence
    assert "without what it taught itself: New" in found.sentence


def test_a_picture_that_came_twice_is_left_out_twice() -> None:
    model, store = taught()
    with store:
        view = store.view()
        number = next(each for each in view.images() if view.catalogue.lesson(each))
        alone = explain(model, number, store=store).answer
        event = view.assigned(number)
        again = Arrival("again", event.content, view.register.feature_from(event.feature))
        (answer,) = store.record([again], model.provenance)
        found = explain(model, answer.image or 0, store=store)
    assert found.given is not None
    assert found.given.taught
    assert found.answer.category == alone.category
    assert found.answer.confidence == pytest.approx(alone.confidence)


def test_looking_changes_nothing() -> None:
    model, store = taught()
    with store:
        before = [store.register.match(store.register.feature_from(f)) for _, f in store.view().features()]
        for number in store.view().images()[:10]:
            explain(model, number, store=store)
        assert [store.register.match(store.register.feature_from(f)) for _, f in store.view().features()] == before


def pictured(folder: Path) -> tuple[Model, Store, list[Path]]:
    """Greens, of which the first founds a category, and a red one."""
    paths = [folder / f"{i}.png" for i in range(4)]
    for path, colour in zip(paths, (GREEN, (0, 250, 0), (0, 245, 9), RED), strict=True):
        Image.fromarray(painted(colour)).save(path)
    model = colour_model()
    store = Store.in_memory(model.register(), model.provenance)
    list(Discoverer(model, store=store).discover_many(paths))
    return model, store, paths


def test_images_of_the_category_that_answered_are_shown(tmp_path: Path) -> None:
    model, store, paths = pictured(tmp_path)
    with store:
        store.rename("new-1", "Leaf")
        found = explain(model, 2, store=store)
        assert found.fellows_of == "Leaf"
        assert [each.source for each in found.fellows] == [str(paths[1]), str(paths[2])]
        assert all(each.picture for each in found.fellows)
        other = explain(model, painted((0, 240, 0)), store=store)
        assert other.given is None
        assert len(other.fellows) == 3
        assert not explain(model, painted((0, 240, 0))).fellows
        paths[1].unlink()
        assert [each.why for each in explain(model, 2, store=store).fellows] == ["no longer there", ""]
        assert not explain(model, painted(BLUE), store=store).fellows


def test_a_picture_that_is_gone_is_explained_by_what_was_kept_of_it(tmp_path: Path) -> None:
    model, store, paths = pictured(tmp_path)
    with store:
        whole = explain(model, 2, store=store)
        paths[0].unlink()
        found = explain(model, 2, store=store)
    assert whole.pixels is not None
    assert found.pixels is None
    assert (found.answer, found.given) == (whole.answer, whole.given)
    assert [each.distance for each in found.near] == [each.distance for each in whole.near]
    assert found.as_dict()["values"] == []


def test_a_discarded_picture_is_of_nothing(tmp_path: Path) -> None:
    model, store, paths = pictured(tmp_path)
    with store:
        store.discard([3])
        found = explain(model, paths[1], store=store)
        with pytest.raises(NotFound, match="there is no image 9"):
            explain(model, 9, store=store)
    assert found.called == "discarded"
    assert "Discarded: a person said that this very image is of nothing" in found.sentence


def test_the_same_file_twice_is_told_apart_by_where_it_lay(tmp_path: Path) -> None:
    model, store, paths = pictured(tmp_path)
    with store:
        copy = tmp_path / "copy.png"
        copy.write_bytes(paths[0].read_bytes())
        number = Discoverer(model, store=store).discover_one(copy).image
        first, second = (explain(model, path, store=store).given for path in (paths[0], copy))
    assert first is not None
    assert second is not None
    assert (first.image, second.image) == (2, number)


def test_a_part_of_a_frame_is_shown_in_it(tmp_path: Path) -> None:
    model, store, paths = pictured(tmp_path)
    with store:
        number = Discoverer(model, store=store).discover_one(Crop(paths[3], (0.0, 0.0, 0.5, 0.5))).image
        part, whole = (explain(model, each or 0, store=store) for each in (number, 2))
    assert part.frame is not None
    assert part.pixels is not None
    assert whole.frame is None


def test_numbers_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    model, store, _ = pictured(tmp_path)
    with store:
        for number in (0, 1, 99):  # the first event founds a category
            with pytest.raises(NotFound, match=f"there is no image {number}"):
                explain(model, number, store=store)
        with pytest.raises(BadRequest, match="image 2 is one of a register"):
            explain(model, 2)


def test_a_promoted_category_is_known_wherever_it_is_named() -> None:
    model, store = taught()
    with store:
        found = next(each for each in store.view().catalogue.live() if not each.known)
        number = store.view().images(found.id)[-1]
        store.promote(found.id, "Snow")
        told = explain(model, number, store=store)
    assert told.answer.name == "Snow"
    assert [each.is_new for each in told.near if each.category == "Snow"] == [False]


def test_a_discarded_image_says_when_and_by_whom_and_what_it_was(tmp_path: Path) -> None:
    model, store, paths = pictured(tmp_path)
    with store:
        store.discard([3], by="Ann Lee")
        before = [store.register.match(store.register.feature_from(f)) for _, f in store.view().features()]
        for asked in (3, paths[1]):  # by number, and by its file
            found = explain(model, asked, store=store)
            assert (found.called, found.today) == ("discarded", "discarded")
            assert "answered new-1" in found.sentence
            when = day(store.view().event(store.view().last).time)
            assert f"It was discarded on {when} by Ann Lee." in found.sentence
            assert found.given is not None
            assert not found.given.taught
        assert [store.register.match(store.register.feature_from(f)) for _, f in store.view().features()] == before
        store.undo()
        assert "discarded" not in explain(model, 3, store=store).sentence
        store.discard_category("new-1", by="Bob")
        assert "by Bob" in explain(model, 2, store=store).sentence
