"""The settings of our own method: few, since nothing of the backbone is trained and the rest is found."""

from __future__ import annotations

from dataclasses import dataclass

from firstsight.core.settings import ImageSettings, setting


@dataclass(frozen=True, kw_only=True)
class FirstsightSettings(ImageSettings):
    """How our own method looks at the images."""

    second_look: bool = setting(
        True, "encode what stands out a second time, enlarged, at twice the time (where the backbone is a CNN)"
    )
