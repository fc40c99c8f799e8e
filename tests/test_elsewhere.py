"""What touches numbers, run again where the last bit of a float is another: with two threads, and held to AVX2.

A test that fails only here depends on the machine, and must be given numbers it controls.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
WITHOUT_NUMBERS = (
    "data", "docs", "exports", "pages", "reproduce", "scale", "serve", "store", "test_benchmarks.py", "test_docs.py",
    "test_elsewhere.py", "test_installed.py", "test_programs.py", "test_project.py",
)  # fmt: skip
AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
}


@pytest.mark.slow
@pytest.mark.parametrize("settings", [{"OMP_NUM_THREADS": "2"}, AVX2], ids=["two threads", "AVX2"])
def test_numbers_hold_elsewhere(settings: dict[str, str], tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "OMP_NUM"))}
    without = [f"--ignore={TESTS / name}" for name in WITHOUT_NUMBERS]
    aside = [f"--basetemp={tmp_path / 'runs'}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-n0", *aside, *without, str(TESTS)]
    done = subprocess.run(command, env=environment | settings, cwd=TESTS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
