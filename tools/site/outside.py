"""What a built site would fetch from another address when it is opened: there must be nothing."""

from __future__ import annotations

import re
from pathlib import Path

# what a browser fetches by itself; a link (<a href>) is followed only by a person
_FETCHED = (
    re.compile(
        r"<(?:img|script|iframe|source|video|audio|embed|input)\b[^>]*\bsrc(?:set)?=[\"']?((?:https?:)?//[^\"'\s>]+)"
    ),
    re.compile(r"<link\b(?![^>]*rel=[\"']?canonical)[^>]*\bhref=[\"']?((?:https?:)?//[^\"'\s>]+)"),
    re.compile(r"(?:@import\s+|url\()[\"']?((?:https?:)?//[^\"')\s]+)"),
)


def requests(site: Path) -> list[str]:
    """Every address outside that a page or a stylesheet names, with the file that does."""
    found = []
    for path in sorted(path for path in site.rglob("*") if path.suffix in (".html", ".css")):
        text = path.read_text(encoding="utf-8")
        named = {match[1] for pattern in _FETCHED for match in pattern.finditer(text)}
        found += [f"{path.relative_to(site)}: {address}" for address in sorted(named)]
    return found
