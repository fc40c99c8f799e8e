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
WITH_NUMBERS = (
    "cli/test_categories.py", "core", "encode", "evaluate", "evidence", "methods", "model", "register", "train",
    "test_discoverer.py", "test_estimator.py",
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
    aside = [f"--basetemp={tmp_path / 'runs'}", "-p", "no:cacheprovider"]
    command = [sys.executable, "-m", "pytest", "-n0", *aside, *(str(TESTS / name) for name in WITH_NUMBERS)]
    done = subprocess.run(command, env=environment | settings, cwd=TESTS.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
