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
from pathlib import Path
from typing import Any

import torch

from firstsight._version import __version__
from firstsight.core.files import disk_errors

RECORDED = (
    "data",
    "method",
    "bits",
    "seed",
    "known_share",
    "split",
    "commit",
    "time",
    "command",
    "hardware",
    "settings",
)


def provenance(device: str) -> dict[str, Any]:
    """Commit, command, time, versions and hardware."""
    cuda = torch.cuda.is_available() and device != "cpu"
    hardware = torch.cuda.get_device_name() if cuda else f"{platform.machine()}, {torch.get_num_threads()} threads"
    return {
        "commit": _commit(),
        "command": shlex.join(["firstsight", *sys.argv[1:]]),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {"firstsight": __version__, "python": platform.python_version(), "torch": str(torch.__version__)},
        "hardware": hardware,
    }


def check_ledger(ledger: Path) -> None:
    """DiskError where lines could not be added; asked before the work they would be about."""
    with disk_errors(ledger):
        ledger.parent.mkdir(parents=True, exist_ok=True)
        ledger.open("a").close()


def record(ledger: Path, result: Mapping[str, Any]) -> None:
    """A line about a look at a query stream."""
    line = json.dumps({key: result[key] for key in RECORDED})
    with disk_errors(ledger), ledger.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


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
