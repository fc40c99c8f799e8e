"""Features are explained as images are, as far as that goes without a picture; and beside a writer."""

from __future__ import annotations

from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest
from numpy.typing import NDArray

import firstsight
from clouds import clouds
from firstsight.evidence.explain import explain
from firstsight.model.model import Model
from firstsight.pages.explanation import as_html
from firstsight.store.store import Store
from webpage import read_page

KNOWN, NEW = 4, 3


def taught() -> tuple[Model, NDArray[np.float32], NDArray[np.int64]]:
    """A model of four categories, and features of those and three more."""
    features, labels = clouds(KNOWN + NEW, 12, apart=12.0)
    known = labels < KNOWN
    support = known & (np.arange(len(labels)) % 2 == 0)
    model = firstsight.fit_features(features[support], [f"c{i}" for i in labels[support]])
    return model, features[~support].astype(np.float32), labels[~support]


def test_a_known_feature_is_most_like_its_own_category() -> None:
    model, features, labels = taught()
    at = int(np.flatnonzero(labels == 1)[0])
    found = explain(model, features[at])
    assert found.answer.category == "c1"
    assert found.pixels is None
    assert found.looked is None
    assert found.image.startswith("feature ")
    assert {each.category for each in found.similar} == {"c1"}
    assert found.near[0].category == "c1"
    assert "c1" in found.sentence


def test_a_new_feature_is_of_none_until_a_store_has_it(tmp_path: Path) -> None:
    model, features, labels = taught()
    first, second = features[labels == KNOWN][:2]
    assert explain(model, first).answer.category is None
    with Store.create(tmp_path / "f.db", model.register(), model.provenance) as store:
        answer = firstsight.Discoverer(model, store=store).discover_one(first)
        found = explain(model, second, store=store)
    assert answer.category == found.answer.category == "new-1"
    assert "new-1" in {each.category for each in found.near}


def test_the_page_has_everything_but_pictures() -> None:
    model, features, _ = taught()
    page = read_page(as_html([explain(model, features[0])]))
    assert len(page.all("article")) == 1
    assert not page.all("img")


@pytest.mark.parametrize("bad", [np.full(3, np.nan), np.zeros(3), np.array(["a", "b"])])
def test_what_is_no_feature_of_this_model_is_refused(bad: NDArray[np.float64]) -> None:
    model, _, _ = taught()
    with pytest.raises(firstsight.FirstsightError):
        explain(model, bad)


def test_explaining_beside_a_writer_never_breaks(tmp_path: Path) -> None:
    """The default register grows and learns all the time; whoever explains looks at one moment of it."""
    model, features, _ = taught()
    generator, done, failed = np.random.default_rng(0), Event(), list[BaseException]()

    with Store.create(tmp_path / "f.db", model.register(), model.provenance, sync="normal") as store:
        discoverer = firstsight.Discoverer(model, store=store)

        def write() -> None:
            try:
                while not done.is_set():
                    far = 40 * generator.standard_normal(features.shape[1])  # most found a category
                    discoverer.discover_one((features[0] + far).astype(np.float32))
            except BaseException as error:
                failed.append(error)

        writer = Thread(target=write)
        writer.start()
        try:
            answers = [explain(model, feature, store=store) for _ in range(4) for feature in features]
        finally:
            done.set()
            writer.join()
        assert failed == []
        assert len(answers) == 4 * len(features)
        assert len(store.view().images()) > 0
