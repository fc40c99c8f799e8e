"""`firstsight reproduce`: every table and figure of the paper, made whole from a small benchmark."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from PIL import Image
from test_commands import Result, firstsight, refused

from firstsight.data import benchmarks
from firstsight.data.benchmarks import Benchmark
from firstsight.data.folder import read_folder
from firstsight.reproduce.catalogue import REPRODUCTIONS
from firstsight.reproduce.closer import column
from firstsight.reproduce.tables import read_results

TABLES_ONLY = {"datasets", "settings", "dmax", "time-per-sample"}


@pytest.fixture(scope="module")
def mini(moths: Path, tiny: dict[str, Any]) -> Iterator[list[str]]:
    """A benchmark of the moths' stream, small enough for all of the paper."""
    with pytest.MonkeyPatch.context() as patch:
        of = Benchmark("mini", "Mini moths", read_folder, 8, tuple(range(4)), tuple(range(4, 8)), 24, 6)
        patch.setitem(benchmarks.BENCHMARKS, "mini", of)
        settings = [
            f"--{name.replace('_', '-')}={value}" for name, value in {**tiny, "epochs": 1}.items() if name != "method"
        ]
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


def test_what_is_there_is_not_run_again_and_is_drawn_without_the_data(
    mini: list[str], made: tuple[Path, Result]
) -> None:
    out, _ = made
    runs = {path: path.stat().st_mtime_ns for path in out.glob("*-seed*.json")}
    names = ["alpha", "known-share", "centres"]
    older = out / "mini-smile-12bit-seed0.json"  # of a time when there was no such setting
    older.write_text(re.sub(r'"clip": 0.0,\s*', "", older.read_text()))
    runs[older] = older.stat().st_mtime_ns
    before = {name: (out / "reproduced" / f"{name}.svg").read_bytes() for name in names}
    drawn = firstsight("reproduce", *names, "--out", out, "--seeds", 1)
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stderr.count("runs: ") == 3
    again = firstsight("reproduce", *names, *mini, "--out", out, "--ledger", out / "ledger.jsonl", "--orders", 5)
    assert again.returncode == 0, again.stderr
    assert {path: path.stat().st_mtime_ns for path in out.glob("*-seed*.json")} == runs
    assert {name: (out / "reproduced" / f"{name}.svg").read_bytes() for name in names} == before
    assert len((out / "ledger.jsonl").read_text().splitlines()) == len(runs)


def test_runs_that_try_a_setting_are_told_apart(made: tuple[Path, Result]) -> None:
    out, _ = made
    tried = json.loads((out / "mini-phe-12bit-alpha0.5-seed0.json").read_text())
    assert (tried["settings"]["alpha"], tried["varied"]) == (0.5, [["alpha", 0.5]])
    assert not (out / "mini-phe-12bit-alpha0.1-seed0.json").exists()  # what PHE has anyway
    assert (out / "mini-phe-12bit-prototypes10-seed0.json").exists()  # these runs have 3
    with (out / "reproduced" / "k.csv").open() as file:
        random = [row for row in csv.DictReader(file) if row["order"] == "random"]
    assert [row["prototypes"] for row in random] == ["3", "1", "2", "5", "10", "15"]
    assert {result["varied"] for result in read_results(out, "mini")} == {()}  # none in a benchmark's table


def test_a_closer_look_is_consistent(made: tuple[Path, Result]) -> None:
    out, _ = made
    result = json.loads((out / "mini-phe-12bit-closer-seed0.json").read_text())
    look = result["look"]
    centres = look["centres"]
    assert set(centres["before"]) == {"support", "random"}
    assert {sum(counts) for counts in (centres["after"], *centres["before"].values())} == {6}  # pairs of 4 centres
    found = column(look, "found")
    assert len(found) == len(column(look, "true")) == result["images"]
    assert len(set(found)) == next(row for row in result["rows"]["nearest"] if row["name"] == "fixed")["categories"]
    for share in look["changed"].values():
        assert 0 <= share["bits"] <= share["codes"] <= 1
    assert 1 <= look["codes_per_category"]["all"] <= 3  # of three images each


def test_what_cannot_be_reproduced_is_refused(mini: list[str], tmp_path: Path) -> None:
    refused(2, "called 'mian'", "reproduce", "mian")
    refused(2, "2 data sets and 1 roots", "reproduce", "main", "--data", "cub,pets", "--root", tmp_path)
    refused(2, "epochs is a setting of new runs", "reproduce", "main", "--epochs", 3, "--out", tmp_path)


def test_without_runs_there_is_no_table_and_nothing_is_written(made: tuple[Path, Result], tmp_path: Path) -> None:
    out, _ = made
    said = refused(
        3, f"{tmp_path} has no runs to make main, alpha of", "reproduce", "dmax", "main", "alpha", "--out", tmp_path
    )
    assert "give --data and --root" in said
    assert list(tmp_path.iterdir()) == []
    refused(3, "no runs on cub to make main of", "reproduce", "main", "--data", "cub", "--out", out)
    refused(3, "has no runs to make main of", "reproduce", "main", "--out", tmp_path / "nowhere")


@pytest.mark.parametrize("name", [name for name, entry in REPRODUCTIONS.items() if not entry.methods])
def test_what_needs_no_runs_is_made_in_an_empty_folder(name: str, tmp_path: Path) -> None:
    result = firstsight("reproduce", name, "--out", tmp_path)
    assert result.returncode == 0, result.stderr
    with (tmp_path / "reproduced" / f"{name}.csv").open() as file:
        assert list(csv.DictReader(file))


def test_runs_are_found_under_the_name_the_data_go_by(
    mini: list[str], made: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of inat:Aves, which go by inat-aves."""
    monkeypatch.setitem(benchmarks.BENCHMARKS, "small", benchmarks.BENCHMARKS["mini"])
    flags = ["small" if flag == "mini" else flag for flag in mini]
    result = firstsight("reproduce", "std", *flags, "--out", made[0])
    assert result.returncode == 0, result.stderr
    assert "runs: all there" in result.stderr
