"""What a register holds, for other programs and other people: CSV, JSON, or a folder per category."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shutil
from collections.abc import Callable
from dataclasses import asdict, fields
from itertools import chain
from itertools import count as numbers
from pathlib import Path

from firstsight.core.errors import DataError, SettingsError
from firstsight.core.files import new_folder, write_file
from firstsight.core.spreadsheets import cell
from firstsight.store.view import View
from firstsight.store.views import Member, images, summaries

OTHER_FORMATS = (".tsv", ".xls", ".xlsx", ".jsonl", ".parquet", ".txt", ".html", ".xml", ".yaml", ".yml", ".zip")
COPY: dict[str, Callable[[Path, Path], object]] = {
    "copy": shutil.copyfile,
    "link": lambda source, target: target.symlink_to(source.resolve()),
    "hardlink": os.link,
}


def export(view: View, path: Path, how: str = "copy") -> tuple[int, list[str]]:
    """Write CSV or JSON by the ending of the name, else a folder; how many images, and which files are gone."""
    if path.exists():
        raise DataError(f"{path} exists already", "name a new file or folder")
    match path.suffix.lower():
        case ".csv":
            return export_csv(view, path), []
        case ".json":
            return export_json(view, path), []
        case suffix if suffix in OTHER_FORMATS:
            raise SettingsError(f"{suffix} is not written", "name a .csv or .json file, or a new folder")
        case _:
            return export_folder(view, path, how)


def export_csv(view: View, path: Path) -> int:
    """One line per image; how many."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, [field.name for field in fields(Member)])
    writer.writeheader()
    lines = [{name: cell(value) for name, value in asdict(image).items()} for image in images(view)]
    writer.writerows(lines)
    write_file(path, text.getvalue().encode())
    return len(lines)


def export_json(view: View, path: Path) -> int:
    """Every category with its images; how many images."""
    members: dict[str, list[Member]] = {}
    for image in images(view):
        members.setdefault(image.category, []).append(image)
    content = [
        {**asdict(summary), "images": [asdict(image) for image in members.get(summary.id, [])]}
        for summary in summaries(view)
    ]
    write_file(path, (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode())
    return sum(map(len, members.values()))


def export_folder(view: View, path: Path, how: str = "copy") -> tuple[int, list[str]]:
    """A new folder with one folder per category; how many images, and the sources that are no longer there.

    A file keeps its name, after the image's number: two folders may each have had a 1.jpg.
    """
    missing = []
    count = 0
    folders = _folder_names(view)
    with new_folder(path) as folder:
        for image in images(view):
            source = Path(image.source)
            if not source.is_file():
                missing.append(image.source)
                continue
            home = folder / folders[image.category]
            home.mkdir(exist_ok=True)
            COPY[how](source, home / f"{image.image:06d}-{source.name}")
            count += 1
    return count, missing


def _folder_names(view: View) -> dict[str, str]:
    """A folder name for every category: its own name where the system can write it, else that and its id."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for summary in summaries(view):
        name = re.sub(r'[\x00-\x1f/\\:*?"<>|]', "_", summary.name).strip(". ") or "_"
        candidates = chain([name], (f"{name} ({i})" for i in numbers(2)))
        unique = next(each for each in candidates if each.casefold() not in taken)
        taken.add(unique.casefold())
        names[summary.id] = unique
    return names
