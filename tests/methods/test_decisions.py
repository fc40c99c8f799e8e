"""Every method's decision by itself: fitted on features in NumPy, kept and read again, and what its slope is."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import firstsight
from clouds import clouds
from firstsight.checks import check_discoverer
from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.protocols import Features, SupportFeatures
from firstsight.methods.catalogue import METHODS, decision_of, method
from firstsight.methods.decisions import CodeDecision
from firstsight.methods.later.age import GrowingGaussians
from firstsight.methods.later.dp_boa import DirichletProcess
from firstsight.methods.projection import single
from firstsight.methods.settings import resolve
from firstsight.methods.settings import settings as settings_of
from firstsight.model.folder import load_model, save_model
from firstsight.register.kinds import KINDS
from firstsight.train.features import fit_decision

ON_THE_FLY = [name for name, each in METHODS.items() if each.on_the_fly]
CATEGORIES, IMAGES = 6, 8
NAMES = tuple("abcdef")


def own_settings(name: str) -> Any:
    given: dict[str, Any] = {"bits": 16} if method(name).has("bits") else {}
    return settings_of(name, **given, **({"expected_categories": 12} if name == "phe-paper" else {}))


def signs(count: int, seed: int) -> Features:
    """Codes of sixteen bits as features; of a category all but a bit now and then are alike."""
    generator = np.random.default_rng(seed)
    centres = np.random.default_rng(0).choice([-1.0, 1.0], (2 * CATEGORIES, 16))
    flips = np.where(generator.random((count, 16)) < 0.03, -1, 1)
    return (centres[np.arange(count) % (2 * CATEGORIES)] * flips).astype(np.float32)


def unit(features: NDArray[Any]) -> Features:
    return single(features / np.linalg.norm(features, axis=1, keepdims=True))


def with_chances(features: NDArray[Any], seed: int = 0) -> Features:
    """A direction, and a classifier's probability of every category: what AGE's learner makes."""
    chances = np.random.default_rng(seed).dirichlet(np.full(CATEGORIES, 0.3), len(features))
    return np.concatenate([unit(features), chances], axis=1).astype(np.float32)


def supports(name: str) -> tuple[SupportFeatures, Features]:
    """Features such as a method's learner would make of a support set, and of a stream with as many new categories."""
    kind = decision_of(name)
    if issubclass(kind, CodeDecision):
        taught, stream = signs(2 * CATEGORIES * IMAGES, 1), signs(4 * CATEGORIES, 2)
        labels = np.arange(len(taught)) % (2 * CATEGORIES)
    else:
        drawn, which = clouds(2 * CATEGORIES, IMAGES + 2, apart=10.0)
        arriving = np.arange(len(drawn)) % (IMAGES + 2) >= IMAGES
        make = with_chances if kind is GrowingGaussians else single if kind is DirichletProcess else unit
        taught, stream, labels = make(drawn[~arriving]), make(drawn[arriving]), which[~arriving]
    known = labels < CATEGORIES
    return SupportFeatures(taught[known], labels[known], NAMES), stream


def fitted(name: str) -> tuple[Any, Features]:
    support, stream = supports(name)
    return decision_of(name).fit(support, own_settings(name)), stream


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_kept_and_read_again_it_answers_as_before(name: str) -> None:
    made, stream = fitted(name)
    again = type(made).of(made.names, made.arrays(), json.loads(json.dumps(made.values())))
    assert again.fingerprint == made.fingerprint
    assert (again.width, again.radius) == (made.width, made.radius) == (stream.shape[1], made.radius)
    compared = made.transform(stream)
    assert np.array_equal(again.transform(stream), compared)
    for one, other in ((made.register(), again.register()), (made.closed_set(), again.closed_set())):
        assert one.header() == other.header()
        assert list(one.assign_many(compared)) == list(other.assign_many(compared))


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_fitted_again_it_is_the_same_and_on_other_features_another(name: str) -> None:
    support, _ = supports(name)
    kind, own = decision_of(name), own_settings(name)
    first = kind.fit(support, own)
    assert kind.fit(support, own).fingerprint == first.fingerprint
    backwards = replace(support, labels=support.labels[::-1].copy())
    assert kind.fit(backwards, own).fingerprint != first.fingerprint


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_features_are_transformed_each_by_itself(name: str) -> None:
    made, stream = fitted(name)
    together = made.transform(stream)
    assert np.array_equal(np.concatenate([made.transform(each[None]) for each in stream]), together)
    assert np.array_equal(made.transform(stream[::-1]), together[::-1])
    assert len(made.transform(stream[:0])) == 0


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_it_reports_how_it_came_out_and_discovers_or_not(name: str) -> None:
    support, stream = supports(name)
    made = decision_of(name).fit(support, own_settings(name))
    report = made.report(support.features, support.labels)
    assert report["lines"]
    assert all(0 <= share <= 1 for name, share in report.items() if name.startswith("support_within"))
    json.dumps(report)  # as a model folder keeps it
    answers = list(made.register().assign_many(made.transform(stream)))
    assert any(answer.created for answer in answers) == made.discovers
    assert not any(answer.created for answer in made.closed_set().assign_many(made.transform(stream)))


def test_known_categories_that_fell_together_are_said() -> None:
    """Of four categories two have one code: a collapse nobody would see in how well the centres fit."""
    centres = np.array([[1, 1, 1], [1, -1, 1], [1, -1, 1], [-1, -1, -1]], dtype=np.float32)
    made = CodeDecision(names=("a", "b", "c", "d"), centres=centres, minimum_distance=1, reach=0, rule="nearest")
    report = made.report(centres, np.arange(4))
    assert report["centres_alone"] == 2
    assert report["lines"][-1].startswith("warning: 2 of 4 known categories share their code")
    apart = replace(made, centres=np.where(np.arange(4)[:, None] == 2, -centres, centres))
    assert not any("share their code" in line for line in apart.report(apart.centres, np.arange(4))["lines"])


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_every_decision_keeps_the_contract_without_an_encoder(name: str) -> None:
    support, stream = supports(name)
    model = fit_decision(support, own_settings(name))
    check_discoverer(lambda: firstsight.Discoverer(model), list(stream))


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_a_model_without_an_encoder_is_saved_and_loaded(name: str, tmp_path: Path) -> None:
    support, stream = supports(name)
    model = fit_decision(support, own_settings(name))
    save_model(model, tmp_path / "m")
    loaded = load_model(tmp_path / "m")
    assert loaded.encoder is None
    assert (loaded.fingerprint, loaded.settings) == (model.fingerprint, model.settings)
    answers = [list(firstsight.Discoverer(each).discover_many(list(stream))) for each in (model, loaded)]
    assert answers[0] == answers[1]


@pytest.mark.parametrize("name", ["firstsight", "phe", "age"])
@pytest.mark.parametrize("damage", ["missing", "strange", "not a number", "no array"])
def test_what_was_kept_otherwise_is_refused(name: str, damage: str) -> None:
    made, _ = fitted(name)
    arrays, values = made.arrays(), made.values()
    first = next(iter(arrays))
    if damage == "missing":
        del arrays[first]
    elif damage == "strange":
        values["wings"] = 4
    elif damage == "not a number":
        arrays[first] = np.full_like(arrays[first], np.nan)
    else:
        values[first] = arrays.pop(first).tolist()
    with pytest.raises(ValueError, match=r"its decision has|not numbers|is \["):
        type(made).of(made.names, arrays, values)


# ------------------------------------------------------------------ evidence

WIDTH = 12


@cache
def sloped(name: str) -> Any:
    return fitted(name)[0]


@given(
    st.sampled_from(["firstsight", "ncm", "age"]), st.integers(0, 10_000), st.integers(1, 5), st.sampled_from([0.3, 3])
)
@settings(max_examples=40)
def test_the_slope_is_that_of_the_sum_of_similarities(name: str, seed: int, points: int, length: float) -> None:
    """By central differences, whose step is far above what single precision rounds away, and far below the values."""
    decision = sloped(name)
    generator = np.random.default_rng(seed)

    def drawn(count: int) -> NDArray[np.float64]:
        values = generator.uniform(0.2, 1, (count, WIDTH)) * generator.choice([-1, 1], (count, WIDTH))
        if name != "age":
            return np.asarray(length * values)
        return np.concatenate([length * values, generator.dirichlet(np.ones(CATEGORIES), count)], axis=1)

    feature, others = drawn(1)[0].astype(np.float32), drawn(points).astype(np.float32)
    step = 5e-3 * length
    found = np.array(
        [
            (decision.similarity((feature + e)[None], others) - decision.similarity((feature - e)[None], others)).sum()
            / (2 * step)
            for e in step * np.eye(len(feature), dtype=np.float32)
        ]
    )
    slope = decision.slope(feature, others)
    assert slope.shape == feature.shape
    scale = float(np.abs(slope).max())
    assert slope == pytest.approx(found, abs=0.01 * scale + 3e-4)
    along = float(slope @ feature)  # nothing: a cosine does not depend on lengths
    assert along == pytest.approx(0, abs=1e-3 * scale * float(np.abs(feature).sum()))


def test_the_slope_says_nothing_of_a_classifiers_probabilities() -> None:
    decision, stream = fitted("age")
    slope = decision.slope(stream[0], stream[1:4])
    assert (slope[-CATEGORIES:] == 0).all()
    assert np.abs(slope[:-CATEGORIES]).max() > 0


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_an_image_is_most_like_itself(name: str) -> None:
    made, stream = fitted(name)
    alike = made.similarity(stream, stream)
    assert alike.dtype == np.float32
    assert np.diag(alike) == pytest.approx(np.ones(len(stream)), abs=1e-5)
    assert (alike <= 1 + 1e-5).all()


# ------------------------------------------------------------------ a decision from elsewhere

OWN = '''
"""Nearest centre as far as a setting says: a decision, its settings and its register in one file."""

from dataclasses import dataclass, replace

from firstsight.core.settings import Settings, setting
from firstsight.methods.decisions import CentreDecision
from firstsight.register.features import FeatureRegister
from firstsight.register.kinds import KINDS


@dataclass(frozen=True, kw_only=True)
class NearSettings(Settings):
    near: float = setting(6.0, "how far a category reaches", 0, 100)


class NearRegister(FeatureRegister):
    kind = "near"


KINDS[NearRegister.kind] = NearRegister


class Near(CentreDecision):
    settings_type = NearSettings
    metric = "euclidean"

    @classmethod
    def fit(cls, support, settings):
        return replace(super().fit(support, settings), reach=settings.near)

    def _register(self, radius):
        return NearRegister(self.metric, radius, list(self.names), self.centres)
'''


@pytest.fixture
def own_method(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    (tmp_path / "nearby.py").write_text(OWN)
    monkeypatch.syspath_prepend(tmp_path)
    yield "nearby:Near"
    sys.modules.pop("nearby", None)
    KINDS.pop("near", None)


def test_a_decision_from_elsewhere_has_its_own_settings_and_register(own_method: str, tmp_path: Path) -> None:
    features, labels = clouds(12, 8)
    taught = labels < 6
    model = firstsight.fit_features(
        features[taught], [NAMES[i] for i in labels[taught]], tmp_path / "m", method=own_method, near=7
    )
    assert (model.settings.near, model.radius) == (7.0, 7.0)
    assert model.register().header()["kind"] == "near"
    stream = list(features[::5].astype(np.float32))
    answers = list(firstsight.Discoverer(model).discover_many(stream))
    assert any(answer.created for answer in answers)
    assert any(answer.category in NAMES for answer in answers)
    check_discoverer(lambda: firstsight.Discoverer(model), stream)
    with pytest.raises(ModelError, match="a module from elsewhere"):
        load_model(tmp_path / "m")
    loaded = load_model(tmp_path / "m", trust=True)
    assert loaded.fingerprint == model.fingerprint
    assert list(firstsight.Discoverer(loaded).discover_many(stream)) == answers


def test_settings_of_a_decision_from_elsewhere_are_checked_as_any(own_method: str) -> None:
    with pytest.raises(SettingsError, match=r"near is 101.*; allowed: 0 to 100"):
        settings_of(own_method, near=101)
    with pytest.raises(SettingsError, match="bits means nothing to nearby:Near"):
        settings_of(own_method, bits=12)
    with pytest.raises(SettingsError, match="nears is no setting") as caught:
        settings_of(own_method, nears=3)
    assert caught.value.remedy == "did you mean near?"


def test_settings_of_a_decision_from_elsewhere_come_from_anywhere(own_method: str, tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(f"method = {own_method!r}\nnear = 5\n")
    assert resolve({}, None, file, {}, trust=True).near == 5
    assert resolve({}, None, file, {"FIRSTSIGHT_NEAR": "4"}, trust=True).near == 4
    assert resolve({}, None, None, {"FIRSTSIGHT_NEAR": "4", "FIRSTSIGHT_METHOD": own_method}).near == 4
    with pytest.raises(SettingsError, match="FIRSTSIGHT_NEAR is 'far'; allowed: 0 to 100"):
        resolve({"method": own_method}, None, None, {"FIRSTSIGHT_NEAR": "far"})
    with pytest.raises(SettingsError, match="FIRSTSIGHT_NEAR is no setting"):
        resolve({}, None, None, {"FIRSTSIGHT_NEAR": "4"})
