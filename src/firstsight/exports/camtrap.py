"""Camtrap DP 1.0.2: a data package of deployments, media and observations, for those who work with camera traps.

A deployment is one camera in one folder of files. Frames in which a detector found nothing are blank observations.
Every table is checked against the published fields before it is written.
"""

from __future__ import annotations

import json
import mimetypes
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeAlias

from firstsight._version import __version__
from firstsight.core.errors import DataError, ImageError
from firstsight.core.sightings import moment
from firstsight.exports.folders import write_image
from firstsight.exports.records import Frame, Options, Record, empty_frames, records
from firstsight.exports.standard import check_tables, published
from firstsight.exports.tables import csv_of
from firstsight.store.originals import Originals
from firstsight.store.view import View

VERSION = "1.0.2"
BASE = f"https://raw.githubusercontent.com/tdwg/camtrap-dp/{VERSION}"
RULES = published("camtrap_dp")["tables"]
BLANK = "blank"
NOTHING_SEEN = {"observationType": BLANK, "classificationMethod": "machine"}

Line: TypeAlias = dict[str, Any]


@dataclass
class Deployment:
    """A camera where it stood, and what it took."""

    id: str
    folder: str
    records: list[Record | Frame] = field(default_factory=list)

    def as_line(self) -> Line:
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
    every: list[Record | Frame] = [each for each in records(view, options) if not each.forgotten]
    sources = {each.image.source for each in every}  # a frame may have been looked at again, and not be empty then
    every += [each for each in empty_frames(view, options) if each.image.source not in sources]
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
    check_tables(RULES, tables)
    for name, rows in tables.items():
        (folder / f"{name}.csv").write_bytes(csv_of(list(RULES[name]), rows))
    package = _package(view, lines, observations)
    (folder / "datapackage.json").write_text(json.dumps(package, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    return sum(each["observationType"] != BLANK for each in observations), missing, _notes(every, timed, lines)


def _notes(every: Sequence[Record | Frame], timed: Sequence[Record | Frame], lines: Sequence[Line]) -> list[str]:
    notes = ["datapackage.json: fill in the contributors and the project, which a register does not know"]
    if blank := sum(isinstance(each, Frame) for each in timed):
        are = "frame is a blank observation" if blank == 1 else "frames are blank observations"
        notes.append(f"{blank} empty {are}")
    if len(timed) < len(every):
        left = f"{len(every) - len(timed)} of {len(every)} images are left out"
        notes.append(f"{left}: Camtrap DP needs to know when they were taken")
    if any(line["timestampIssues"] == "true" for line in lines):
        notes.append("times are given as UTC where cameras do not say by which clock; timestampIssues says so")
    return notes


def _deployments(every: Sequence[Record | Frame]) -> list[Deployment]:
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
) -> tuple[list[Line], list[Line], list[str]]:
    media: dict[str, Line] = {}
    observations, missing = [], []
    for deployment in deployments:
        home = folder / "media" / deployment.id
        home.mkdir(parents=True)
        for each in deployment.records:
            source = str(originals.file(each.image))
            if source not in media:  # parts of one frame share it
                try:
                    written = write_image(each, originals, home / _file_name(each), options, whole=True)
                except ImageError as error:
                    missing.append(error.what)
                    continue
                media[source] = _medium(each, deployment.id, written.relative_to(folder))
            observations.append(_observation(each, deployment.id, media[source]["mediaID"]))
    return list(media.values()), observations, missing


def _file_name(each: Record | Frame) -> str:
    """A name that a path in a package may have: of two dots together none could tell where it leads."""
    return re.sub(r"\.{2,}", ".", re.sub(r"[^\w. -]+", "_", f"{each.image.image:06d}-{each.file}"))


def _media_type(path: Path) -> str:
    """As IANA has it; where that is not known here, the suffix says it."""
    guessed = mimetypes.guess_type(path.name, strict=False)[0] or ""
    return guessed if guessed.startswith("image/") else f"image/{path.suffix[1:].lower() or 'jpeg'}"


def _medium(each: Record | Frame, deployment: str, path: Path) -> Line:
    return {
        "mediaID": f"m{each.image.image}",
        "deploymentID": deployment,
        "timestamp": _text(_when(each)),
        "filePath": path.as_posix(),
        "filePublic": "false",
        "fileName": each.file,
        "fileMediatype": _media_type(path),
    }


def _observation(each: Record | Frame, deployment: str, medium: str) -> Line:
    when = _text(_when(each))
    return {
        "observationID": f"o{each.image.image}",
        "deploymentID": deployment,
        "mediaID": medium,
        "eventStart": when,
        "eventEnd": when,
        "observationLevel": "media",
        "classificationTimestamp": each.image.time or None,
        **(_animal(each) if isinstance(each, Record) else NOTHING_SEEN),
    }


def _animal(each: Record) -> Line:
    image = each.image
    box: list[str | None] = [f"{side:.6g}" for side in image.box]
    return {
        "observationType": "animal",
        "scientificName": image.name if each.named else None,
        **dict(zip(("bboxX", "bboxY", "bboxWidth", "bboxHeight"), box or [None] * 4, strict=True)),
        "classificationMethod": "human" if image.by_person else "machine",
        "classifiedBy": (image.author_name or "a person") if image.by_person else f"firstsight {__version__}",
        "classificationProbability": None if image.confidence is None else f"{image.confidence:.4f}",
        "observationTags": f"category:{image.category}",
    }


def _package(view: View, deployments: Sequence[Line], observations: Sequence[Line]) -> Line:
    start, end = (
        choose((line[name] for line in deployments), default="")[:10]
        for choose, name in ((min, "deploymentStart"), (max, "deploymentEnd"))
    )
    title = Path(view.name).stem
    names = sorted({name for each in observations if (name := each.get("scientificName"))})
    return {
        "profile": f"{BASE}/camtrap-dp-profile.json",
        "name": re.sub(r"[^a-z0-9._-]+", "-", title.lower()) or "register",
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
            for name in RULES
        ],
    }


def _around(deployments: Sequence[Line]) -> Line:
    """GeoJSON of the rectangle around all places."""
    north, south = (choose((line["latitude"] for line in deployments), default=0) for choose in (max, min))
    east, west = (choose((line["longitude"] for line in deployments), default=0) for choose in (max, min))
    corners = [[west, south], [east, south], [east, north], [west, north], [west, south]]
    return {"type": "Polygon", "coordinates": [corners]}


def _when(each: Record | Frame) -> datetime:
    when = moment(each.image.taken)
    assert when is not None, "those without are left out"
    return when


def _text(when: datetime) -> str:
    return when.replace(microsecond=0).isoformat().replace("+00:00", "Z")


def _no_zone(each: Record | Frame) -> bool:
    return datetime.fromisoformat(str(each.image.taken)).tzinfo is None
