"""The demo, whole, with fewer moths and a tiny backbone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from firstsight.cli import demo as demo_module
from firstsight.cli.demo import demo
from firstsight.pages import report as report_module
from webpage import read_page


def test_the_demo_ends_with_a_page_that_shows_every_image(
    tiny: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(demo_module, "SPECIES", 8)
    monkeypatch.setattr(demo_module, "SUPPORT", 3)
    monkeypatch.setattr(demo_module, "STREAM", 2)
    monkeypatch.setattr(report_module, "WALL", 99)
    monkeypatch.setattr(demo_module, "SETTINGS", {**tiny, "cache_trunk": 1})
    demo(tmp_path / "demo", device="cpu", quiet=True)
    assert "closed-set" in capsys.readouterr().out
    page = read_page((tmp_path / "demo" / "report.html").read_bytes())
    assert len(page.all("img")) == 16
    assert page.one("p", "sentence").text.startswith("16 images arrived one by one, in random order. The model knew 4")
    assert "Made by phe with test_vit." in page.text


def test_a_free_name_is_found_for_a_second_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert demo_module._free_name("demo") == Path("demo")
    Path("demo").mkdir()
    assert demo_module._free_name("demo") == Path("demo-2")


@pytest.mark.slow
def test_the_real_demo_discovers_more_than_a_closed_set_does(tmp_path: Path) -> None:
    result = demo_module.run_demo(tmp_path / "demo", "cpu")
    rows = {row.name: row for row in result.rows}
    random, closed = rows["random x 10"], rows["closed-set"]
    assert random.accuracy.all >= closed.accuracy.all + 0.25
    assert result.true_categories / 2 <= random.categories <= result.true_categories * 2
    assert result.images <= 240
