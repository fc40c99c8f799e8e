"""`firstsight reproduce`: every table and figure of the paper, made whole from a small benchmark."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image
from test_commands import Result, firstsight

from firstsight.data import benchmarks
from firstsight.data.benchmarks import Benchmark
from firstsight.data.folder import read_folder
from firstsight.evaluate.reproductions import REPRODUCTIONS

TABLES_ONLY = {"datasets", "settings", "dmax", "time-per-sample"}


@pytest.fixture(scope="module")
def mini(moths: Path, tiny: dict[str, Any]) -> Iterator[list[str]]:
    """A benchmark of the moths' stream, small enough for all of the paper."""
    with pytest.MonkeyPatch.context() as patch:
        of = Benchmark("mini", "Mini moths", read_folder, 8, tuple(range(4)), tuple(range(4, 8)), 24, 6)
        patch.setitem(benchmarks.BENCHMARKS, "mini", of)
        settings = [f"--{name.replace('_', '-')}={value}" for name, value in {**tiny, "epochs": 1}.items()]
        flags = ["--data", "mini", "--root", str(moths / "stream"), "--seeds", "1", "--orders", "2", "--device", "cpu"]
        yield [*flags, *settings]


@pytest.fixture(scope="module")
def made(mini: list[str], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Result]:
    """Everything, in one command: tables share their runs."""
    out = tmp_path_factory.mktemp("reproduced")
    return out, firstsight("reproduce", *REPRODUCTIONS, *mini, "--out", out, "--ledger", out / "ledger.jsonl")


def test_every_name_of_the_paper_is_listed() -> None:
    result = firstsight("reproduce", "--list")
    assert result.returncode == 0
    assert {entry.paper for entry in REPRODUCTIONS.values()} >= {f"Table {number}" for number in range(1, 16)}
    for name, entry in REPRODUCTIONS.items():
        line = next(line for line in result.stdout.splitlines() if line.split()[:1] == [name])
        assert entry.paper in line
        assert "nothing" in line or "min of a GPU" in line


@pytest.mark.parametrize("name", REPRODUCTIONS)
def test_every_name_is_made(name: str, made: tuple[Path, Result]) -> None:
    out, result = made
    assert result.returncode == 0, result.stderr
    table = (out / "reproduced" / f"{name}.md").read_text()
    with (out / "reproduced" / f"{name}.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert rows
    assert table.count("\n| ") == len(rows)
    if name in TABLES_ONLY:
        return
    drawing = ElementTree.parse(out / "reproduced" / f"{name}.svg").getroot()
    assert drawing.get("aria-label")
    with Image.open(out / "reproduced" / f"{name}.png") as image:
        assert image.width == 2 * int(drawing.get("width", 0))
        assert len(image.getcolors(1 << 20) or []) > 2  # something was drawn
