"""The script that asks whether prototypes explain answers, on miniature data."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[2] / "reproductions" / "prototypes.py"


def test_shares_of_a_small_split(
    moths: Path, tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = " ".join(f"{name}={value}" for name, value in {**tiny, "bits": 16}.items())
    model, out = tmp_path / "m", tmp_path / "shares.json"
    arguments = ["folder", moths / "stream", model, settings, "--categories", "3", "--device", "cpu", "--out", out]
    arguments += ["--ledger", tmp_path / "ledger.jsonl"]
    monkeypatch.setattr("sys.argv", [SCRIPT.name, *map(str, arguments)])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    first = json.loads(out.read_text())
    assert first["known_categories"] == 3
    assert first["points"] == 9
    assert sum(first["own_among_top_five"]) == first["named_right"] <= first["known_images"]
    assert model.is_dir()
    runpy.run_path(str(SCRIPT), run_name="__main__")  # with the model that is there now
    assert json.loads(out.read_text())["own_among_top_five"] == first["own_among_top_five"]
    assert len((tmp_path / "ledger.jsonl").read_text().splitlines()) == 2
