"""The tiny settings for any method: those of them that mean something to it."""

from __future__ import annotations

from typing import Any

from firstsight.methods.catalogue import method


def tiny_for(name: str, tiny: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """What `fit` takes to train a method in a second; changes are refused where they mean nothing to it."""
    return {key: value for key, value in tiny.items() if method(name).has(key)} | {"method": name} | changes
