"""Features that somebody has already, each with the category it is of: what labelled images are before encoding."""

from __future__ import annotations

from dataclasses import dataclass

from firstsight.core.protocols import Features


@dataclass(frozen=True)
class LabelledFeatures:
    """One feature for each label; labels are positions in `categories`."""

    features: Features  # (N, D)
    labels: tuple[int, ...]
    categories: tuple[str, ...]
