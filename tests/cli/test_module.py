"""`python -m firstsight` is the command `firstsight`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path


def python(*arguments: object, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, check=False)


def test_usage_and_exit_codes_are_those_of_the_command(tmp_path: Path) -> None:
    shown = python("-m", "firstsight", "--help", cwd=tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Usage: firstsight [OPTIONS] COMMAND" in shown.stdout
    missing = python("-m", "firstsight", "discover", "no.model", "no.jpg", cwd=tmp_path)
    assert (missing.returncode, missing.stdout) == (3, "")
    assert "error: no.jpg does not exist" in missing.stderr
    assert python("-m", "firstsight", "--nonsense", cwd=tmp_path).returncode == 2


def test_modules_in_the_working_directory_are_not_loaded(tmp_path: Path) -> None:
    for name in ("typer", "rich", "PIL", "numpy"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('ran')")
    assert python("-m", "firstsight", "--version", cwd=tmp_path).returncode == 0
    assert python("-m", "firstsight", "pack", "x", "y.tar", cwd=tmp_path).returncode == 3  # x does not exist
