"""Every error a user can cause, worded in one place: what was wrong, where, and what to do about it.

Each class carries the exit code of the command line; the texts are made where the fault is seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any


class FirstsightError(Exception):
    """The root: catch this and you catch everything Firstsight raises on purpose."""

    exit_code = 1

    def __init__(self, what: str, remedy: str = "") -> None:
        super().__init__(f"{what}\n{remedy}" if remedy else what)
        self.what = what
        self.remedy = remedy

    def __reduce__(self) -> Any:  # errors cross from one process to another
        return type(self), (self.what, self.remedy)


class SettingsError(FirstsightError):
    """A setting is unknown, of the wrong type, out of range, or contradicts another."""

    exit_code = 2


class MissingPackage(SettingsError):
    """What was asked for needs a package that is not installed."""


class DataError(FirstsightError):
    """The folder of images cannot serve: missing, empty, one category, unreadable files."""

    exit_code = 3


class ImageError(DataError):
    """One image cannot be used; carries which, so that a stream can report it and go on."""

    def __init__(self, source: str | Path, reason: str, remedy: str = "") -> None:
        super().__init__(f"{source}: {reason}", remedy)
        self.source = str(source)
        self.reason = reason

    def __reduce__(self) -> tuple[type[ImageError], tuple[str, str, str]]:
        return type(self), (self.source, self.reason, self.remedy)


class BadImages(DataError):
    """Several images cannot be used; all of them are named at once."""

    def __init__(self, errors: Sequence[ImageError]) -> None:
        lines = "\n".join(f"  {error.source}: {error.reason}" for error in errors)
        plural = "image" if len(errors) == 1 else "images"
        super().__init__(f"{len(errors)} {plural} cannot be used:\n{lines}", "repair or remove them, then run again")
        self.errors = list(errors)

    def __reduce__(self) -> tuple[type[BadImages], tuple[list[ImageError]]]:
        return type(self), (self.errors,)


class ModelError(FirstsightError):
    """A model folder or a weights file is missing, altered, of another architecture or of a newer format."""

    exit_code = 4


class DeviceError(FirstsightError):
    """The device asked for is not there."""

    exit_code = 5


class DiskError(FirstsightError):
    """Something could not be written; whatever was there before is still there."""

    exit_code = 6


class TrainingError(FirstsightError):
    """Training broke down: a loss is no longer a number."""

    exit_code = 7


class StoreError(FirstsightError):
    """Something is wrong with a register's log, or with what was asked of it; its kinds say what.

    `hint` names a remedy that only whoever shows the error can word, a command line or a page; `facts` go into it.
    """

    exit_code = 8

    def __init__(self, what: str, remedy: str = "", hint: str = "", **facts: Any) -> None:
        super().__init__(what, remedy)
        self.hint = hint
        self.facts = facts

    def __reduce__(self) -> Any:
        return _again, (type(self), self.what, self.remedy, self.hint, self.facts)


class NotFound(StoreError):
    """There is no such register, category, image or event."""


class Conflict(StoreError):
    """As things are, this cannot be done: a name is taken, later events stand on it, it is so already."""


class BadRequest(StoreError):
    """What was asked for cannot be, however things are: no image named, a name that cannot be shown."""


class Locked(StoreError):
    """Someone else writes it."""


class Unreachable(StoreError):
    """The server that has it does not answer."""


class ReadOnly(StoreError):
    """It was opened for reading, or is closed."""


class Damaged(StoreError):
    """It is not as it was written. What is damaged is never used."""


class Incompatible(StoreError):
    """It is of another model, of another format, or of a kind this release or this machine does not have."""


def _again(kind: type[StoreError], what: str, remedy: str, hint: str, facts: dict[str, Any]) -> StoreError:
    return kind(what, remedy, hint, **facts)


class ProcessDied(FirstsightError):
    """A process of ours was killed, by someone or by a system short of memory; what it was at is missing."""

    exit_code = 9
