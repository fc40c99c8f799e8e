"""How the docs read: words a sentence and the longest line of every page. `python -m tools.prose` fails at too much.

Sentences are those of running text and lists. Tables, code, headings and the targets of links are left out.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))
WORDS = 18  # a sentence, on average over a page
LINE = 120  # characters

_FENCE = re.compile(r"^```.*?^```", re.DOTALL | re.MULTILINE)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_NO_PROSE = re.compile(r"^(\||#|!\[)")
_ITEM = re.compile(r"^\s*([-*]|\d+\.)\s+")
_END = re.compile(r"(?<!\bEq)(?<!\bSec)(?<!\bFig)(?<!\bApp)[.!?](?:[)\"*]*)(?:\s+|$)")


class Reading(NamedTuple):
    """What a page is like to read."""

    words: float
    longest: int

    def faults(self) -> list[str]:
        found = [f"{self.words:.1f} words a sentence, {WORDS} at most"] if self.words > WORDS else []
        return found + ([f"a line of {self.longest} characters, {LINE} at most"] if self.longest > LINE else [])


def reading(text: str) -> Reading:
    lines = [line for line in _prose(text).splitlines() if not line.startswith(("|", "!["))]
    counts = [len(sentence.split()) for sentence in sentences(text)]
    return Reading(sum(counts) / max(1, len(counts)), max(map(len, lines), default=0))


def sentences(text: str) -> Iterator[str]:
    """Every sentence of a page's running text."""
    for block in _blocks(text):
        plain = re.sub(r"\]\([^)]*\)", "", re.sub(r"`[^`]*`", "code", block))
        yield from (sentence for sentence in _END.split(plain) if re.search(r"\w", sentence))


def _prose(text: str) -> str:
    """A page without its code and its comments."""
    return _COMMENT.sub("", _FENCE.sub("", text))


def _blocks(text: str) -> Iterator[str]:
    """Paragraphs and items of lists, each in one line."""
    block: list[str] = []
    for line in [*_prose(text).splitlines(), ""]:
        starts = _ITEM.match(line) is not None
        if starts or not line.strip() or _NO_PROSE.match(line):
            if block:
                yield " ".join(block)
            block = []
        if line.strip() and not _NO_PROSE.match(line):
            block.append(_ITEM.sub("", line).strip())


def main() -> None:
    faults = 0
    for page in PAGES:
        found = reading(page.read_text(encoding="utf-8"))
        faults += len(found.faults())
        print(f"{page.relative_to(ROOT)!s:24} {found.words:5.1f} words  {found.longest:4} characters", *found.faults())
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
