"""The model card as the hub shows it: what it can be found by, how to use it, and what was measured."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from firstsight.core.errors import DataError

# as the hub calls them; any other is given by its name
LICENCES = (
    "apache-2.0", "mit", "bsd-3-clause", "cc0-1.0", "cc-by-4.0", "cc-by-sa-4.0", "cc-by-nc-4.0", "cc-by-nc-sa-4.0",
    "gpl-3.0", "agpl-3.0", "openrail", "unknown",
)  # fmt: skip
UNKNOWN = "unknown"
TAGS = ("firstsight", "on-the-fly-category-discovery", "open-world", "safetensors")
PARTS = ("all", "old", "new")


def hub_card(
    repository: str, body: str, licence: str, sees_images: bool, evaluation: Mapping[str, Any] | None = None
) -> str:
    """A card: the header the hub reads, the folder's own card, how to use the model, and figures where there are."""
    figures = [] if evaluation is None else rows(evaluation)
    measured = "" if evaluation is None else f"\n## Measured\n\n{_table(evaluation, figures)}"
    header = _header(repository, licence, sees_images, figures)
    return f"{header}\n{_plain(body)}\n{_use(repository, sees_images)}{measured}"


def licence_of(weights: str | None) -> str:
    """The licence of a model whose backbone's weights have this one, as the hub calls it.

    >>> licence_of("Apache-2.0"), licence_of("unknown, see their source"), licence_of("DINOv3 licence")
    ('apache-2.0', 'unknown', 'dinov3-licence')
    """
    if weights is None or weights.startswith(UNKNOWN):
        return UNKNOWN
    return "-".join("".join(c if c.isalnum() or c in ".-" else " " for c in weights.lower()).split()) or UNKNOWN


def rows(evaluation: Mapping[str, Any]) -> list[tuple[str, list[float | None], float]]:
    """Of every row its name, All, Old and New in per cent, and how many categories were found."""
    try:
        return [
            (str(row["name"]), [_percent(row["accuracy"][part]) for part in PARTS], float(row["categories"]))
            for row in evaluation["rows"]
        ]
    except (KeyError, TypeError, ValueError):
        raise DataError(
            "the evaluation is not as `firstsight evaluate --json` writes it", "make it anew, and name that file"
        ) from None


def _percent(share: Any) -> float | None:
    return None if share is None or not isfinite(share) else round(100 * float(share), 1)


def _header(
    repository: str, licence: str, sees_images: bool, figures: Sequence[tuple[str, list[float | None], float]]
) -> str:
    """YAML, of which JSON is a part: every value is written as JSON writes it."""
    listed = licence in LICENCES
    entries: dict[str, Any] = {"library_name": "firstsight", "license": licence if listed else "other"}
    if not listed:
        entries["license_name"] = licence
    if sees_images:
        entries["pipeline_tag"] = "image-classification"
    entries["tags"] = list(TAGS)
    if figures:
        name, shares, _ = figures[0]
        metrics = [
            {"type": "accuracy", "name": f"{part.title()}, {name}", "value": share}
            for part, share in zip(PARTS, shares, strict=True)
            if share is not None
        ]
        result = {
            "task": {"type": "image-classification", "name": "on-the-fly category discovery"},
            "dataset": {"type": "private", "name": "a labelled stream"},
            "metrics": metrics,
        }
        entries["model-index"] = [{"name": repository.partition("/")[2], "results": [result]}]
    lines = (f"{key}: {json.dumps(value, ensure_ascii=False)}" for key, value in entries.items())
    return "\n".join(["---", *lines, "---", ""])


def _plain(body: str) -> str:
    """A card without the header it may have from the hub, where it came from there."""
    if body.startswith("---\n"):
        _, _, rest = body[4:].partition("\n---\n")
        return rest.lstrip("\n")
    return body


def _use(repository: str, sees_images: bool) -> str:
    if not sees_images:
        return f"""## How to use it

```python
import firstsight

model = firstsight.load("{repository}")
answers = firstsight.Discoverer(model).discover_many(features)  # made as those it was fitted on
```
"""
    return f"""## How to use it

```sh
firstsight discover {repository} PHOTOS --register found.db
firstsight serve {repository} --register found.db
```

```python
import firstsight

with firstsight.Discoverer(firstsight.load("{repository}"), store="found.db") as discoverer:
    answer = discoverer.discover_one("photo.jpg")
```

A register notes which commit of this repository made it. `{repository}@COMMIT` names one.
"""


def _table(evaluation: Mapping[str, Any], figures: Sequence[tuple[str, list[float | None], float]]) -> str:
    """What `firstsight evaluate` printed, for reading."""
    lines = ["| order | All | Old | New | categories found |", "|---|---|---|---|---|"]
    for name, shares, found in figures:
        cells = ["-" if share is None else f"{share:.1f}" for share in shares]
        lines.append(f"| {name} | {' | '.join(cells)} | {found:.1f} |")
    said = f"{evaluation.get('images')} images of {evaluation.get('true_categories')} categories, in per cent."
    return "\n".join([said, "", *lines, ""])
