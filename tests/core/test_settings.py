"""Settings: what is allowed, what means something to which method, and which source wins."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import firstsight
from firstsight.core.errors import SettingsError
from firstsight.core.settings import ImageSettings, Settings, TrainingSettings, specs_of
from firstsight.methods.catalogue import METHODS
from firstsight.methods.phe.settings import PAPER, PheSettings
from firstsight.methods.settings import all_specs, check_meaning, methods_with, resolve, settings, settings_to_fit


def test_the_defaults_are_the_papers_numbers() -> None:
    s = settings("phe")
    assert (s.bits, s.prototypes, s.theta, s.tau, s.alpha, s.beta) == (12, 10, 0.1, 3.0, 0.1, 3.0)
    assert (s.epochs, s.batch_size, s.lr_backbone, s.lr, s.feature_dim) == (200, 128, 1e-4, 1e-3, 768)
    assert s.backbone == "dino-vitb16"


@pytest.mark.parametrize(
    ("name", "value"),
    [("bits", 0), ("bits", 257), ("bits", 12.0), ("bits", True), ("alpha", -1.0), ("alpha", float("nan")),
     ("rule", "best"), ("epochs", 0), ("schedule_lag", 1), ("backbone", 3), ("theta", 1.0), ("seed", -1)],
)  # fmt: skip
def test_what_is_out_of_range_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(SettingsError, match=f"{name} is .*; allowed: "):
        settings("phe", **{name: value})
    with pytest.raises(SettingsError, match=f"{name} is .*; allowed: "):
        settings("phe").changed(**{name: value})


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(SettingsError, match="did you mean epochs"):
        settings("phe", epoch=3)


def test_settings_survive_json() -> None:
    s = settings("phe-paper", expected_categories=40, alpha=1)
    assert settings(**json.loads(json.dumps(s.as_dict()))) == s


def test_an_unknown_preset_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match="default, paper"):
        resolve({}, "best", None, {})


def test_flag_over_environment_over_file_over_preset_over_default(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('rule = "reference"\nepochs = 5\nbits = 20\n')
    environment = {"FIRSTSIGHT_EPOCHS": "7", "FIRSTSIGHT_BITS": "24", "FIRSTSIGHT_SCHEDULE_LAG": "yes", "HOME": "/"}
    s = resolve({"bits": 32, "seed": None, "expected_categories": 38}, "paper", file, environment)
    assert s.bits == 32  # flag
    assert s.epochs == 7  # environment over file
    assert s.schedule_lag is True  # environment over preset
    assert s.rule == "reference"  # file over preset
    assert s.feature_head == "paper"  # preset over default
    assert s.seed == 0  # default


def test_the_preset_itself_can_come_from_the_environment_or_a_file(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text('preset = "paper"\n')
    assert resolve({"expected_categories": 38}, None, file, {}).rule == "first"
    plain = {"FIRSTSIGHT_PRESET": "default"}
    assert resolve({"method": "phe"}, None, file, plain).rule == "nearest"
    assert resolve({}, None, file, plain).method == "firstsight"
    assert resolve({"expected_categories": 38}, "paper", None, plain).rule == "first"


@pytest.mark.parametrize(
    ("content", "message"), [("bits = ", "is not TOML"), ("bits = 'x'", "bits is 'x'"), ("bit = 3", "bits")]
)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(content)
    with pytest.raises(SettingsError, match=message):
        resolve({"method": "phe"}, None, file, {})


@pytest.mark.parametrize(
    ("key", "text"), [("FIRSTSIGHT_BITS", "many"), ("FIRSTSIGHT_BIT", "3"), ("FIRSTSIGHT_SCHEDULE_LAG", "maybe")]
)
def test_a_bad_environment_variable_is_named(key: str, text: str) -> None:
    with pytest.raises(SettingsError, match=key):
        resolve({"method": "phe"}, None, None, {key: text})


def test_every_setting_has_help_and_every_variant_only_settings_of_its_own() -> None:
    assert all(spec.help for spec in all_specs().values())
    for each in METHODS.values():
        assert all(each.has(name) for name in each.changes), each.name


def test_the_paper_recipe_is_the_text_at_its_word() -> None:
    s = settings("phe-paper", expected_categories=38)
    forms = (s.feature_head, s.hash_head, s.similarity, s.separation, s.quantisation)
    assert forms == ("paper",) * 5
    assert (s.weight_decay_features, s.weight_decay, s.schedule_lag, s.ema, s.rule) == (
        0.05,
        0.05,
        False,
        0.999,
        "first",
    )
    assert s.method == "phe"
    assert resolve({"expected_categories": 38}, "paper", None, {}) == s


def test_the_paper_recipe_asks_for_the_number_it_leans_on() -> None:
    with pytest.raises(SettingsError, match="--expected-categories"):
        settings("phe-paper")
    with pytest.raises(SettingsError, match="--expected-categories"):
        resolve({}, "paper", None, {})


def test_the_paper_recipe_is_for_one_method() -> None:
    with pytest.raises(SettingsError, match="recipe for phe, not for smile"):
        resolve({"method": "smile", "expected_categories": 38}, "paper", None, {})


def test_a_whole_number_does_for_a_float() -> None:
    assert settings("phe", alpha=1).alpha == 1.0
    assert type(settings("phe").changed(lr=0).lr) is float


# ------------------------------------------------------------------ what means something to which method

Source = Callable[[Path, str, str, Any], Any]


def in_file(tmp_path: Path, method: str, name: str, value: Any) -> Any:
    file = tmp_path / "s.toml"
    file.write_text(f"method = {json.dumps(method)}\n{name.replace('_', '-')} = {json.dumps(value)}\n")
    return resolve({}, None, file, {})


def in_environment(tmp_path: Path, method: str, name: str, value: Any) -> Any:
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return resolve({}, None, None, {"FIRSTSIGHT_METHOD": method, f"FIRSTSIGHT_{name.upper()}": text})


SOURCES: dict[str, Source] = {
    "python": lambda _, method, name, value: settings(method, **{name: value}),
    "fit": lambda folder, method, name, value: firstsight.fit(folder, method=method, **{name: value}),
    "changes": lambda _, method, name, value: settings_to_fit(settings(method), {name: value}),
    "flag": lambda _, method, name, value: resolve({"method": method, name: value}, None, None, {}),
    "file": in_file,
    "environment": in_environment,
}
MEANINGLESS = [
    ("firstsight", "bits", 16, "phe"),
    ("firstsight", "epochs", 9, "phe"),
    ("ncm", "second_look", False, "firstsight"),
    ("smile", "alpha", 0.5, "phe"),
    ("rankstat", "bits", 16, "phe"),
    ("mdsh", "beta", 1.0, "phe"),
]


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize(("method", "name", "value", "such_as"), MEANINGLESS)
def test_what_means_nothing_to_a_method_is_refused_alike_wherever_it_comes_from(
    source: str, method: str, name: str, value: Any, such_as: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        SOURCES[source](tmp_path, method, name, value)
    assert caught.value.what == f"{name} means nothing to {method}"
    assert caught.value.remedy == f"leave it out, or name a method that has it, such as {such_as}"


@pytest.mark.parametrize("source", SOURCES)
def test_what_is_not_allowed_is_refused_alike_wherever_it_comes_from(source: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        SOURCES[source](tmp_path, "phe", "bits", 300)
    assert caught.value.what == "bits is 300; allowed: 1 to 256"
    assert caught.value.remedy == "length of a code, L"


@pytest.mark.parametrize("source", [source for source in SOURCES if source != "fit"])
def test_what_is_allowed_is_taken_wherever_it_comes_from(source: str, tmp_path: Path) -> None:
    assert SOURCES[source](tmp_path, "phe", "bits", 16) == PheSettings(method="phe", bits=16)
    assert SOURCES[source](tmp_path, "firstsight", "second_look", False).second_look is False


def test_methods_of_one_kind_share_what_they_share() -> None:
    shared, images, training = (set(specs_of(kind)) for kind in (Settings, ImageSettings, TrainingSettings))
    assert shared == {"method", "seed"}
    assert shared < images < training < set(specs_of(PheSettings))
    for each in METHODS.values():
        assert images <= set(specs_of(each.settings_type)), each.name
    assert methods_with("second_look") == ["firstsight", "firstsight-frozen"]
    assert "offline-kmeans" not in methods_with("prototypes")
    assert set(PAPER) <= set(specs_of(PheSettings))


def test_a_setting_of_several_methods_must_mean_something_to_one_of_them() -> None:
    check_meaning(["bits", "second_look"], ["firstsight", "phe"])
    with pytest.raises(SettingsError, match="bits means nothing to firstsight"):
        check_meaning(["seed", "bits"], ["firstsight", "ncm"])
