"""The demo, whole, with fewer moths and a tiny backbone."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from firstsight.cli import demo as demo_module
from firstsight.cli.demo import demo
from firstsight.pages import report as report_module


class Page(HTMLParser):
    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))


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
    text = (tmp_path / "demo" / "report.html").read_text()
    page = Page(text)
    images = [attributes for tag, attributes in page.tags if tag == "img"]
    assert len(images) == 16
    assert all(image["alt"] and str(image["src"]).startswith("data:image/jpeg") for image in images)
    assert ("html", {"lang": "en"}) in page.tags
    assert not [tag for tag, _ in page.tags if tag in ("script", "link")]
    assert not re.search(r'(src|href)="https?:', text)


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
