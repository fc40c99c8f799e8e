"""The pages for newcomers, played from top to bottom: commands and snippets in the order in which they stand.

Their readers name what was discovered. So what the commands fit, with the tests' tiny network, makes way for a model
whose answers are certain.
"""

from __future__ import annotations

import re
import shutil
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import readers
from documented import FENCED, ROOT, commands, small
from test_documented import given, home, hub, run

__all__ = ["given", "home", "hub"]  # fixtures


def made_sure(command: str, folder: Path) -> None:
    """Put the certain model in the place of the one that was just fitted, and its colours in the place of moths."""
    words = small(command)
    if words[:2] == ["firstsight", "fit"]:
        made = next(Path(after) for word, after in pairwise(words) if word == "--out")
        shutil.rmtree(made)
        made.symlink_to(folder / "birds.model")
    if words[:2] == ["firstsight", "demo"] and "--serve" not in words:
        shutil.rmtree("firstsight-demo")
        Path("firstsight-demo").mkdir()
        Path("firstsight-demo/model").symlink_to(folder / "birds.model")
        Path("firstsight-demo/stream").symlink_to(folder / "moths" / "labelled")


@pytest.mark.slow
@pytest.mark.parametrize("page", readers.IN_ORDER)
def test_a_page_can_be_followed_from_top_to_bottom(
    page: str, given: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {}
    for language, block in FENCED.findall((ROOT / "docs" / f"{page}.md").read_text()):
        if language == "python":
            exec(compile(block, f"{page}.md", "exec"), names)
        for command in commands(block) if language == "sh" else ():
            run(command, given, home, monkeypatch)
            made_sure(command, given)


def test_these_pages_have_something_to_follow() -> None:
    for page in readers.IN_ORDER:
        assert re.search(r"^```(sh|python)$", (ROOT / "docs" / f"{page}.md").read_text(), re.MULTILINE), page
