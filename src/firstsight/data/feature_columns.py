"""Which column of a table is what: the category, the name, one column of whole features, or a value in each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from firstsight.core.errors import DataError

LABELS = ("label", "category", "class", "species", "target")
NAMES = ("name", "id", "image", "file", "filename", "path")
WHOLE = ("feature", "features", "embedding", "vector")
INDEX = ("", "unnamed: 0", "__index_level_0__")  # what pandas writes: never a value
MOST = 65_536  # values of a feature
SHOWN = 12  # titles in an error


@dataclass(frozen=True)
class Columns:
    """Positions of columns."""

    values: tuple[int, ...]  # one for each value, or
    whole: int | None  # that of all values together
    label: int | None
    name: int | None


def find_columns(path: Path, header: Sequence[str], label: str | None = None) -> Columns:
    """By their titles, whatever their case; DataError where two claim the same, or none is left for values.

    Where `label` names the column of categories, others that could be it are passed over.
    """
    titles = {i: title.strip().lower() for i, title in enumerate(header)}
    own = _one(path, header, titles, LABELS) if label is None else _called(path, header, label)
    free = {i: title for i, title in titles.items() if i != own and (label is None or title not in LABELS)}
    name, whole, index = (_one(path, header, free, known) for known in (NAMES, WHOLE, INDEX))
    rest = tuple(i for i in free if i not in (name, whole, index))
    if whole is not None and rest:
        raise DataError(
            f"{path} has a column {header[whole]!r} of whole features, and {header[rest[0]]!r} besides",
            "keep one or the other: a column of lists, or one column for each value",
        )
    if whole is None and not rest:
        raise DataError(f"{path} has no columns of values", "give one column for each value, or one named feature")
    if len(rest) > MOST:
        raise DataError(f"{path} has {len(rest):,} columns of values", f"a feature has {MOST:,} at most")
    for title, times in Counter(titles.values()).items():
        if times > 1:
            raise DataError(f"{path} has {times} columns called {title!r}", "give every column its own title")
    return Columns(() if whole is not None else rest, whole, own, index if name is None else name)


def _called(path: Path, header: Sequence[str], label: str) -> int:
    """The column of this title, whatever its case."""
    found = [i for i, title in enumerate(header) if title.strip().lower() == label.strip().lower()]
    if not found:
        raise DataError(f"{path} has no column {label!r}", f"there are {', '.join(map(repr, header[:SHOWN]))}")
    return found[0]


def _one(path: Path, header: Sequence[str], titles: Mapping[int, str], known: Sequence[str]) -> int | None:
    found = [i for i, title in titles.items() if title in known]
    if len(found) > 1:
        raise DataError(
            f"{path} has columns {header[found[0]]!r} and {header[found[1]]!r}, which mean the same",
            f"leave one of them out: of {', '.join(filter(None, known))} there can be one",
        )
    return found[0] if found else None
