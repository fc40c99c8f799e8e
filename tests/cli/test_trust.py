"""Files from strangers run nothing: a module that one of them names is loaded only when the user says so."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from test_commands import firstsight, refused

import firstsight as library
from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.files import digest
from firstsight.methods.settings import resolve

PAYLOAD = """\
from pathlib import Path
from firstsight.methods.phe.model import PHE as Net
Path(__file__).with_name('ran').touch()
"""
CPU = ("--device", "cpu")


@pytest.fixture
def ran(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file that importing the module `payload` makes."""
    (tmp_path / "payload.py").write_text(PAYLOAD)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "ran"
    sys.modules.pop("payload", None)


@pytest.fixture
def strange(model_folder: Path, tmp_path: Path, ran: Path) -> Path:
    """A sound model folder whose method is that module."""
    folder = Path(shutil.copytree(model_folder, tmp_path / "strange.model"))
    config = json.loads((folder / "config.json").read_text())
    config["settings"]["method"] = "payload:Net"
    (folder / "config.json").write_text(json.dumps(config))
    checksums = json.loads((folder / "checksums.json").read_text())
    checksums["config.json"] = digest(folder / "config.json")
    (folder / "checksums.json").write_text(json.dumps(checksums))
    return folder


def test_loading_a_model_runs_no_module_from_elsewhere_unless_trusted(strange: Path, ran: Path) -> None:
    with pytest.raises(ModelError, match="'payload:Net', a module from elsewhere") as caught:
        library.load(strange, device="cpu")
    assert "trust=True" in caught.value.remedy
    assert not ran.exists()
    assert library.load(strange, device="cpu", trust=True).names
    assert ran.exists()


def test_every_command_that_takes_a_model_asks_for_trust(
    strange: Path, ran: Path, model_folder: Path, moths: Path, tmp_path: Path
) -> None:
    image, register = min((moths / "stream").rglob("*.jpg")), tmp_path / "r.db"
    assert firstsight("discover", model_folder, image, "--register", register, *CPU).returncode == 0
    commands = (
        ("discover", strange, image),
        ("evaluate", strange, moths / "stream"),
        ("explain", strange, image),
        ("gallery", strange, "--out", tmp_path / "g.html"),
        ("categories", register, "reencode", strange, tmp_path / "new.db"),
    )
    for command in commands:
        assert "--trust" in refused(4, "a module from elsewhere", *command, *CPU)
    assert not ran.exists()
    for command in commands:
        result = firstsight(*command, "--trust", *CPU)
        assert result.returncode == 0, result.stderr
    assert ran.exists()


def test_a_finished_model_of_another_method_is_not_loaded_by_resume(
    strange: Path, ran: Path, moths: Path, tiny: dict[str, Any]
) -> None:
    with pytest.raises(ModelError, match="made with other settings"):
        library.fit(moths / "support", strange, device="cpu", resume=True, **tiny)
    assert not ran.exists()
    assert library.fit(moths / "support", strange, device="cpu", resume=True, **{**tiny, "method": "payload:Net"})


def test_a_file_of_settings_needs_trust_to_name_a_module(tmp_path: Path, ran: Path, moths: Path) -> None:
    settings = tmp_path / "s.toml"
    settings.write_text("method = 'payload:Net'\n")
    fit = ("fit", moths / "support", "--out", tmp_path / "m", "--config", settings)
    assert "--trust" in refused(2, "s.toml: its method is 'payload:Net', a module from elsewhere", *fit)
    assert not ran.exists()
    with pytest.raises(SettingsError, match="a module from elsewhere"):
        resolve({}, config_file=settings, environment={})
    for named in (
        resolve({}, config_file=settings, environment={}, trust=True),
        resolve({"method": "payload:Net"}, config_file=settings, environment={}),
        resolve({}, config_file=settings, environment={"FIRSTSIGHT_METHOD": "payload:Net"}),
    ):
        assert named.method == "payload:Net"
