"""Settings on the command line: help shows those of the method that is named, and only those are taken."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from test_commands import firstsight, refused

from tiny_settings import tiny_for


def shown(*arguments: str, env: dict[str, str] | None = None) -> str:
    result = firstsight("fit", *arguments, "--help", env=env)
    assert result.returncode == 0, result.stderr
    return " ".join(result.stdout.split())


def test_help_is_short_and_of_the_default_method() -> None:
    said = shown()
    assert "--second-look" in said
    assert "--prototypes" in said
    for other in ("--bits", "--epochs", "--theta", "--expected-categories"):
        assert other not in said


@pytest.mark.parametrize("named", [("--method", "phe"), ("--method=phe",)])
def test_help_of_a_method_shows_its_settings_and_their_defaults(named: tuple[str, ...]) -> None:
    said = shown(*named)
    assert "--bits" in said
    assert "Length of a code, L. [default: 12]" in said
    assert "--second-look" not in said
    assert "--second-look" in shown()  # asking for another's help changed nothing


def test_help_follows_the_environment_too() -> None:
    assert "--bits" in shown(env={"FIRSTSIGHT_METHOD": "phe"})


def test_help_of_a_method_that_is_not_there_is_that_of_the_default() -> None:
    assert "--second-look" in shown("--method", "smiles")


def test_a_setting_that_help_does_not_show_is_still_understood_and_refused(moths: Path, tmp_path: Path) -> None:
    fit = ("fit", moths / "support", "--out", tmp_path / "m")
    said = refused(2, "bits means nothing to firstsight", *fit, "--bits", "16")
    assert "such as phe" in said
    (tmp_path / "s.toml").write_text("bits = 16\n")
    assert refused(2, "bits means nothing to firstsight", *fit, "--config", tmp_path / "s.toml") == said
    assert refused(2, "bits means nothing to firstsight", *fit, env={"FIRSTSIGHT_BITS": "16"}) == said


def test_prototypes_are_of_every_method(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    own = tiny_for("firstsight", tiny)
    own.pop("prototypes")
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in own.items()]
    result = firstsight("fit", moths / "support", "--out", tmp_path / "m", *flags, "--prototypes", "3", "--device=cpu")
    assert result.returncode == 0, result.stderr
    settings = json.loads((tmp_path / "m" / "config.json").read_text())["settings"]
    assert (settings["method"], settings["prototypes"]) == ("firstsight", 3)
