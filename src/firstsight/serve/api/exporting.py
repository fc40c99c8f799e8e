"""What leaves a register: exports, galleries, and copies of it. Made in a temporary folder that is gone once sent."""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import IO, Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response, StreamingResponse

from firstsight.core.files import write_file
from firstsight.core.protocols import Silent
from firstsight.evidence.overview import overview
from firstsight.exports.export import export as write
from firstsight.exports.records import Options
from firstsight.exports.sites import read_sites
from firstsight.pages.found import found_page
from firstsight.serve.api.editing import edited
from firstsight.serve.api.looking import Below
from firstsight.serve.routes import Editor, Heavy, TheService, turn
from firstsight.serve.schemas import Relocate, Relocated, Verified
from firstsight.serve.service import Service
from firstsight.store import relocate as moved

router = APIRouter(prefix="/api", tags=["keeping"])

FOLDERS = ("camtrap", "folder")
TYPES = {
    "csv": "text/csv",
    "json": "application/json",
    "parquet": "application/vnd.apache.parquet",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "html": "text/html; charset=utf-8",
    "zip": "application/zip",
}
FILE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}}}
}
NAMED = 1000  # missing files named
CHUNK = 1_000_000

Format = Literal["csv", "json", "parquet", "xlsx", "dwc", "camtrap", "folder"]


@router.get("/export", operation_id="export", response_class=StreamingResponse, responses=FILE)
def export(
    request: Request,
    service: TheService,
    format: Annotated[Format, Query(description="camtrap and folder come as a zip.")] = "csv",
    round_places: Annotated[
        float | None, Query(ge=1, le=1e7, description="Give places no more precisely than so many metres.")
    ] = None,
    metadata: Annotated[bool, Query(description="Whether with time, place and camera.")] = True,
    site: Annotated[
        list[str], Query(max_length=1000, description="Where a camera stood: folder,latitude,longitude.")
    ] = [],  # noqa: B006 - FastAPI copies it
) -> Response:
    """All images with their categories: a table, Darwin Core, Camtrap DP, or a folder per category."""

    def make(folder: Path) -> tuple[Path, str, dict[str, str]]:
        sites = folder / "sites.csv"
        sites.write_text("\n".join(["folder,latitude,longitude", *site]), encoding="utf-8")
        options = Options("link", False, round_places, metadata, read_sites(sites) if site else {})
        whole = format in FOLDERS
        target = folder / ("export" if whole else f"export{_suffix(format)}")
        made = write(service.view(), target, format, options)
        if whole and made.missing:
            (target / "MISSING.txt").write_text("\n".join(made.missing[:NAMED]) + "\n", encoding="utf-8")
        said = {"X-Firstsight-Images": str(made.count), "X-Firstsight-Missing": str(len(made.missing))}
        return (_zipped(target) if whole else target), f"firstsight-{format}{_suffix(format)}", said

    return _download(request, service, make)


@router.get("/gallery", operation_id="gallery", response_class=StreamingResponse, responses=FILE)
def gallery(request: Request, service: TheService, below: Below = 0.5) -> Response:
    """One page of every category with its images, what is unsure, and what to merge or split, to be kept."""

    def make(folder: Path) -> tuple[Path, str, dict[str, str]]:
        page = found_page(overview(service.view(), below), service.model, Silent())
        write_file(folder / "gallery.html", page)
        return folder / "gallery.html", "firstsight-gallery.html", {}

    return _download(request, service, make)


@router.get("/backup", operation_id="backup", response_class=StreamingResponse, responses=FILE)
def backup(request: Request, service: TheService, by: Editor) -> Response:
    """A zip of the register as it is now, checked, with the pictures that are kept beside it."""

    def make(folder: Path) -> tuple[Path, str, dict[str, str]]:
        name = Path(service.store.name).name
        (folder / "copy").mkdir()
        service.store.back_up(folder / "copy" / name, Silent())
        return _zipped(folder / "copy"), f"{Path(name).stem}-backup.zip", {}

    return _download(request, service, make)


@router.get("/verify", operation_id="verify")
def verify(service: TheService, _: Heavy) -> Verified:
    """Check every event of the register; opening it checks only the latest."""
    service.store.verify(Silent())
    return Verified(events=service.view().last)


@router.post("/relocate", operation_id="relocate")
def relocate(body: Relocate, service: TheService, _: Heavy, by: Editor) -> Relocated:
    """Find the files of images that were moved or renamed, by their content, below a folder of this machine."""
    search = moved.find(service.view(), Path(body.folder), Silent())
    made = edited(service, [service.store.relocate(search.found, by)] if search.found else [])
    return Relocated(**made.model_dump(), found=len(search.found), missing=search.missing[:NAMED])


def _suffix(format: str) -> str:
    return ".zip" if format in FOLDERS else ".csv" if format == "dwc" else f".{format}"


def _download(
    request: Request, service: Service, make: Callable[[Path], tuple[Path, str, dict[str, str]]]
) -> StreamingResponse:
    """What `make` makes in a folder: where, what to call it, and what to say of it. The folder goes at once.

    An open file is read to its end though its name is gone, so that nothing is left behind however this ends.
    """
    register = Path(service.store.name)
    beside = register.resolve().parent if register.is_file() else Path(gettempdir())
    with turn(request), TemporaryDirectory(prefix=".firstsight-", dir=beside, ignore_cleanup_errors=True) as folder:
        path, name, said = make(Path(folder))
        length, file = path.stat().st_size, path.open("rb")
    headers = {**said, "Content-Length": str(length), "Content-Disposition": f'attachment; filename="{_plain(name)}"'}
    kind = TYPES.get(path.suffix[1:], "application/octet-stream")
    return StreamingResponse(_chunks(file), media_type=kind, headers=headers)


def _chunks(file: IO[bytes]) -> Iterator[bytes]:
    with file:
        while chunk := file.read(CHUNK):
            yield chunk


def _zipped(folder: Path) -> Path:
    """A folder as a zip beside it; the folder goes."""
    target = folder.with_suffix(".zip")
    with zipfile.ZipFile(target, "x", zipfile.ZIP_STORED, strict_timestamps=False) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not path.name.startswith("."):
                archive.write(path, path.relative_to(folder))
    shutil.rmtree(folder)
    return target


def _plain(name: str) -> str:
    return "".join(c if c.isascii() and (c.isalnum() or c in "-_.") else "_" for c in name)
