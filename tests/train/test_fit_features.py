"""fit_features: a model of features that somebody has already, without torch from fitting to the store."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors.numpy import load, save

import firstsight
from clouds import clouds
from firstsight.core.errors import DataError, ImageError, ModelError, SettingsError
from firstsight.core.files import digest
from firstsight.core.protocols import Silent
from firstsight.data.images import describe
from firstsight.discoverer import Discoverer
from firstsight.model.folder import load_model
from firstsight.store.store import Store

KNOWN, NEW, IMAGES = 5, 3, 9


def taught_and_stream() -> tuple[NDArray[np.float32], list[str], NDArray[np.float32], list[str]]:
    """Six images of each known category to be taught; three more of each, and all of the new ones, arrive."""
    drawn, labels = clouds(KNOWN + NEW, IMAGES, apart=6.0)
    features, names = drawn.astype(np.float32), [f"c{label}" for label in labels]
    taught = (labels < KNOWN) & (np.arange(len(labels)) % IMAGES < 6)
    here, there = np.flatnonzero(taught), np.flatnonzero(~taught)
    return features[here], [names[i] for i in here], features[there], [names[i] for i in there]


WITHOUT_TORCH = """
import sys
import numpy as np
import firstsight
from firstsight import Discoverer
features, labels, stream = (np.load(path) for path in sys.argv[1:4])
model, store, method = sys.argv[4:7]
firstsight.fit_features(features, labels.tolist(), model, method=method)
loaded = firstsight.load(model)
in_memory = [answer.category for answer in Discoverer(loaded).discover_many(list(stream))]
kept = []
for part in (stream[:10], stream[10:]):
    with Discoverer(loaded, store=store) as discoverer:
        kept += [answer.category for answer in discoverer.discover_many(list(part))]
        assert discoverer.predict_one(part[0]).category == kept[-len(part)]
assert kept == in_memory, (kept, in_memory)
print("torch" in sys.modules, len(set(kept)))
"""


@pytest.mark.parametrize("method", ["firstsight", "ncm"])
def test_fit_save_load_discover_and_a_store_without_torch(method: str, tmp_path: Path) -> None:
    features, labels, stream, _ = taught_and_stream()
    files = [tmp_path / f"{name}.npy" for name in ("features", "labels", "stream")]
    for file, array in zip(files, (features, np.array(labels), stream), strict=True):
        np.save(file, array)
    arguments = [*map(str, files), str(tmp_path / "m"), str(tmp_path / "s.db"), method]
    result = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *arguments], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    loaded_torch, categories = result.stdout.split()
    assert loaded_torch == "False"
    assert int(categories) >= KNOWN
    with Store.open(tmp_path / "s.db", write=False) as store:
        assert len(store.view().images()) == len(stream)


def test_what_was_taught_is_known_and_what_was_not_is_found() -> None:
    features, labels, stream, truth = taught_and_stream()
    model = firstsight.fit_features(features, labels)
    assert model.names == [f"c{i}" for i in range(KNOWN)]
    assert [category.support for category in model.categories] == [6] * KNOWN
    assert model.encoder is None
    assert model.report["lines"]
    answers = list(Discoverer(model).discover_many(list(stream)))
    groups = {(name, answer.category) for name, answer in zip(truth, answers, strict=True)}
    assert {name: found for name, found in groups if name in model.names} == {name: name for name in model.names}
    assert len(groups) == KNOWN + NEW  # each of the new ones is one category
    assert all(answer.is_new == (name not in model.names) for name, answer in zip(truth, answers, strict=True))


def test_one_by_one_and_many_are_the_same_to_the_bit(tmp_path: Path) -> None:
    features, labels, stream, _ = taught_and_stream()
    model = firstsight.fit_features(features, labels)
    one, many = Discoverer(model), Discoverer(model)
    assert list(many.discover_many(list(stream))) == [one.discover_one(feature) for feature in stream]
    with Discoverer(model, store=tmp_path / "s.db", once=True) as discoverer:
        first = list(discoverer.discover_many(list(stream)))
        again = list(discoverer.discover_many(list(stream)))
        assert [answer.category for answer in again] == [answer.category for answer in first]
        assert {answer.decided_by for answer in again} == {"record"}
        assert discoverer.store is not None
        assert len(discoverer.store.view().images()) == len(stream)


@pytest.mark.parametrize("kind", [np.float64, np.float16, np.float32])
def test_features_of_any_precision_are_taken(kind: Any) -> None:
    features, labels, stream, _ = taught_and_stream()
    model = firstsight.fit_features(features.astype(kind), labels)
    expected = [answer.category for answer in Discoverer(model).discover_many(list(stream.astype(kind)))]
    assert expected[:3] == ["c0"] * 3


def test_features_may_be_lists_and_labels_anything() -> None:
    features, labels, _, _ = taught_and_stream()
    numbers = [int(label[1:]) for label in labels]
    assert firstsight.fit_features(features.tolist(), numbers).names == ["0", "1", "2", "3", "4"]


X, Y = clouds(3, 4)


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (X[0], Y[:1], r"features have shape \(12,\)"),
        (X[None], Y, r"features have shape \(1, 12, 12\)"),
        (X[:, :0], Y, r"features have shape \(12, 0\)"),
        (X[:-1], Y, "there are 11 features and 12 labels"),
        (X, "antantbeebee", "labels are a text, not a list"),
        (X[:0], Y[:0], "there are 0 categories"),
        (X, np.zeros(12), "there are 1 categories"),
        (np.where(X[0, 0] == X, np.nan, X), Y, "not finite numbers"),
        (np.where(X[0, 0] == X, np.inf, X), Y, "not finite numbers"),
        (np.where(X[0, 0] == X, 1e300, X), Y, "not finite numbers"),
        (X.astype(str).astype(object) + "x", Y, "features are not numbers"),
        ([[1.0, 2.0], [3.0]], ["a", "b"], "features are not numbers"),
        (None, Y, "features"),
    ],
    ids=["one", "three dimensions", "no width", "a label too many", "a text", "none", "one category", "nan", "inf",
         "too large", "text", "ragged", "nothing"],
)  # fmt: skip
@pytest.mark.filterwarnings("error")
def test_what_cannot_be_fitted_is_said_so(features: Any, labels: Any, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message) as caught:
        firstsight.fit_features(features, labels, tmp_path / "m")
    assert caught.value.remedy
    assert not (tmp_path / "m").exists()


@pytest.mark.parametrize("method", ["phe", "age", "slc", "smile", "closed-set-ce"])
def test_methods_that_train_need_images(method: str) -> None:
    with pytest.raises(ModelError, match=f"{method} trains an encoder") as caught:
        firstsight.fit_features(X, Y, method=method)
    assert "firstsight or ncm" in caught.value.remedy


def test_other_refusals(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="nothing to fit"):
        firstsight.fit_features(X, Y, method="offline-kmeans")
    with pytest.raises(SettingsError, match="bits means nothing to firstsight"):
        firstsight.fit_features(X, Y, bits=12)
    with pytest.raises(SettingsError, match="there is no method 'smiles'"):
        firstsight.fit_features(X, Y, method="smiles")
    firstsight.fit_features(X, Y, tmp_path / "m")
    with pytest.raises(ModelError, match="exists already"):
        firstsight.fit_features(X, Y, tmp_path / "m")


# ------------------------------------------------------------------ in the stream


@pytest.fixture
def model() -> firstsight.Model:
    features, labels, _, _ = taught_and_stream()
    return firstsight.fit_features(features, labels)


GOOD = taught_and_stream()[2]
BAD: dict[str, Any] = {
    "too short": GOOD[0][:-1],
    "too long": np.append(GOOD[0], 1),
    "empty": GOOD[0][:0],
    "not a number": np.where(np.arange(12) == 3, np.nan, GOOD[0]),
    "too large": np.where(np.arange(12) == 3, 1e300, GOOD[0].astype(np.float64)),
    "words": np.array(["a"] * 12),
}


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.filterwarnings("error")
def test_a_bad_feature_is_an_error_in_its_place_and_changes_nothing(
    bad: str, model: firstsight.Model, tmp_path: Path
) -> None:
    stream = [GOOD[0], BAD[bad], GOOD[-1]]
    answers = list(Discoverer(model).discover_many(stream, errors="yield"))
    assert [isinstance(answer, ImageError) for answer in answers] == [False, True, False]
    assert [answers[0], answers[2]] == list(Discoverer(model).discover_many([GOOD[0], GOOD[-1]]))
    with Discoverer(model, store=tmp_path / "s.db") as discoverer:
        for ask in (discoverer.predict_one, discoverer.discover_one):
            with pytest.raises(ImageError, match="feature"):
                ask(BAD[bad])
        assert discoverer.store is not None
        assert discoverer.store.view().images() == []


def test_an_image_is_refused_by_a_model_of_features(model: firstsight.Model, moths: Path) -> None:
    image = min((moths / "stream").rglob("*.jpg"))
    with pytest.raises(ImageError, match="this model answers features") as caught:
        Discoverer(model).predict_one(image)
    assert caught.value.source == describe(image)
    with pytest.raises(ImageError, match="this model answers features"):
        firstsight.explain(model, image)
    with pytest.raises(ModelError, match="has no encoder"):
        model.encode([np.zeros((8, 8, 3), dtype=np.uint8)])


def test_a_model_of_images_answers_their_features(model_folder: Path, moths: Path) -> None:
    model = load_model(model_folder, device="cpu", exact=True)
    images = sorted((moths / "stream").rglob("*.jpg"))[:6]
    features = model.encode([model.prepare(image) for image in images])
    assert list(Discoverer(model).discover_many(list(features))) == list(Discoverer(model).discover_many(images))
    mixed = [image if i % 2 else feature for i, (image, feature) in enumerate(zip(images, features, strict=True))]
    assert list(Discoverer(model).discover_many(mixed)) == list(Discoverer(model).discover_many(images))


@pytest.mark.parametrize(
    "labels", [[[0], [0], [1], [1]], ["a", "a", "", "b"], [0.0, float("nan"), 1.0, 1.0], ["a", "a\n", "b", "b"]]
)
def test_labels_that_name_no_category_are_refused(labels: list[Any]) -> None:
    with pytest.raises(DataError):
        firstsight.fit_features(np.eye(4), labels)


def test_whole_numbers_stay_whole_numbers() -> None:
    taught = [[0, 1], [0.1, 1], [1, 0], [1, 0.1]]
    discoverer = firstsight.CategoryDiscoverer().fit(taught, np.array([3, 3, 7, 7]))
    assert discoverer.predict(taught).tolist() == [3, 3, 7, 7]
    assert discoverer.classes_.tolist() == [3, 7]
    assert discoverer.predict_open([[-1, -1]]).tolist() == [None]
    assert discoverer.discover([[-1, -1], [0.05, 1], [-1, -1.05]]).tolist() == [8, 3, 8]
    assert discoverer.categories_.tolist() == [3, 7, 8]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("basis", lambda basis: basis[:-1]),
        ("basis", lambda basis: basis[:, :-1]),
        ("origin", lambda origin: origin[:-1]),
        ("counts", lambda counts: -counts),
        ("counts", lambda counts: counts[:1]),
        ("sums", lambda sums: sums[:, :-1]),
    ],
)
def test_a_decision_whose_parts_do_not_fit_is_no_model(name: str, change: Any, tmp_path: Path) -> None:
    features, labels, _, _ = taught_and_stream()
    firstsight.fit_features(features, labels, tmp_path / "m")
    file, sums = tmp_path / "m" / "decision.safetensors", tmp_path / "m" / "checksums.json"
    arrays = load(file.read_bytes())
    file.write_bytes(save({**arrays, name: np.ascontiguousarray(change(arrays[name]))}))
    sums.write_text(json.dumps({**json.loads(sums.read_text()), file.name: digest(file)}))
    with pytest.raises(ModelError, match="is no model this release can read"):
        load_model(tmp_path / "m")


def test_a_model_is_shown_in_one_line() -> None:
    model = firstsight.fit_features(X, Y)
    assert repr(model) == f"<Model: firstsight with features of 12, {len(model.names)} categories, 12 images>"


def test_fitting_says_how_far_it_is() -> None:
    features = np.random.default_rng(0).normal(size=(40, 6)) + np.repeat(np.eye(4, 6) * 9, 10, axis=0)
    seen: dict[str, list[int]] = {}

    class Watching(Silent):
        @contextmanager
        def task(self, what: str, total: int) -> Iterator[Callable[[], None]]:
            seen[what] = [total, 0]

            def advance() -> None:
                seen[what][1] += 1

            yield advance

    firstsight.fit_features(features, np.repeat(list("abcd"), 10), progress=Watching())
    total, done = seen["trying it out"]
    assert done == total > 0
