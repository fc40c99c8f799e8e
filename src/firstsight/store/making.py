"""Making a database: whole, under another name first, and never from what another one left behind."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from firstsight.core.errors import Conflict, DiskError
from firstsight.core.files import new_file
from firstsight.store.connection import beside, locked


@contextmanager
def vacant(path: Path) -> Iterator[None]:
    """A name nobody has, and nobody else takes while the block runs."""
    _check_unused(path)  # before the lock: a register that is there needs it for itself
    lock = locked(path, wait=0.0)
    try:
        check_vacant(path)
        yield
    finally:
        lock.release()


def check_vacant(path: Path) -> None:
    """Refuse a name that is taken, or under which a killed writer left events. Whoever asks holds its lock.

    SQLite takes a log of writes for that of whatever file has the name. An empty one is left by readers, and removed.
    """
    _check_unused(path)
    wal = beside(path, "-wal")
    if _holds_events(wal):
        raise Conflict(
            f"{path} is gone, but {wal.name} of the register it was is left, and may hold its last events",
            "move both back together, or the -wal away",
        )
    _remove_companions(path)


@contextmanager
def new_database(path: Path) -> Iterator[Path]:
    """A temporary name to make a database under, which becomes `path` when the block ends well and it is whole."""
    with new_file(path) as temporary:
        yield temporary
        if _holds_events(beside(temporary, "-wal")):  # what could not go into the file itself as it was closed
            _remove_companions(temporary)
            raise DiskError(f"{path} could not be written whole", "free some space, then try again")


def _check_unused(path: Path) -> None:
    if path.exists():
        raise Conflict(f"{path} exists already", "open it, or name a new file")


def _remove_companions(path: Path) -> None:
    for ending in ("-wal", "-shm"):
        beside(path, ending).unlink(missing_ok=True)


def _holds_events(wal: Path) -> bool:
    return wal.exists() and wal.stat().st_size > 0
