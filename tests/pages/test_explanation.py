"""docs/explanations.md: its code runs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanations.md"


def test_its_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_folder: Path, moths: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moths.model").symlink_to(model_folder, target_is_directory=True)
    (tmp_path / "photo.jpg").symlink_to(min((moths / "stream").rglob("*.jpg")))
    (example,) = re.findall(r"```python\n(.*?)```", PAGE.read_text(), flags=re.DOTALL)
    exec(compile(example, PAGE.name, "exec"), {})
