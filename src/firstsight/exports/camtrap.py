"""Camtrap DP 1.0: a data package of deployments, media and observations, for those who work with camera traps.

A deployment is one camera in one folder of files. Every table is checked against the published fields.
"""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, TypeAlias

from firstsight._version import __version__
from firstsight.core.errors import DataError, ImageError
from firstsight.core.sightings import moment
from firstsight.exports.folders import write_image
from firstsight.exports.records import Options, Record, records
from firstsight.exports.tables import csv_of
from firstsight.store.originals import Originals
from firstsight.store.view import View

VERSION = "1.0"
Line: TypeAlias = dict[str, Any]

BASE = f"https://raw.githubusercontent.com/tdwg/camtrap-dp/{VERSION}"


@cache
def standard() -> dict[str, Any]:
    """The fields of every table, which of them are required, and what they may say."""
    found: dict[str, Any] = json.loads((files("firstsight.exports") / "camtrap_dp.json").read_text())
    return found


@dataclass
class Deployment:
    """A camera where it stood, and what it took."""

    id: str
    folder: str
    records: list[Record] = field(default_factory=list)

    def as_line(self) -> dict[str, Any]:
        placed = [each for each in self.records if each.image.latitude is not None]
        first, times = (placed or self.records)[0], sorted(_when(each) for each in self.records)
        camera = next((each.image.camera for each in self.records if each.image.camera), None)
        return {
            "deploymentID": self.id,
            "locationName": Path(self.folder).name or None,
            "latitude": first.image.latitude,
            "longitude": first.image.longitude,
            "coordinateUncertainty": first.uncertainty,
            "deploymentStart": _text(times[0]),
            "deploymentEnd": _text(times[-1]),
            "cameraID": next((each.image.serial for each in self.records if each.image.serial), None),
            "cameraModel": camera and camera.replace(" ", "-", 1),
            "timestampIssues": "true" if any(_no_zone(each) for each in self.records) else "false",
        }


def fill_package(view: View, folder: Path, options: Options) -> tuple[int, list[str], list[str]]:
    """Write a package; how many images, the files that are no longer there, and what the reader should know."""
    every = [each for each in records(view, options) if not each.forgotten]
    timed = [each for each in every if moment(each.image.taken) is not None]
    deployments = _deployments(timed)
    lines = [each.as_line() for each in deployments]
    if nowhere := [d.folder for d, line in zip(deployments, lines, strict=True) if line["latitude"] is None]:
        raise DataError(
            f"Camtrap DP needs to know where every camera stood; not known of: {', '.join(nowhere[:5])}",
            "say it with --sites FILE.csv, a table of folder,latitude,longitude",
        )
    media, observations, missing = _media_and_observations(deployments, Originals(view.pictures), folder, options)
    tables = {"deployments": lines, "media": media, "observations": observations}
    for name, rows in tables.items():
        check(name, rows)
        (folder / f"{name}.csv").write_bytes(csv_of(standard()["tables"][name]["fields"], rows))
    package = _package(view, lines, observations)
    (folder / "datapackage.json").write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    notes = ["datapackage.json: fill in the contributors and the project, which a register does not know"]
    if len(timed) < len(every):
        left = f"{len(every) - len(timed)} of {len(every)} images are left out"
        notes.append(f"{left}: Camtrap DP needs to know when they were taken")
    if any(line["timestampIssues"] == "true" for line in lines):
        notes.append("times are given as UTC where cameras do not say by which clock; timestampIssues says so")
    return len(observations), missing, notes


def check(table: str, rows: Sequence[dict[str, Any]]) -> None:
    """DataError where a table is not as the standard has it."""
    rule = standard()["tables"][table]
    for row in rows:
        if unknown := row.keys() - set(rule["fields"]):
            raise DataError(f"{table} has no field {', '.join(sorted(unknown))}")
        if empty := [name for name in rule["required"] if row.get(name) in (None, "")]:
            raise DataError(f"{table}: {', '.join(empty)} must be given")
        for name, allowed in rule.get("allowed", {}).items():
            if row.get(name) not in (None, "", *allowed):
                raise DataError(f"{table}: {name} is {row[name]!r}; allowed: {', '.join(allowed)}")


def _deployments(every: Sequence[Record]) -> list[Deployment]:
    found: dict[tuple[str, str | None], Deployment] = {}
    for each in every:
        folder = str(Path(each.image.source).parent)
        key = folder, each.image.serial or each.image.camera
        if key not in found:
            name = re.sub(r"[^\w-]+", "-", Path(folder).name).strip("-") or "deployment"
            found[key] = Deployment(f"{len(found) + 1:03d}-{name}", folder)
        found[key].records.append(each)
    return list(found.values())


def _media_and_observations(
    deployments: Sequence[Deployment], originals: Originals, folder: Path, options: Options
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[str]]:
    media: dict[str, dict[str, Any]] = {}
    observations, missing = [], []
    for deployment in deployments:
        home = folder / "media" / deployment.id
        home.mkdir(parents=True)
        for each in deployment.records:
            source = str(originals.file(each.image))
            if source not in media:  # parts of one frame share it
                try:
                    target = home / f"{each.image.image:06d}-{each.file}"
                    written = write_image(each, originals, target, options, whole=True)
                except ImageError as error:
                    missing.append(error.what)
                    continue
                media[source] = _medium(each, deployment.id, written.relative_to(folder))
            observations.append(_observation(each, deployment.id, media[source]["mediaID"]))
    return list(media.values()), observations, missing


def _medium(each: Record, deployment: str, path: Path) -> dict[str, Any]:
    return {
        "mediaID": f"m{each.image.image}",
        "deploymentID": deployment,
        "timestamp": _text(_when(each)),
        "filePath": path.as_posix(),
        "filePublic": "false",
        "fileName": each.file,
        "fileMediatype": mimetypes.guess_type(path.name)[0] or "application/octet-stream",
    }


def _observation(each: Record, deployment: str, medium: str) -> dict[str, Any]:
    image, when = each.image, _text(_when(each))
    box: list[str | None] = [f"{side:.5f}" for side in image.box]
    return {
        "observationID": f"o{image.image}",
        "deploymentID": deployment,
        "mediaID": medium,
        "eventStart": when,
        "eventEnd": when,
        "observationLevel": "media",
        "observationType": "animal",
        "scientificName": image.name if each.named else None,
        **dict(zip(("bboxX", "bboxY", "bboxWidth", "bboxHeight"), box or [None] * 4, strict=True)),
        "classificationMethod": "human" if image.by_person else "machine",
        "classifiedBy": (image.author_name or "a person") if image.by_person else f"firstsight {__version__}",
        "classificationTimestamp": image.time or None,
        "classificationProbability": None if image.confidence is None else f"{image.confidence:.4f}",
        "observationTags": f"category:{image.category}",
    }


def _package(
    view: View, deployments: Sequence[dict[str, Any]], observations: Sequence[dict[str, Any]]
) -> dict[str, Any]:
    start, end = (
        choose((line[name] for line in deployments), default="")[:10]
        for choose, name in ((min, "deploymentStart"), (max, "deploymentEnd"))
    )
    title = Path(view.name).stem
    names = sorted({each["scientificName"] for each in observations if each["scientificName"]})
    return {
        "profile": f"{BASE}/camtrap-dp-profile.json",
        "name": re.sub(r"[^a-z0-9._-]+", "-", title.lower()),
        "created": _text(datetime.now(UTC)),
        "title": title,
        "contributors": [{"title": "to be filled in", "role": "contact"}],
        "project": {
            "title": title,
            "samplingDesign": "opportunistic",
            "captureMethod": ["activityDetection"],
            "individualAnimals": False,
            "observationLevel": ["media"],
        },
        "spatial": _around(deployments),
        "temporal": {"start": start, "end": end},
        "taxonomic": [{"scientificName": name} for name in names],
        "resources": [
            {
                "name": name,
                "path": f"{name}.csv",
                "profile": "tabular-data-resource",
                "format": "csv",
                "mediatype": "text/csv",
                "encoding": "utf-8",
                "schema": f"{BASE}/{name}-table-schema.json",
            }
            for name in standard()["tables"]
        ],
    }


def _around(deployments: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """GeoJSON of the rectangle around all places."""
    north, south = (choose((line["latitude"] for line in deployments), default=0) for choose in (max, min))
    east, west = (choose((line["longitude"] for line in deployments), default=0) for choose in (max, min))
    corners = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [corners]}


def _when(each: Record) -> datetime:
    when = moment(each.image.taken)
    assert when is not None, "those without are left out"
    return when


def _text(when: datetime) -> str:
    return when.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _no_zone(each: Record) -> bool:
    return datetime.fromisoformat(str(each.image.taken)).tzinfo is None
