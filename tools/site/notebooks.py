"""A notebook as a page: its text as it is, its code in blocks, what it printed and drew below them."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

PICTURES = {"image/png": ".png", "image/jpeg": ".jpg"}


def page(path: Path, uri: str) -> dict[str, Any]:
    """The page and its pictures, by their addresses on the site."""
    made: dict[str, Any] = {}
    parts = list(_parts(json.loads(path.read_text(encoding="utf-8"))["cells"], Path(uri), made))
    return {uri: "\n\n".join(parts) + "\n", **made}


def _parts(cells: list[Mapping[str, Any]], home: Path, made: dict[str, Any]) -> Iterator[str]:
    for cell in cells:
        source = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            yield source
        else:
            yield f"```python\n{source}\n```"
            yield from (_shown(output, home, made) for output in cell["outputs"])


def _shown(output: Mapping[str, Any], home: Path, made: dict[str, Any]) -> str:
    """An output: a picture where there is one, else its text."""
    data = output.get("data", {})
    for kind in PICTURES.keys() & data.keys():
        picture = home.with_name(f"{home.stem}-{len(made) + 1}{PICTURES[kind]}")
        made[str(picture)] = base64.b64decode("".join(data[kind]))
        return f"![What the code above shows]({picture.name})"
    text = "".join(output.get("text", data.get("text/plain", "")))
    return f"```text\n{text.rstrip()}\n```"
