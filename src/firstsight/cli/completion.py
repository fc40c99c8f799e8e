"""What a shell offers at the Tab key. It is asked at every press, so nothing large is loaded, and faults are silent."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

MOST = 200  # entries of a folder that are looked at
MARK = "checksums.json"  # which every complete model folder has
DEVICES = ("auto", "cpu", "cuda", "cuda:0", "mps")


def models(incomplete: str) -> list[str]:
    """Model folders here and one level down; where there is none, the shell offers files itself."""
    near = list(_beginning(incomplete))
    inside = [each for folder in near if not _is_model(folder) for each in _entries(folder)]
    return sorted(_word(str(path)) for path in [*near, *inside] if _is_model(path))


def registers(incomplete: str) -> list[str]:
    """Registers here and one level down."""
    near = list(_beginning(incomplete))
    inside = [each for folder in near if folder.is_dir() and not _is_model(folder) for each in _entries(folder)]
    return sorted(_word(str(path)) for path in [*near, *inside] if path.suffix == ".db")


def methods(incomplete: str) -> list[str]:
    """Methods by name; of a list with commas, the last one."""
    from firstsight.methods.catalogue import METHODS

    before, comma, begun = incomplete.rpartition(",")
    return [f"{before}{comma}{name}" for name in METHODS if name.startswith(begun)]


def devices(incomplete: str) -> list[str]:
    return [name for name in DEVICES if name.startswith(incomplete)]


def categories(ctx: Any, incomplete: str) -> list[str]:
    """Ids and names of the register that was named before; not of one on a server, which may be far."""
    file = _register_of(ctx)
    if file is None or not file.is_file():
        return []
    try:
        names = _names(file)
    except Exception:  # whatever is wrong with it is said when the command runs
        return []
    begun = incomplete.casefold()
    return [_word(name) for name in dict.fromkeys(names) if name.casefold().startswith(begun)]


def _names(file: Path) -> list[str]:
    from firstsight.store.store import Store
    from firstsight.store.views import summaries

    with Store.open(file, write=False) as store:
        found = summaries(store.view())
    return [each.name for each in found] + [each.id for each in found]


def _register_of(ctx: Any) -> Path | None:
    """The FILE.db of the command around this one."""
    while ctx is not None:
        if isinstance(named := (ctx.params or {}).get("file"), str):
            return None if "://" in named else Path(named)
        ctx = ctx.parent
    return None


def _beginning(incomplete: str) -> Iterable[Path]:
    """What lies in a folder under a name that begins like this."""
    folder, begun = os.path.split(incomplete)
    return (each for each in _entries(Path(folder)) if each.name.startswith(begun) and (begun or each.name[0] != "."))


def _entries(folder: Path) -> list[Path]:
    try:
        return list(islice(folder.iterdir(), MOST))
    except OSError:
        return []


def _is_model(path: Path) -> bool:
    return (path / MARK).is_file()


def _word(text: str) -> str:
    """As one word: bash puts what it is given into the line as it is."""
    if "bash" not in os.environ.get("_FIRSTSIGHT_COMPLETE", ""):
        return text
    return re.sub(r"([^\w./:@%+,=-])", r"\\\1", text)
