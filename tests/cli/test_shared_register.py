"""A register on a server, by the commands: the same answers, edits and copies as of a file."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

import postgres
from firstsight.cli.main import app
from programs import needs

pytestmark = needs("initdb")


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app, [*arguments])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def address() -> str:
    return postgres.shared().address("commands")


def test_discover_correct_and_copy_either_way(sure_model: Path, swatches: Path, address: str, tmp_path: Path) -> None:
    images = str(swatches / "stream")
    answered = run("discover", str(sure_model), images, "--register", address, "--json")
    assert answered == run("discover", str(sure_model), images, "--register", str(tmp_path / "a.db"), "--json")
    listed = json.loads(run("categories", address, "list", "--json"))
    new = next(each["id"] for each in listed["categories"] if not each["known"])
    run("categories", address, "rename", new, "swatch")
    run("categories", str(tmp_path / "a.db"), "rename", new, "swatch")
    run("categories", address, "verify")
    run("categories", address, "backup", str(tmp_path / "b.db"))
    other = postgres.shared().address("copied")
    run("categories", str(tmp_path / "b.db"), "backup", other)
    same = [run("categories", each, "list", "--json") for each in (address, other, *map(str, tmp_path.glob("*.db")))]
    assert len(set(same)) == 1
