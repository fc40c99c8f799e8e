"""The project as a whole: pins, start-up, layers, and what must not be in the tree."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import firstsight

ROOT = Path(__file__).parents[1]


def test_the_pins_for_uv_and_for_pip_are_the_same() -> None:
    pins = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["constraint-dependencies"]
    assert (ROOT / "constraints.txt").read_text().split() == pins


def test_the_version_is_one() -> None:
    assert tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"] == firstsight.__version__


@pytest.mark.parametrize(
    ("first", "absent"),
    [
        ("from firstsight import CodeRegister, Discoverer, Settings", ("torch", "timm", "scipy")),
        ("pass", ("torch", "timm", "scipy", "numpy")),
    ],
)
def test_importing_and_help_load_little(first: str, absent: tuple[str, ...]) -> None:
    script = (
        f"import sys, firstsight, firstsight.cli.main\n{first}\n"
        "from firstsight.cli.main import app\n"
        "try: app(['--help'])\n"
        "except SystemExit: pass\n"
        f"print([m for m in {absent} if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip().splitlines()[-1] == "[]"


@pytest.mark.parametrize(("given", "kept"), [({}, "passive"), ({"OMP_WAIT_POLICY": "active"}, "active")])
def test_threads_that_wait_sleep_unless_the_user_says_otherwise(given: dict[str, str], kept: str) -> None:
    environment = {key: value for key, value in os.environ.items() if key != "OMP_WAIT_POLICY"} | given
    script = "import os, firstsight; print(os.environ['OMP_WAIT_POLICY'])"
    result = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert result.stdout.strip() == kept


def test_every_public_name_can_be_had() -> None:
    assert all(getattr(firstsight, name) is not None for name in firstsight.__all__)


def test_what_the_docs_call_public_is_what_is_exported() -> None:
    text = (ROOT / "docs" / "public.md").read_text()
    listed = text.partition("**Names of the package**:")[2].partition(".\n")[0].partition("`. ")[0]
    assert re.findall(r"`?(\w+)`?[,\s]*", listed) == firstsight.__all__


def test_what_is_deprecated_says_when_it_goes_and_what_to_use() -> None:
    rows = [line for line in (ROOT / "DEPRECATIONS.md").read_text().splitlines() if line.startswith("| ")][1:]
    assert all(len([cell for cell in row.strip("|").split("|") if cell.strip()]) == 4 for row in rows)
    assert "(docs/public.md)" in (ROOT / "DEPRECATIONS.md").read_text()


def test_modules_stay_small() -> None:
    long = {path.name: n for path in (ROOT / "src").rglob("*.py") if (n := len(path.read_text().splitlines())) > 400}
    assert long == {}


def test_the_glossary_is_kept_in_code() -> None:
    """One word per concept: these are the words for something else."""
    never = re.compile(r"\b(codebook|unseen|novel|hash_dict|known class(es)?|new class(es)?)\b", re.IGNORECASE)
    found = [
        f"{path.relative_to(ROOT)}: {match.group()}"
        for path in [*(ROOT / "src").rglob("*.py"), ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
        for match in never.finditer(path.read_text())
    ]
    assert found == []


def test_ci_runs_the_readmes_own_test_command() -> None:
    command = "uv run --all-extras pytest"
    assert command in (ROOT / "README.md").read_text().splitlines()
    assert command in (ROOT / ".ci" / "run").read_text().splitlines()
