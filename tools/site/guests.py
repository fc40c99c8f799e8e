"""Files of the repository that are not in docs/ but that its pages link to: the log, tables, notebooks.

A file has one place in the repository and one on the site. A page of docs/ is at the same place without `docs/`, a
notebook is a page by the same name, and everything else is where it was.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

ALWAYS = ("CONTRIBUTING.md", "CHANGELOG.md")  # in the navigation, whether linked to or not
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#)([^)#\s]+)")


def invited(root: Path) -> list[Path]:
    """Every file outside docs/ that a page on the site links to, and those that they link to."""
    waiting = [Path(name) for name in ALWAYS] + [path.relative_to(root) for path in sorted(root.glob("docs/*.md"))]
    found: dict[Path, None] = {}
    while waiting:
        path = waiting.pop()
        if path in found or not (root / path).is_file():
            continue  # MkDocs names a link that leads nowhere
        found[path] = None
        if path.suffix in (".md", ".ipynb"):
            text = (root / path).read_text(encoding="utf-8")
            waiting += [target for _, target in _targets(text, path)]
    return sorted(path for path in found if path.parts[0] != "docs")


def on_site(path: Path) -> str:
    """Where a file of the repository is on the site."""
    inside = Path(*path.parts[1:]) if path.parts[0] == "docs" else path
    return str(inside.with_suffix(".md") if inside.suffix == ".ipynb" else inside)


def home_of(uri: str, root: Path) -> Path:
    """Where a page of the site is in the repository."""
    inside = Path("docs") / uri
    if (root / inside).is_file():
        return inside
    notebook = Path(uri).with_suffix(".ipynb")
    return notebook if (root / notebook).is_file() else Path(uri)


def relinked(text: str, path: Path) -> str:
    """A page's text with links that hold on the site instead of in the repository."""
    here = Path(on_site(path)).parent

    def put(match: re.Match[str]) -> str:
        return os.path.relpath(on_site(_joined(path, match[1])), here)

    return _LINK.sub(put, text)


def _targets(text: str, path: Path) -> Iterator[tuple[str, Path]]:
    """Every link to a file: as it is written, and the file of the repository it means."""
    for target in _LINK.findall(text):
        yield target, _joined(path, target)


def _joined(path: Path, target: str) -> Path:
    return Path(os.path.normpath(path.parent / target))
