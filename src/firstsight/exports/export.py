"""`export`: what a register holds, in the format that is named or that the name of the file asks for."""

from __future__ import annotations

import shutil
from dataclasses import dataclass, field
from pathlib import Path

from firstsight.core.errors import DataError, SettingsError
from firstsight.core.files import new_folder, write_file
from firstsight.exports.camtrap import fill_package
from firstsight.exports.darwin_core import as_darwin_core
from firstsight.exports.folders import check_how, fill_folder
from firstsight.exports.records import Options
from firstsight.exports.tables import TABLES
from firstsight.store.view import View

FORMATS = (*TABLES, "dwc", "camtrap", "folder")
OTHERS = (".tsv", ".xls", ".jsonl", ".txt", ".html", ".xml", ".yaml", ".yml", ".zip", ".ods")
MARK = ".firstsight-export"  # in a folder of ours: no other is ever overwritten


@dataclass(frozen=True)
class Exported:
    """How many images were written, which files are no longer there, and what the reader should know."""

    count: int
    missing: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def export(view: View, path: Path, format: str | None = None, options: Options | None = None) -> Exported:
    """Write a file or a folder; what is there already is refused, or with `overwrite` replaced when all is written."""
    options = options or Options()
    format = format_of(path) if format is None else format
    if format not in FORMATS:
        raise SettingsError(f"format is {format!r}; allowed: {', '.join(FORMATS)}")
    check_how(options)
    _check_target(path, format, options.overwrite)
    if format in TABLES:
        content, count = TABLES[format](view, options)
        write_file(path, content)
        return Exported(count)
    if format == "dwc":
        content, count, notes = as_darwin_core(view, options)
        write_file(path, content)
        return Exported(count, notes=notes)
    whole = path.with_name(f"{path.name}.new") if path.exists() else path
    with new_folder(whole) as folder:
        (folder / MARK).touch()
        if format == "camtrap":
            made = Exported(*fill_package(view, folder, options))
        else:
            made = Exported(*fill_folder(view, folder, options))
    if whole != path:
        shutil.rmtree(path)
        whole.rename(path)
    return made


def format_of(path: Path) -> str:
    """The format that a name asks for: a folder, unless it has a suffix of something else."""
    suffix = path.suffix.lower()
    if suffix in OTHERS:
        raise SettingsError(f"{suffix} is not written", f"allowed: --format {', '.join(FORMATS)}")
    return suffix[1:] if suffix[1:] in TABLES else "folder"


def _check_target(path: Path, format: str, overwrite: bool) -> None:
    if not path.exists() and not path.is_symlink():
        return
    if not overwrite:
        raise DataError(f"{path} exists already", "name a new file or folder, or replace it with --overwrite")
    into_folder = format in ("camtrap", "folder")
    if path.is_dir() != into_folder:
        raise DataError(f"{path} is a {'folder' if path.is_dir() else 'file'}", "name another")
    if into_folder and (path.is_symlink() or not (path / MARK).exists()):
        raise DataError(f"{path} is no folder that an export made, and is not overwritten", "name another")
    if into_folder and path.with_name(f"{path.name}.new").exists():
        raise DataError(f"{path}.new is in the way", "remove it first")
