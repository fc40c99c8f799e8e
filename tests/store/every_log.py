"""Every kind of log there is, for what must hold for all of them: a file, memory, a server."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest
from tiny_store import LOCAL, MODEL, Kind, fresh

import postgres
from firstsight.store.log import Log
from firstsight.store.memory import MemoryLog
from firstsight.store.postgres import PostgresLog
from firstsight.store.server import Address
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import header_of
from programs import needs

LOGS = (*LOCAL, pytest.param("server", marks=needs("initdb")))
NUMBERS = count()


def new_log(path: Path, kind: Kind, where: str) -> Log:
    header = header_of(fresh(kind), MODEL)
    if where == "server":
        return PostgresLog.create(new_address(), header)
    return SqliteLog.create(path, header, sync="normal") if where == "file" else MemoryLog(header)


def new_address() -> Address:
    """One of a register that is not there yet, on a server that all tests share."""
    return Address.of(postgres.shared().address(f"r{next(NUMBERS)}"))
