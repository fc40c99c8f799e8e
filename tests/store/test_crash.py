"""Nothing acknowledged is lost, whenever the process is killed. More of the same: `python tests/store/crash.py 200`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_twenty_kills_lose_nothing() -> None:
    command = [sys.executable, str(Path(__file__).with_name("crash.py")), "10"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stderr
    assert "10 kills of codes" in result.stdout
    assert "10 kills of statistics" in result.stdout
