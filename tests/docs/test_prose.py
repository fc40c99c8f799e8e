"""Docs that can be read: short sentences, short lines; and what they name of the tree is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tools.prose import LINE, PAGES, ROOT, WORDS, reading, sentences

SOURCES = (ROOT / "src" / "firstsight", ROOT / "src", ROOT, ROOT / "tests")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_has_short_sentences_and_short_lines(page: Path) -> None:
    assert reading(page.read_text()).faults() == []


def test_sentences_are_those_of_running_text() -> None:
    page = """# A heading. Not a sentence.

One sentence, of `a.b.c` and [a link](of/some.md), over
two lines. Another (Eq. 5)!

- An item
- **A second.** With more.

| a table. | no |

```sh
code. code.
```
"""
    assert list(sentences(page)) == [
        "One sentence, of code and [a link, over two lines",
        "Another (Eq. 5)",
        "An item",
        "**A second",
        "With more",
    ]
    assert reading(page).words == 19 / 5


def test_long_sentences_and_long_lines_are_faults() -> None:
    assert len(reading("word " * (WORDS + 1)).faults()) == 1
    assert len(reading(f"{'w' * (LINE + 1)}.").faults()) == 1
    assert reading(f"|{'w' * LINE}|\n\n```\n{'w' * 2 * LINE}\n```\n").faults() == []


def found(name: str) -> Path | None:
    return next((folder / name for folder in SOURCES if (folder / name).exists()), None)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_are_named_exist(page: Path) -> None:
    """Of code and of kept results; whatever has no folder before its name is the reader's own."""
    named = re.findall(r"`((?:[\w.-]+/)+(?:[\w-]+\.(?:py|jsonl|css))?)(?:::\w+)?[` ]", page.read_text())
    ours = [name for name in named if name.endswith(".py") or name.startswith(("reproductions/", "src/", "tests/"))]
    assert [name for name in ours if found(name) is None] == []


def test_every_equation_is_where_the_method_page_says() -> None:
    rows = re.findall(r"`([\w/]+\.py) : ([^`]+)`", (ROOT / "docs" / "method.md").read_text())
    assert len(rows) > 12
    for file, names in rows:
        path = found(file)
        assert path is not None, file
        for name in re.split(r"[,.] ?", names):
            assert re.search(rf"^\s*(def|class) {name}\b", path.read_text(), re.MULTILINE), f"{name} in {file}"
