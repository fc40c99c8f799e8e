"""The settings of our own method: few, since the rest is found on the support set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from firstsight.core.settings import ImageSettings, setting


@dataclass(frozen=True, kw_only=True)
class FirstsightSettings(ImageSettings):
    """How our own method looks at the images."""

    second_look: bool = setting(
        True, "encode what stands out a second time, enlarged, at twice the time (where the backbone is a CNN)"
    )
    adapt: Literal["auto", "never", "always"] = setting(
        "auto",
        "whether the backbone learns on the support set: auto does on a GPU, as far as simulated discovery gains by it",
    )
