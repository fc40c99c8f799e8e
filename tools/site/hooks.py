"""What MkDocs calls while it builds the site, in the order in which it does."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))  # MkDocs loads this file by its path, and restores sys.path afterwards

from mkdocs.config.defaults import MkDocsConfig  # noqa: E402
from mkdocs.exceptions import PluginError  # noqa: E402
from mkdocs.structure.files import File, Files  # noqa: E402
from mkdocs.structure.pages import Page  # noqa: E402

from tools.site import api, equations, guests, notebooks, outside  # noqa: E402

# long lists of everything: found last
LAST = {"api.md": 0.4, "reference.md": 0.6, "CHANGELOG.md": 0.2, "reproductions/LOG.md": 0.2}
_CELLS = re.compile(r"^\|.*\|$", re.MULTILINE)
_FIGURES = re.compile(r"(?<=\d) ([±/]) (?=\d)")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Bring what is in the repository but not in docs/, and is linked to or in the navigation."""
    for path in guests.invited(ROOT):
        for uri, content in _brought(path).items():
            files.append(File.generated(config, uri, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """A page as MkDocs takes it, from a page as a repository shows it."""
    uri = page.file.src_uri
    text = guests.relinked(markdown, guests.home_of(uri, ROOT))
    text = _CELLS.sub(lambda cells: unbroken(cells[0]), equations.rendered(text))
    if uri in LAST:
        page.meta["search"] = {"boost": LAST[uri]}
    return text + api.sections() if uri == "api.md" else text


def unbroken(cells: str) -> str:
    """A line of a table, whose figures stay in one line: 31.6 ± 0.3 and 364 / 200."""
    return _FIGURES.sub("\N{NO-BREAK SPACE}\\1\N{NO-BREAK SPACE}", cells)


def on_post_build(config: MkDocsConfig) -> None:
    """A page that would ask another address for anything is a mistake."""
    if found := outside.requests(Path(config.site_dir)):
        raise PluginError("the site asks other addresses: " + "; ".join(found))


def _brought(path: Path) -> dict[str, Any]:
    """What a file is on the site, by address there."""
    uri = guests.on_site(path)
    if path.suffix == ".ipynb":
        return notebooks.page(ROOT / path, uri)
    return {uri: (ROOT / path).read_bytes() if path.suffix != ".md" else (ROOT / path).read_text(encoding="utf-8")}
