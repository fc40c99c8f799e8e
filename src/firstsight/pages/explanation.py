"""Evidence for people to look at: a page of its own, of one image or two side by side on one scale, or its parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from firstsight.evidence.evidence import Evidence
from firstsight.pages.pictures import jpeg, lit
from firstsight.pages.render import render


def as_html(cases: Sequence[Evidence]) -> bytes:
    """A self-contained page."""
    return render(
        "explanation.html.j2",
        cases=[(each, None if each.pixels is None else jpeg(each.pixels), _looked(each)) for each in cases],
        **_scale(cases),
    )


def case_of(each: Evidence) -> dict[str, Any]:
    """What the parts of `evidence.html.j2` show of one image."""
    seen = None if each.pixels is None else jpeg(each.pixels)
    return {"each": each, "seen": seen, "looked": _looked(each), **_scale([each])}


def _scale(cases: Sequence[Evidence]) -> dict[str, float]:
    return {
        "most_similar": _largest(one.similarity for each in cases for one in each.similar),
        "largest_sum": _largest(one.similarity for each in cases for one in each.sums),
    }


def _looked(each: Evidence) -> bytes | None:
    if each.pixels is None or each.looked is None:
        return None
    return jpeg(lit(each.pixels, each.looked, each.closer))


def _largest(values: Iterable[float]) -> float:
    """What a full bar stands for, never nothing."""
    return max(values, default=0.0) or 1.0
