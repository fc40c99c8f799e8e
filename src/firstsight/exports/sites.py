"""Where cameras stood that do not know it themselves."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path

from firstsight.core.errors import DataError
from firstsight.core.places import Place


def read_sites(path: Path) -> dict[str, Place]:
    """A table of folders and where their cameras stood: `folder,latitude,longitude`."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path} cannot be read: {error}") from None
    sites: dict[str, Place] = {}
    for number, line in enumerate(lines, 2):
        try:
            place = float(line["latitude"]), float(line["longitude"])
            folder = line["folder"].strip().rstrip("/")
            if not folder or not (abs(place[0]) <= 90 and abs(place[1]) <= 180):
                raise ValueError
        except (KeyError, TypeError, ValueError, AttributeError):
            raise DataError(
                f"{path}: line {number} names no folder and place", "expected columns folder,latitude,longitude"
            ) from None
        sites[folder] = place
    return sites


def site_of(source: str, sites: Mapping[str, Place]) -> Place | None:
    """Where the camera stood whose file this is: by its folder, or by the longest end of that folder's path."""
    folder = str(Path(source).parent)
    found = [name for name in sites if folder == name or folder.endswith(f"/{name}")]
    return sites[max(found, key=len)] if found else None
