"""docs/explanations.md: its code runs, and its table is what the runs say."""

from __future__ import annotations

import json
import os
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


def prototypes_table() -> str:
    """What the images of a stream are most like, by how they are answered."""
    head = ("data", "known categories", "images", "how many", "three or more of five", "similarity", "categories")
    rows = [f"| {' | '.join(head)} |", "|" + "---|" * len(head)]
    for path in sorted((ROOT / "reproductions" / "results" / "prototypes").glob("*.json")):
        result = json.loads(path.read_text())
        for group, r in result["groups"].items():
            shares = f"{r['share_with_three_or_more']:.1%} | {r['mean_similarity']:.2f} | {r['mean_categories']:.1f}"
            rows.append(f"| {result['data']} | {result['known_categories']} | {group} | {r['images']} | {shares} |")
    return "\n".join(rows)


def test_its_table_is_up_to_date() -> None:
    pattern = re.compile(r"(<!-- prototypes: begin .*? -->\n).*?(<!-- prototypes: end -->)", re.DOTALL)
    fresh = pattern.sub(lambda match: f"{match[1]}{prototypes_table()}\n{match[2]}", PAGE.read_text())
    if os.environ.get("UPDATE_DOCS"):
        PAGE.write_text(fresh)
    assert fresh == PAGE.read_text()
