"""Everything that is generated: the parts of pages, and the files that are generated whole."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from tools.docs import api, reference, reproduction, results, settings
from tools.docs.pages import Maker, filled
from tools.docs.stream import stream

ROOT = Path(__file__).parents[2]

PARTS: dict[str, dict[str, Maker]] = {
    "README.md": {"results": results.short},
    "docs/reference.md": {"options": reference.options, "settings": settings.settings},
    "docs/api.md": {"names": api.names},
    "docs/methods.md": {"methods": reference.methods},
    "docs/results.md": {
        "cub": partial(results.full, "cub", longer=False),
        "pets": partial(results.full, "pets", longer=False),
        "cub-longer": partial(results.full, "cub", longer=True),
        "pets-longer": partial(results.full, "pets", longer=True),
        "cub-frozen": partial(results.frozen, "cub"),
        "pets-frozen": partial(results.frozen, "pets"),
        "whole": results.whole,
    },
    "docs/reproduction.md": {
        "names": reproduction.names,
        **{name: partial(reproduction.shown, name) for name in reproduction.SHOWN},
    },
    "docs/explanations.md": {"prototypes": results.prototypes},
}
FILES: dict[str, Maker] = {
    f"reproductions/results/{data}.csv": partial(results.everything, data) for data in results.DATA
}
GENERATED = (*PARTS, *FILES)
# drawn when asked: two versions of matplotlib do not write the same bytes
FIGURES: dict[str, Callable[[], bytes]] = {
    "docs/images/stream.svg": stream,
    **{f"docs/images/reproduced/{name}.svg": partial(reproduction.figure, name) for name in reproduction.FIGURES},
}


def fresh(name: str) -> str:
    """A file as it should be."""
    return FILES[name]() if name in FILES else filled(current(name), PARTS[name])


def current(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")
