"""One voice for the processes that torchrun started: each runs the same command, and a person wants to read it once."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from firstsight.core.errors import SettingsError


@contextlib.contextmanager
def one_voice() -> Iterator[None]:
    """What a command says is said by the first process; the others are silent but for an error of their own."""
    if "TORCHELASTIC_RUN_ID" not in os.environ or os.environ.get("RANK", "0") == "0":
        yield
        return
    with (
        Path(os.devnull).open("w") as nowhere,
        contextlib.redirect_stdout(nowhere),
        contextlib.redirect_stderr(nowhere),
    ):
        yield


def check_command(name: str | None) -> None:
    """SettingsError where torchrun was told to start a command that does its work once."""
    if "TORCHELASTIC_RUN_ID" in os.environ and name not in ("fit", None):
        raise SettingsError(f"torchrun starts processes that train together; {name} is one process", "use it for fit")


def speaks() -> bool:
    """Whether an error is this process's to tell; where one process failed, those that end with it have nothing to."""
    if "TORCHELASTIC_RUN_ID" not in os.environ:
        return True
    from firstsight.train.processes import speaks_first

    return speaks_first()
