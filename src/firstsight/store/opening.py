"""A log by what people call it: a file's name, or the address of a server."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstsight.core.errors import SettingsError
from firstsight.store.connection import Sync
from firstsight.store.log import Log
from firstsight.store.sqlite import SqliteLog

if TYPE_CHECKING:
    from firstsight.store.postgres import PostgresLog

SCHEMES = ("postgresql://", "postgres://")


def on_server(where: Path | str) -> bool:
    """Whether a register is named by the address of a server, and not by a file.

    >>> on_server("postgresql://ann@host/field?register=moths"), on_server("moths.db")
    (True, False)
    """
    return isinstance(where, str) and where.startswith(SCHEMES)


def is_there(where: Path | str) -> bool:
    """Whether there is such a register, or something that has its name."""
    if not on_server(where):
        return Path(where).exists()
    _, address = _server(str(where))
    from firstsight.store.server import connect, errors, exists

    with errors(address), connect(address) as db:
        return exists(db, address)


def open_log(where: Path | str, write: bool = True, sync: Sync = "full", wait: float = 0.0) -> Log:
    """One that is there."""
    if not on_server(where):
        return SqliteLog.open(Path(where), write, sync, wait)
    kind, address = _server(str(where))
    return kind.open(address, write, wait)


def create_log(
    where: Path | str, header: Mapping[str, Any], sync: Sync = "full", wait: float = 0.0, or_open: bool = False
) -> Log:
    """A new one; with `or_open`, that of whoever made one first, if someone did."""
    if not on_server(where):
        return SqliteLog.create(Path(where), header, sync, wait, or_open)
    kind, address = _server(str(where))
    return kind.create(address, header, wait, or_open)


def make_log(where: str, header: Mapping[str, Any]) -> None:
    """A new one on a server, held by nobody; one that is there stays as it is."""
    kind, address = _server(where)
    kind.make(address, header, or_open=True)


def _server(where: str) -> tuple[type[PostgresLog], Any]:
    try:
        from firstsight.store.postgres import PostgresLog
        from firstsight.store.server import Address
    except ModuleNotFoundError as error:
        raise SettingsError(
            f"a register on a server needs {error.name}, which is not installed", "pip install 'firstsight[postgres]'"
        ) from None
    return PostgresLog, Address.of(where)
