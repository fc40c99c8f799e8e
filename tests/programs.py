"""Programs that some tests need and a machine may not have. What is left out for want of one is named after the run."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

import pytest

OTHER_NAMES = {"chromium": ("chromium-browser", "google-chrome", "google-chrome-stable")}
POSTGRES = Path("/usr/lib/postgresql")  # where Debian has a folder for every version, none of them on the path


def find(program: str) -> str | None:
    """Where a program is, by any of its names; None where there is none."""
    folders = [os.environ.get("PATH", ""), *map(str, sorted(POSTGRES.glob("*/bin"), reverse=True))]
    names = (program, *OTHER_NAMES.get(program, ()))
    return next((found for name in names if (found := shutil.which(name, path=os.pathsep.join(folders)))), None)


def needs(program: str) -> pytest.MarkDecorator:
    """Leave a test out where this program is missing: `@needs("chromium")`."""
    return pytest.mark.skipif(find(program) is None, reason=f"needs {program}")


def left_out(skipped: Iterable[pytest.TestReport | pytest.CollectReport]) -> list[str]:
    """What a run did not test, by reason: lines for its end."""
    reasons: dict[str, list[str]] = {}
    for report in skipped:
        said = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
        reasons.setdefault(said.removeprefix("Skipped: "), []).append(report.nodeid)
    return [line for reason, names in sorted(reasons.items()) for line in [f"{reason}:", *(f"  {n}" for n in names)]]
