"""Darwin Core: an occurrence per image, as records are sent to GBIF. Terms are checked against the published list.

Only what is known is said. A category that people have no name for has no scientific name here either.
"""

from __future__ import annotations

from typing import Any

from firstsight._version import __version__
from firstsight.exports.records import Options, Record, records
from firstsight.exports.standard import check_table, published
from firstsight.exports.tables import csv_of
from firstsight.store.view import View


def fields() -> dict[str, dict[str, Any]]:
    """The terms there are, and what those with a list of words may say."""
    standard = published("darwin_core")
    words = standard["allowed"]
    return {
        term: {"type": "string", "unique": term == "occurrenceID"} | ({"enum": words[term]} if term in words else {})
        for term in standard["terms"]
    }


def as_darwin_core(view: View, options: Options) -> tuple[bytes, int, list[str]]:
    """The content of the file, how many images are in it, and what the reader should know."""
    every = [each for each in records(view, options) if not each.forgotten]
    lines = [_occurrence(each, options) for each in every]
    header = list(lines[0]) if lines else ["occurrenceID"]
    check_table("Darwin Core", fields(), lines)
    notes = []
    if unnamed := sum(not each.named for each in every):
        what = f"{unnamed} of {len(every)} images have no scientificName, which GBIF asks for"
        notes.append(f"{what}: rename their categories first")
    if untimed := sum(each.image.taken is None for each in every):
        notes.append(f"{untimed} of {len(every)} images have no eventDate: they do not say when they were taken")
    return csv_of(header, lines), len(lines), notes


def _occurrence(each: Record, options: Options) -> dict[str, Any]:
    image = each.image
    placed = image.latitude is not None
    left = "time, place and camera" if image.withheld else ""
    return {
        "occurrenceID": f"{image.content[:16]}-{image.image}",
        "catalogNumber": image.image,
        "type": "StillImage",
        "basisOfRecord": "MachineObservation",
        "occurrenceStatus": "present",
        "eventDate": image.taken,
        "decimalLatitude": image.latitude,
        "decimalLongitude": image.longitude,
        "geodeticDatum": "EPSG:4326" if placed else None,
        "coordinateUncertaintyInMeters": each.uncertainty,
        "dataGeneralizations": _generalised(options) if each.uncertainty is not None else None,
        "informationWithheld": left or None,
        "scientificName": image.name if each.named else None,
        "verbatimIdentification": image.name,
        "identifiedBy": (image.author_name or "a person") if image.by_person else f"firstsight {__version__}",
        "dateIdentified": image.time or None,
        "identificationVerificationStatus": "verified by a person" if image.by_person else "unverified",
        "identificationRemarks": None if image.confidence is None else f"{image.confidence:.0%} sure",
        "associatedMedia": each.file,
        "occurrenceRemarks": _part(image.box),
    }


def _generalised(options: Options) -> str:
    return f"place given as the middle of a square with sides of {options.round_places:g} m"


def _part(box: tuple[float, ...]) -> str | None:
    if not box:
        return None
    left, top, width, height = box
    return f"the part of the photograph from {left:.1%} left and {top:.1%} top, {width:.1%} wide and {height:.1%} high"
