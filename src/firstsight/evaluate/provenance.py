"""What it takes to know where a figure came from, and the ledger of every look at a query stream."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch

from firstsight._version import __version__

RECORDED = ("data", "method", "bits", "seed", "known_share", "commit", "time", "command", "hardware", "settings")


def provenance(device: str) -> dict[str, Any]:
    """Commit, command, time, versions and hardware."""
    cuda = torch.cuda.is_available() and device != "cpu"
    hardware = torch.cuda.get_device_name() if cuda else f"{platform.machine()}, {torch.get_num_threads()} threads"
    return {
        "commit": _commit(),
        "command": " ".join(["firstsight", *sys.argv[1:]]),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {"firstsight": __version__, "python": platform.python_version(), "torch": str(torch.__version__)},
        "hardware": hardware,
    }


def record(ledger: Path, result: Mapping[str, Any]) -> None:
    """A line about a look at a query stream."""
    line = json.dumps({key: result[key] for key in RECORDED})
    ledger.parent.mkdir(parents=True, exist_ok=True)
    with ledger.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _commit() -> str | None:
    """The commit this code is at, with a plus where it was changed; outside a checkout, what GIT_COMMIT says."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=10,
        )
        if found.returncode == 0 and found.stdout.strip():
            return found.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return os.environ.get("GIT_COMMIT")
