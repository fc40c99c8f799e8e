"""What every command has in common: JSON, colours, completion, logging, the version."""

from __future__ import annotations

import json
import logging
import os
import pty
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from test_categories import register as register  # the fixture
from test_commands import PROGRAM, firstsight, refused

import firstsight as library
from firstsight.cli import versions
from firstsight.cli.main import app

COLOURED = "\x1b[1;31merror"


def commands(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every command there is, verbs of registers too."""
    yield from [] if name == "" else [(name, command)]
    for verb, each in getattr(command, "commands", {}).items():
        yield from commands(each, f"{name} {verb}".strip())


@pytest.mark.parametrize(("name", "command"), list(commands(typer.main.get_command(app))))
def test_every_command_has_json(name: str, command: Any) -> None:
    assert any("--json" in each.opts for each in command.params), name


def told(register: Path, *arguments: object) -> Any:
    result = firstsight("categories", register, *arguments, "--json")
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_what_is_recorded_is_told_as_json(register: Path, tmp_path: Path) -> None:
    (renamed,) = told(register, "rename", "new-1", "Fuchsia")
    assert (renamed["kind"], renamed["author"]) == ("Renamed", "person")
    assert [each["kind"] for each in told(register, "merge", "new-2", "new-3", "--into", "new-1")] == ["Merged"] * 2
    assert [each["kind"] for each in told(register, "undo")] == ["Undone"]
    assert [each["kind"] for each in told(register, "redo")] == ["Redone"]
    image = told(register, "show", "new-4")[0]["image"]
    assert told(register, "confirm", image)[0]["kind"] == "Confirmed"
    assert told(register, "move", image, "--to", "Fuchsia")[0]["kind"] == "Moved"
    assert told(register, "discard", image)[0]["kind"] == "Discarded"
    assert told(register, "radius", 3)[0]["kind"] == "RadiusChanged"
    assert told(register, "verify")["sound"]
    assert told(register, "backup", tmp_path / "copy.db")["events"] == told(register, "verify")["events"]
    assert told(register, "export", tmp_path / "all.csv")["images"] > 0
    assert told(register, "gallery", "--out", tmp_path / "all.html")["categories"] > 0
    assert told(register, "forget", image)["images"] == [image]
    assert told(register)["categories"] == told(register, "list")["categories"]
    assert told(register)["made_with"] is None
    refused(2, "--json belongs to the command", "categories", "--json", register, "list")


def test_a_doctor_and_methods_speak_json() -> None:
    found = json.loads(firstsight("doctor", "--json").stdout)
    assert found["firstsight"] == library.__version__
    assert found["packages"]["torch"]
    assert {"phe", "firstsight"} <= {each["method"] for each in json.loads(firstsight("methods", "--json").stdout)}


def seen_on_a_terminal(**environment: str) -> str:
    ours, theirs = pty.openpty()
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    command = [*PROGRAM, "categories", "/nowhere.db"]
    subprocess.run(command, stderr=theirs, env={**clean, "TERM": "xterm", **environment}, check=False)
    os.close(theirs)
    try:
        return os.read(ours, 10_000).decode()
    finally:
        os.close(ours)


def test_colours_are_for_terminals_and_those_who_want_them() -> None:
    assert COLOURED in seen_on_a_terminal()
    assert "\x1b[1merror" in seen_on_a_terminal(NO_COLOR="1")  # bold is no colour


@pytest.mark.parametrize(("environment", "coloured"), [({}, False), ({"FORCE_COLOR": "1"}, True)])
def test_elsewhere_colours_have_to_be_asked_for(environment: dict[str, str], coloured: bool) -> None:
    clean = {name: value for name, value in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR")}
    result = subprocess.run(
        [*PROGRAM, "categories", "/nowhere.db"], capture_output=True, text=True, env={**clean, **environment}
    )
    assert ("\x1b[" in result.stderr) == coloured


def test_the_version_is_first_and_names_what_computes_without_loading_it(monkeypatch: pytest.MonkeyPatch) -> None:
    said = firstsight("--version").stdout.strip()
    assert said.startswith(f"{library.__version__} (torch ")
    monkeypatch.setattr(versions, "_built_for_cuda", lambda: True)
    monkeypatch.setattr(versions, "cuda_devices", lambda: ["NVIDIA H200", "NVIDIA H200"])
    assert versions.version_line().endswith("cuda: NVIDIA H200 and 1 more)")
    monkeypatch.setattr(versions, "installed", lambda package: None)
    monkeypatch.setattr(versions, "cuda_devices", list)
    assert versions.version_line() == f"{library.__version__} (no torch, cpu)"


def offered(line: str, shell: str = "bash") -> list[str]:
    """What the shell is told to offer at the end of a line."""
    words = line.split(" ")
    env = {"_FIRSTSIGHT_COMPLETE": f"complete_{shell}", "COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)}
    return [each for each in firstsight(env=env).stdout.splitlines() if each]


def test_the_shell_completes_commands_methods_models_and_categories(
    register: Path, model_folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    assert offered("firstsight disc") == ["discover"]
    assert "phe-paper" in offered("firstsight fit --method ph")
    assert offered("firstsight benchmark --methods phe,nc") == ["phe,ncm"]
    assert offered("firstsight discover x --device cu") == ["cuda", "cuda:0"]
    assert offered(f"firstsight categories {register} show new-") == [f"new-{n}" for n in range(1, 5)]
    assert firstsight("categories", register, "rename", "new-1", "Deep red").returncode == 0
    assert offered(f"firstsight categories {register} show Dee") == ["Deep\\ red"]
    assert offered("firstsight categories nowhere.db show new-") == []
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "moths.model").symlink_to(model_folder)
    (tmp_path / "moments").mkdir()
    monkeypatch.chdir(tmp_path)
    assert offered("firstsight discover mo") == ["models/moths.model"]


def test_completing_loads_neither_torch_nor_scipy(register: Path) -> None:
    script = (
        "import sys\nfrom firstsight.cli.main import run\n"
        "try: run()\nexcept SystemExit: pass\n"
        "print([m for m in ('torch', 'timm', 'scipy', 'sklearn') if m in sys.modules])"
    )
    line = f"firstsight categories {register} show new-"
    env = {**os.environ, "_FIRSTSIGHT_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "4"}
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, env=env, check=True)
    assert result.stdout.splitlines() == ["new-1", "new-2", "new-3", "new-4", "[]"]


def test_as_a_library_it_is_silent_and_the_command_shows_what_is_logged(
    register: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    script = "import logging, firstsight; logging.getLogger('firstsight.model').warning('heard by nobody')"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stderr == ""
    from firstsight.cli.console import configure

    log = logging.getLogger("firstsight.anything")
    configure(quiet=False, verbose=False)
    log.info("a detail")
    log.warning("a slip")
    configure(quiet=False, verbose=True)
    log.info("a detail of interest")
    configure()
    said = capfd.readouterr().err
    assert "warning: a slip" in said
    assert "a detail of interest" in said
    assert "a detail\n" not in said
