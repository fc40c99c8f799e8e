"""What it takes to know where a figure came from, and the ledger of every look at a query stream."""

from __future__ import annotations

import json
import os
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from firstsight._version import __version__
from firstsight.core.files import disk_errors
from firstsight.reproduce.runs import Run


@dataclass(frozen=True)
class MadeBy:
    """Commit, command, time, versions and hardware: without them a figure cannot be had again."""

    commit: str | None
    command: str
    time: str
    versions: dict[str, str]
    hardware: str


@dataclass(frozen=True)
class Look:
    """A line of the ledger: one look at a query stream."""

    data: str
    method: str
    bits: int | None
    seed: int
    known_share: int
    split: str
    commit: str | None
    time: str
    command: str
    hardware: str
    settings: Mapping[str, Any]

    @classmethod
    def of(cls, run: Run, split: str, made_by: MadeBy, settings: Mapping[str, Any]) -> Look:
        key = {name: getattr(run, name) for name in ("data", "method", "bits", "seed", "known_share")}
        maker = {name: getattr(made_by, name) for name in ("commit", "time", "command", "hardware")}
        return cls(**key, split=split, **maker, settings=settings)


def provenance(device: str) -> MadeBy:
    """Who would make a figure now, with this command."""
    import torch  # results are read, and tables made of them, without it

    cuda = torch.cuda.is_available() and device != "cpu"
    return MadeBy(
        commit=_commit(),
        command=shlex.join(["firstsight", *sys.argv[1:]]),
        time=now(),
        versions={"firstsight": __version__, "python": platform.python_version(), "torch": str(torch.__version__)},
        hardware=torch.cuda.get_device_name() if cuda else f"{platform.machine()}, {torch.get_num_threads()} threads",
    )


def now() -> str:
    """The time, as it is written everywhere."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())


def check_ledger(ledger: Path) -> None:
    """DiskError where lines could not be added; asked before the work they would be about."""
    with disk_errors(ledger):
        ledger.parent.mkdir(parents=True, exist_ok=True)
        ledger.open("a").close()


def record(ledger: Path, look: Look) -> None:
    """Add a line about a look at a query stream."""
    with disk_errors(ledger), ledger.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(look)) + "\n")


def _commit() -> str | None:
    """The commit this code is at, with a plus where it was changed; outside its own checkout, what GIT_COMMIT says."""
    here = Path(__file__)
    ours = _git(here, "ls-files", "--error-unmatch", str(here))  # not of a project this is merely installed in
    described = ours and _git(here, "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude=*")
    return described or os.environ.get("GIT_COMMIT")


def _git(here: Path, *arguments: str) -> str | None:
    try:
        found = subprocess.run(["git", "-C", str(here.parent), *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip() if found.returncode == 0 else None
