"""Writing so that a crash or a full disk leaves either the old content or the new, never half of either.

And reading what others wrote.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from firstsight.core.errors import DiskError

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


def write_file(path: Path, content: bytes) -> None:
    """Write a whole file: to a temporary one beside it, synced, then renamed over it."""
    with new_file(path) as temporary, temporary.open("xb") as file:
        file.write(content)


@contextmanager
def new_file(path: Path) -> Iterator[Path]:
    """A temporary name to write a file under, which becomes `path` when the block ends well."""
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = _beside(path)
        try:
            yield temporary
            sync_file(temporary)
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


class FileLock:
    """A file only one process holds; the system lets go of it when that process ends, however it does.

    Where the system has no such locks (Windows) nothing is held.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file: IO[str] | None = None
        self._holder = 0

    def acquire(self, wait: float = 0.0) -> bool:
        """Take it, waiting up to so many seconds; whether it was had."""
        until = time.monotonic() + wait
        while not self._try():
            if time.monotonic() >= until:
                return False
            time.sleep(0.05)
        return True

    def release(self) -> None:
        if self._file is not None:
            if self._holder == os.getpid() and self._is_current(self._file):  # a forked child leaves it to its parent
                self.path.unlink(missing_ok=True)
            self._file.close()
            self._file = None

    def say(self, address: str) -> None:
        """Tell those who would like to have it where to find whoever does."""
        self._write(f"process {os.getpid()}\n{address}\n")

    def holder(self) -> tuple[str, str]:
        """Who has it, and where they can be found, as far as they said."""
        try:
            process, _, address = self.path.read_text().strip().partition("\n")
        except (OSError, UnicodeDecodeError):
            return "", ""
        return process, address

    def _try(self) -> bool:
        with disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            file = self.path.open("a+")
        if fcntl is not None:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                file.close()
                return False
        if not self._is_current(file):  # it was removed by the last holder between our opening and our taking it
            file.close()
            return False
        self._file, self._holder = file, os.getpid()
        self._write(f"process {os.getpid()}\n")
        return True

    def _write(self, text: str) -> None:
        assert self._file is not None, "only who holds it says so"
        with disk_errors(self.path):
            self._file.truncate(0)
            self._file.write(text)
            self._file.flush()

    def _is_current(self, file: IO[str]) -> bool:
        try:
            return os.path.samestat(os.fstat(file.fileno()), self.path.stat())
        except FileNotFoundError:
            return False


def read_json(content: bytes | str) -> Any:
    """What JSON says; ValueError where it is none, also where it is nested deeper than anything of ours."""
    try:
        return json.loads(content)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def digest(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def sync_file(path: Path) -> None:
    """Make what a file holds durable."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


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
