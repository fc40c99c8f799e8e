"""What commands that write a page or a file of data have in common."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from firstsight.core.errors import DataError, SettingsError


def check_new(out: Path | None, formats: Sequence[str]) -> None:
    """Refuse a file of a format there is none of, and one that is there."""
    if out is None:
        return
    if out.suffix.lower() not in formats:
        raise SettingsError(f"{out}: what should it be? allowed: {', '.join(formats)}", "name the file so")
    if out.exists():
        raise DataError(f"{out} exists already", "name a new file, or remove it first")
