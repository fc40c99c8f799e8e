"""CategoryDiscoverer: a classifier as scikit-learn has them, which discovers besides."""

from __future__ import annotations

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from clouds import clouds
from firstsight import CategoryDiscoverer
from firstsight.core.errors import DataError, SettingsError

DRAWN, OWN = clouds(7, 12, apart=8.0)
TAUGHT = (OWN < 4) & (np.arange(len(OWN)) % 3 > 0)
X, Y, STREAM = DRAWN[TAUGHT], OWN[TAUGHT], DRAWN[~TAUGHT]
TEXT = np.array([f"c{label}" for label in Y])
FAR, OTHER = np.full((1, 12), 60.0), np.array([[90.0, -90] * 6])


def test_scikit_learns_own_checks_pass_with_no_exception() -> None:
    told = check_estimator(CategoryDiscoverer(), on_skip=None)
    assert len(told) > 50
    without_array_api = {"check_array_api_input"}  # which scikit-learn skips
    assert {each["check_name"] for each in told if each["status"] != "passed"} <= without_array_api


def test_three_ways_to_ask() -> None:
    fitted = CategoryDiscoverer().fit(X, TEXT)
    before = pickle.dumps(fitted._register.learned())
    closed, opened = fitted.predict(STREAM), fitted.predict_open(STREAM)
    assert set(closed) <= set(fitted.classes_) == {"c0", "c1", "c2", "c3"}
    assert None in opened.tolist()
    assert pickle.dumps(fitted._register.learned()) == before
    answers = fitted.discover(STREAM)
    truth = OWN[~TAUGHT]
    assert len(set(zip(truth.tolist(), answers.tolist(), strict=True))) == 7
    assert fitted.categories_.tolist() == ["c0", "c1", "c2", "c3", "new-1", "new-2", "new-3"]
    assert fitted.predict(STREAM).tolist() == closed.tolist()  # whatever was found
    assert None not in fitted.predict_open(STREAM).tolist()
    again = clone(fitted).fit(X, TEXT)
    assert answers.tolist() == [*again.discover(STREAM[:5]), *again.discover(STREAM[5:])]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.array([3, 7], dtype=np.int8), 8),
        (np.array([1, 127], dtype=np.int8), 128),
        (np.array([-5, -2]), -1),
        (np.array([0, 255], dtype=np.uint8), 256),
        (np.array([3.0, 7.0]), 8.0),
        (np.array([False, True]), 2),
        (np.array(["ant", "bee"]), "new-1"),
        (np.array(["ant", "new-1"], dtype=object), "new-2"),
    ],
    ids=str,
)
def test_what_is_discovered_is_called_as_labels_are(labels: NDArray[Any], expected: Any) -> None:
    y = labels[(Y > 1).astype(int)]
    fitted = CategoryDiscoverer().fit(X, y)
    (found,) = fitted.discover(FAR).tolist()
    assert found == expected
    assert isinstance(found, type(expected))
    assert fitted.predict_open(FAR).tolist() == [expected]
    assert fitted.categories_.tolist() == [*labels.tolist(), expected]
    assert fitted.predict(X).dtype == labels.dtype


def test_probabilities_say_what_predict_says() -> None:
    fitted = CategoryDiscoverer().fit(X, TEXT)
    told = fitted.predict_proba(STREAM)
    assert told.shape == (len(STREAM), 4)
    assert told.sum(axis=1) == pytest.approx(1)
    assert fitted.classes_[told.argmax(axis=1)].tolist() == fitted.predict(STREAM).tolist()
    assert not hasattr(CategoryDiscoverer(method="ncm"), "predict_proba")


# ------------------------------------------------------------------ teaching


def test_a_class_that_was_not_there_is_taught() -> None:
    fitted = CategoryDiscoverer().fit(X, Y)
    assert fitted.discover(FAR).tolist() == [4]
    fitted.partial_fit(OTHER, [9])
    assert fitted.classes_.tolist() == [0, 1, 2, 3, 9]
    assert fitted.predict(OTHER).tolist() == fitted.predict_open(OTHER).tolist() == [9]
    assert fitted.predict_proba(OTHER).shape == (1, 5)
    assert fitted.discover(-FAR).tolist() == [10]  # above all labels there are
    assert fitted.categories_.tolist() == [0, 1, 2, 3, 4, 9, 10]


def test_what_was_discovered_is_a_class_once_it_is_taught() -> None:
    fitted = CategoryDiscoverer().fit(X, TEXT)
    fitted.discover(FAR)
    assert fitted.predict(FAR)[0] in TEXT
    fitted.partial_fit(FAR, ["new-1"])
    assert fitted.predict(FAR).tolist() == ["new-1"] == fitted.discover(FAR).tolist()
    assert fitted.classes_.tolist() == ["c0", "c1", "c2", "c3", "new-1"]


def test_teaching_moves_a_category() -> None:
    fitted = CategoryDiscoverer().fit(X, TEXT)
    assert fitted.predict_open(FAR).tolist() == [None]
    fitted.partial_fit(np.repeat(FAR, 30, axis=0), ["c2"] * 30)
    assert fitted.predict(FAR).tolist() == ["c2"]


def test_the_first_call_of_partial_fit_fits_and_classes_to_come_are_kept_free() -> None:
    fitted = CategoryDiscoverer().partial_fit(X, TEXT, classes=["c0", "c1", "c2", "c3", "new-1"])
    assert fitted.predict_proba(STREAM)[:, 4].max() == 0
    assert fitted.discover(FAR).tolist() == ["new-2"]
    assert clone(fitted).fit(X, TEXT).predict(STREAM).tolist() == fitted.predict(STREAM).tolist()
    with pytest.raises(ValueError, match="'c9', which is none of classes"):
        fitted.partial_fit(FAR, ["c9"], classes=["c0", "c1"])


@pytest.mark.parametrize(
    ("features", "labels", "message"),
    [
        (FAR, [5], "y holds numbers, and this was fitted on text"),
        (FAR[:, :3], ["c1"], "3 features"),
        (np.vstack([FAR, FAR * np.nan]), ["c1", "c2"], "NaN"),
        (FAR, ["c1", "c2"], "inconsistent"),
    ],
)
def test_what_cannot_be_taught_changes_nothing(features: Any, labels: Any, message: str) -> None:
    fitted = CategoryDiscoverer().fit(X, TEXT)
    before = fitted._register.learned(), fitted.classes_.tolist()
    with pytest.raises(ValueError, match=message):
        fitted.partial_fit(features, labels)
    assert (fitted._register.learned(), fitted.classes_.tolist()) == before


def test_centres_that_stay_where_they_are_cannot_be_taught() -> None:
    fitted = CategoryDiscoverer(method="ncm").fit(X, TEXT)
    assert set(fitted.predict(STREAM)) <= set(TEXT)
    assert fitted.discover(-X[:1]).shape == (1,)
    with pytest.raises(SettingsError, match="ncm cannot be taught more"):
        fitted.partial_fit(FAR, ["c0"])


# ------------------------------------------------------------------ at home in scikit-learn


def test_in_a_pipeline_and_a_search() -> None:
    pipeline = make_pipeline(StandardScaler(), PCA(), CategoryDiscoverer())
    search = GridSearchCV(pipeline, {"pca__n_components": [1, 6]}, cv=2).fit(X, TEXT)
    assert search.best_params_ == {"pca__n_components": 6}
    assert search.score(X, TEXT) == 1
    best = search.best_estimator_
    assert best[-1].discover(best[:-1].transform(FAR)).tolist() == ["new-1"]


def test_pickle_clone_and_parameters() -> None:
    fitted = CategoryDiscoverer(radius=5.0).fit(X, TEXT)
    fitted.discover(STREAM)
    again = pickle.loads(pickle.dumps(fitted))
    assert again.discover(OTHER).tolist() == fitted.discover(OTHER).tolist()
    assert again.categories_.tolist() == fitted.categories_.tolist()
    other = clone(fitted).set_params(radius=float("inf"))
    assert other.get_params() == {"method": "firstsight", "radius": float("inf"), "seed": 0}
    assert other.fit(X, TEXT).discover(FAR)[0] in TEXT


def test_data_frames_have_names() -> None:
    frame = pd.DataFrame(X, columns=[f"d{i}" for i in range(12)])
    fitted = CategoryDiscoverer().fit(frame, pd.Series(TEXT))
    assert fitted.feature_names_in_.tolist() == list(frame.columns)
    assert fitted.predict(frame).tolist() == CategoryDiscoverer().fit(X, TEXT).predict(X).tolist()
    with pytest.raises(ValueError, match="feature names"):
        fitted.discover(frame.rename(columns={"d0": "other"}))


@pytest.mark.parametrize(
    ("features", "labels", "kind", "message"),
    [
        (csr_array(X), TEXT, TypeError, "[Ss]parse"),
        (np.where(X > 8, np.nan, X), TEXT, ValueError, "NaN"),
        (np.where(X > 8, 1e300, X), TEXT, ValueError, "infinity or a value too large"),
        (X, ["c0"] * len(X), DataError, "one class only, 'c0'"),
        (X, Y + 0.5, ValueError, "Unknown label type"),
        (X, [""] * 3 + ["a"] * (len(X) - 3), DataError, "'' is no name"),
        (X, [None, "a"] * (len(X) // 2), ValueError, "Unknown label type"),
    ],
    ids=["sparse", "nan", "too large", "one class", "continuous", "no name", "none"],
)  # fmt: skip
def test_refusals(features: Any, labels: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind, match=message):
        CategoryDiscoverer().fit(features, labels)


def test_it_has_to_be_fitted_first() -> None:
    for ask in ("predict", "predict_open", "predict_proba", "discover"):
        with pytest.raises(NotFittedError, match="not fitted yet"):
            getattr(CategoryDiscoverer(), ask)(X)


@pytest.mark.parametrize(("width", "count"), [(1, 4), (2, 2), (4, 1), (2000, 3)])
def test_few_or_many_values_of_few_features(width: int, count: int) -> None:
    features, labels = clouds(3, count, width=width, apart=30.0)
    features[:, -1] = 7.0 if width > 1 else features[:, -1]  # says nothing
    fitted = CategoryDiscoverer().fit(features, labels)
    assert fitted.predict(features).tolist() == labels.tolist()
    assert fitted.discover(features).shape == labels.shape


WITHOUT_TORCH = """
import sys
import numpy as np
from firstsight import CategoryDiscoverer
X = np.repeat(np.eye(4, 20), 5, axis=0) + np.random.default_rng(0).normal(size=(20, 20)) / 50
fitted = CategoryDiscoverer().fit(X[:15], [0] * 5 + [1] * 5 + [2] * 5)
fitted.predict(X), fitted.predict_open(X), fitted.predict_proba(X), fitted.discover(X), fitted.partial_fit(X[:1], [5])
print(*sorted({name.partition(".")[0] for name in sys.modules} & set(sys.argv[1:])))
"""


def test_it_loads_numpy_scipy_and_scikit_learn_only() -> None:
    heavy = ["torch", "torchvision", "timm", "PIL", "safetensors", "typer", "rich", "jinja2", "matplotlib", "scipy"]
    result = subprocess.run([sys.executable, "-c", WITHOUT_TORCH, *heavy], capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    assert result.stdout.split() == ["scipy"]
