"""Whether prototypes explain answers: by hand on colours, and the script that asks it of a benchmark."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from colours import BLUE, PURPLE, RED, colour_model, painted
from firstsight.core.protocols import Silent
from firstsight.model.examples import Examples
from firstsight.reproduce.case_studies import case_studies
from firstsight.reproduce.task import encode_pixels
from firstsight.train.pixels import PixelCache

SCRIPT = Path(__file__).parents[2] / "reproductions" / "prototypes.py"
GREEN = (0, 255, 0)


def test_groups_by_hand() -> None:
    """Red is named; blue is called red; green is new, and so found; purple is new and taken for red."""
    model, numbers = colour_model(), np.arange(6)
    model.examples = Examples(numbers // 3, numbers, np.zeros(6, dtype=np.int64), numbers)
    stream = PixelCache([painted(c) for c in (RED, BLUE, GREEN, PURPLE)], model.image_encoder.preprocess, Silent())
    features = model.transform(encode_pixels(model, stream))
    found = case_studies(model, stream, features, ["red", "red", "grass", "plum"], Silent())
    assert (found.points, found.dead, found.strays) == (6, 1, 3)
    named, called_else, new, taken = found.groups.values()
    assert [each.images for each in (named, called_else, new, taken)] == [1, 1, 1, 1]
    assert (named.of_the_top_five, named.share_with_three_or_more) == ([0, 0, 0, 1, 0, 0], 1.0)
    assert named.mean_similarity == pytest.approx(11.513, abs=1e-3)  # as in test_explain
    assert (called_else.of_the_top_five, called_else.mean_categories) == ([0, 0, 1, 0, 0, 0], 2)
    assert taken.of_the_top_five == [0, 0, 0, 1, 0, 0]


def test_the_script_on_a_small_split(
    moths: Path, tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = " ".join(f"{name}={value}" for name, value in {**tiny, "bits": 16}.items())
    model, out, ledger = tmp_path / "m", tmp_path / "shares.json", tmp_path / "ledger.jsonl"
    arguments = ["folder", moths / "stream", model, settings, "--categories", "3", "--device", "cpu", "--out", out]
    monkeypatch.setattr("sys.argv", [SCRIPT.name, *map(str, arguments), "--ledger", str(ledger)])
    runpy.run_path(str(SCRIPT), run_name="__main__")
    first = json.loads(out.read_text())
    assert (first["known_categories"], first["points"]) == (3, 9)
    assert model.is_dir()
    runpy.run_path(str(SCRIPT), run_name="__main__")  # with the model that is there now
    assert json.loads(out.read_text())["groups"] == first["groups"]
    assert len(ledger.read_text().splitlines()) == 2
