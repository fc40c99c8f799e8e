"""What a machine lacks is named, not passed over in silence."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from programs import find, left_out, needs


def test_a_program_is_found_by_any_of_its_names(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "chromium-browser").symlink_to(sys.executable)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert find("chromium") == str(tmp_path / "chromium-browser")
    assert find("no-such-program") is None


def test_what_is_missing_is_the_reason() -> None:
    assert needs("no-such-program").mark.args == (True,)
    assert needs("no-such-program").mark.kwargs == {"reason": "needs no-such-program"}


def test_what_is_left_out_is_listed_by_reason() -> None:
    def report(name: str, reason: str) -> pytest.TestReport:
        where = ("test_a.py", 1, f"Skipped: {reason}")
        return pytest.TestReport(name, ("test_a.py", 1, name), {}, "skipped", where, "setup")

    skipped = [
        report("test_a.py::two", "needs b"),
        report("test_a.py::one", "needs a"),
        report("test_a.py::3", "needs b"),
    ]
    assert left_out(skipped) == ["needs a:", "  test_a.py::one", "needs b:", "  test_a.py::two", "  test_a.py::3"]
