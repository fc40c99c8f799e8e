"""Everything that is generated: the parts of pages, and the files that are generated whole."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from tools.docs import reference, reproduction, results
from tools.docs.pages import Maker, filled

ROOT = Path(__file__).parents[2]

PARTS: dict[str, dict[str, Maker]] = {
    "README.md": {"results": results.short},
    "docs/reference.md": {"options": reference.options, "settings": reference.settings},
    "docs/methods.md": {"methods": reference.methods},
    "docs/results.md": {
        "cub": partial(results.full, "cub", longer=False),
        "pets": partial(results.full, "pets", longer=False),
        "cub-longer": partial(results.full, "cub", longer=True),
        "pets-longer": partial(results.full, "pets", longer=True),
        "cub-frozen": partial(results.frozen, "cub"),
        "pets-frozen": partial(results.frozen, "pets"),
    },
    "docs/reproduction.md": {
        "names": reproduction.names,
        **{name: partial(reproduction.shown, name) for name in reproduction.SHOWN},
    },
    "docs/explanations.md": {"prototypes": results.prototypes},
}
FILES: dict[str, Maker] = {
    **{f"reproductions/results/{data}.csv": partial(results.everything, data) for data in results.DATA},
    **{f"docs/images/reproduced/{name}.svg": partial(reproduction.figure, name) for name in reproduction.SHOWN},
}
GENERATED = (*PARTS, *FILES)


def fresh(name: str) -> str:
    """A file as it should be; an empty one should not be there."""
    if name in FILES:
        return FILES[name]()
    return filled(current(name), PARTS[name])


def current(name: str) -> str:
    path = ROOT / name
    return path.read_text(encoding="utf-8") if path.exists() else ""
