"""Settings: what is allowed, and which source wins."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from firstsight.core.errors import SettingsError
from firstsight.core.settings import PRESETS, SPECS, Settings, resolve


def test_the_defaults_are_the_papers_numbers() -> None:
    s = Settings()
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
        Settings(**{name: value})


def test_an_unknown_name_is_refused_with_the_nearest_known_one() -> None:
    with pytest.raises(SettingsError, match="did you mean epochs"):
        Settings.of({"epoch": 3})


def test_settings_survive_json() -> None:
    s = Settings.preset("paper", expected_categories=40, alpha=1)
    assert Settings.of(json.loads(json.dumps(s.as_dict()))) == s


def test_an_unknown_preset_is_refused_with_those_there_are() -> None:
    with pytest.raises(SettingsError, match="default, paper"):
        Settings.preset("best")


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
    assert resolve({}, None, file, {"FIRSTSIGHT_PRESET": "default"}).rule == "nearest"
    assert resolve({"expected_categories": 38}, "paper", None, {"FIRSTSIGHT_PRESET": "default"}).rule == "first"


@pytest.mark.parametrize(
    ("content", "message"), [("bits = ", "is not TOML"), ("bits = 'x'", "bits is 'x'"), ("bit = 3", "bits")]
)
def test_a_bad_file_says_what_is_wrong(tmp_path: Path, content: str, message: str) -> None:
    file = tmp_path / "s.toml"
    file.write_text(content)
    with pytest.raises(SettingsError, match=message):
        resolve({}, None, file, {})


@pytest.mark.parametrize(
    ("key", "text"), [("FIRSTSIGHT_BITS", "many"), ("FIRSTSIGHT_BIT", "3"), ("FIRSTSIGHT_SCHEDULE_LAG", "maybe")]
)
def test_a_bad_environment_variable_is_named(key: str, text: str) -> None:
    with pytest.raises(SettingsError, match=key):
        resolve({}, None, None, {key: text})


def test_every_setting_has_help_and_every_preset_only_known_settings() -> None:
    assert all(spec.help for spec in SPECS.values())
    assert all(name in SPECS for preset in PRESETS.values() for name in preset)


def test_the_paper_preset_is_the_text_at_its_word() -> None:
    s = Settings.preset("paper", expected_categories=38)
    forms = (s.feature_head, s.hash_head, s.similarity, s.separation, s.quantisation)
    assert forms == ("paper",) * 5
    assert (s.weight_decay_features, s.weight_decay, s.schedule_lag, s.ema, s.rule) == (
        0.05,
        0.05,
        False,
        0.999,
        "first",
    )


def test_the_paper_preset_asks_for_the_number_it_leans_on() -> None:
    with pytest.raises(SettingsError, match="--expected-categories"):
        Settings.preset("paper")


def test_a_whole_number_does_for_a_float() -> None:
    assert Settings(alpha=1).alpha == 1.0
    assert type(Settings().changed(lr=0).lr) is float
