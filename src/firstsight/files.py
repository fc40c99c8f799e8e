"""Writing so that a crash or a full disk leaves either the old content or the new, never half of either."""

from __future__ import annotations

import hashlib
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firstsight.errors import DiskError


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file: to a temporary one beside it, synced, then renamed over it."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _beside(path)
        try:
            with temporary.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(path)
            _sync_folder(path.parent)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder to fill, which becomes `path` when the block ends well and vanishes when it does not."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _beside(path)
        temporary.mkdir()
        try:
            yield temporary
            temporary.rename(path)
            _sync_folder(path.parent)
        except BaseException:
            shutil.rmtree(temporary, ignore_errors=True)
            raise


@contextmanager
def disk_errors(path: Path) -> Iterator[None]:
    """Turn the system's refusal to write into an error for people."""
    try:
        yield
    except OSError as error:
        raise DiskError(
            f"{path} could not be written: {error.strerror or error}",
            "free some space or choose another place; nothing that was there before has changed",
        ) from None


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _beside(path: Path) -> Path:
    """A name of its own for this process, on the same disk."""
    return path.with_name(f".{path.name}.{os.getpid()}-{secrets.token_hex(4)}")


def _sync_folder(folder: Path) -> None:
    """Make a rename durable where the system can; Windows has no such call and needs none."""
    if os.name == "posix":
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
