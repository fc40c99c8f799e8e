"""One voice for the processes that torchrun started: each runs the same command, and a person wants to read it once."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path

from firstsight.core.errors import SettingsError
from firstsight.core.torchrun import beside_the_first, started_by_torchrun


@contextmanager
def one_voice() -> Iterator[None]:
    """What a command says is said by the first process; the others are silent but for an error of their own."""
    if not beside_the_first():
        yield
        return
    with Path(os.devnull).open("w") as nowhere, redirect_stdout(nowhere), redirect_stderr(nowhere):
        yield


def check_command(name: str | None) -> None:
    """SettingsError where torchrun was told to start a command that does its work once."""
    if started_by_torchrun() and name not in ("fit", None):
        raise SettingsError(f"torchrun starts processes that train together; {name} is one process", "use it for fit")


def speaks() -> bool:
    """Whether an error is this process's to tell; where one process failed, those that end with it have nothing to."""
    if not started_by_torchrun():
        return True
    from firstsight.train.processes import speaks_first

    return speaks_first()
