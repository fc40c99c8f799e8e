"""`firstsight reproduce`: every table and figure of the paper, made whole from a small benchmark."""

from __future__ import annotations

import csv
import re
import shutil
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
from firstsight.reproduce.figures import style
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.run_files import RunFile, read_results

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


def kept(folder: Path) -> dict[str, RunResult]:
    return {run.name: result for run, result in RunFile(folder, "mini").read().items()}


def test_every_name_of_the_paper_is_listed() -> None:
    result = firstsight("reproduce", "--list")
    assert result.returncode == 0
    assert {entry.paper for entry in REPRODUCTIONS.values()} >= {f"Table {number}" for number in range(1, 16)}
    for name, entry in REPRODUCTIONS.items():
        line = next(line for line in result.stdout.splitlines() if line.split()[:1] == [name])
        assert entry.paper in line
        assert "nothing" in line or "min of a GPU" in line


@pytest.mark.slow
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
        assert image.width == pytest.approx(2 * float(drawing.get("width", "").removesuffix("pt")), abs=2)
        assert len(image.getcolors(1 << 20) or []) > 2  # something was drawn


@pytest.mark.slow
def test_what_is_there_is_not_run_again_and_is_drawn_without_the_data(
    mini: list[str], made: tuple[Path, Result]
) -> None:
    out, _ = made
    names = ["alpha", "known-share", "centres"]
    runs = RunFile(out, "mini").path
    older = re.sub(r'"clip": 0.0, ', "", runs.read_text())  # of a time when there was no such setting
    runs.write_text(older)
    before = {name: (out / "reproduced" / f"{name}.svg").read_bytes() for name in names}
    drawn = firstsight("reproduce", *names, "--out", out, "--seeds", 1)
    assert drawn.returncode == 0, drawn.stderr
    assert drawn.stderr.count("runs: ") == 3
    again = firstsight("reproduce", *names, *mini, "--out", out, "--ledger", out / "ledger.jsonl", "--orders", 5)
    assert again.returncode == 0, again.stderr
    assert runs.read_text() == older
    assert {name: (out / "reproduced" / f"{name}.svg").read_bytes() for name in names} == before
    assert len((out / "ledger.jsonl").read_text().splitlines()) == older.count("\n")


@pytest.mark.slow
def test_runs_that_try_a_setting_are_told_apart(made: tuple[Path, Result]) -> None:
    out, _ = made
    results = kept(out)
    tried = results["mini-phe-12bit-alpha0.5-seed0"]
    assert (tried.settings["alpha"], tried.run.varied) == (0.5, (("alpha", 0.5),))
    assert "mini-phe-12bit-alpha0.1-seed0" not in results  # what PHE has anyway
    assert "mini-phe-12bit-prototypes10-seed0" in results  # these runs have 3
    with (out / "reproduced" / "k.csv").open() as file:
        random = [row for row in csv.DictReader(file) if row["order"] == "random"]
    assert [row["prototypes"] for row in random] == ["3", "1", "2", "5", "10", "15"]
    assert {result.run.varied for result in read_results(out, "mini")} == {()}  # none in a benchmark's table


@pytest.mark.slow
def test_a_closer_look_is_consistent(made: tuple[Path, Result]) -> None:
    out, _ = made
    result = kept(out)["mini-phe-12bit-inspected-seed0"]
    look = result.inspection
    assert look is not None
    assert look.codes is not None
    centres = look.codes.centres
    assert set(centres.before) == {"support", "random"}
    assert {sum(counts) for counts in (centres.after, *centres.before.values())} == {6}  # pairs of 4 centres
    assert len(look.found) == len(look.true) == result.images
    assert len(set(look.found)) == next(row for row in result.rows["nearest"] if row.name == "fixed").categories
    for share in look.codes.changed.values():
        assert 0 <= share.bits <= share.codes <= 1
    assert 1 <= look.codes.per_category["all"] <= 3  # of three images each


def test_what_cannot_be_reproduced_is_refused(mini: list[str], tmp_path: Path) -> None:
    refused(2, "called 'mian'", "reproduce", "mian")
    refused(2, "2 data sets and 1 roots", "reproduce", "main", "--data", "cub,pets", "--root", tmp_path)
    refused(2, "epochs is a setting of new runs", "reproduce", "main", "--epochs", 3, "--out", tmp_path)


@pytest.mark.slow
def test_without_matplotlib_tables_can_still_be_made(
    made: tuple[Path, Result], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(style, "find_spec", lambda name: None)
    shutil.copy(made[0] / "mini.runs.jsonl", tmp_path)
    said = refused(2, "matplotlib, which is not installed", "reproduce", "main", "--out", tmp_path)
    assert "firstsight[plots]" in said
    assert firstsight("reproduce", "main", "--no-figures", "--out", tmp_path).returncode == 0
    assert sorted(path.name for path in (tmp_path / "reproduced").iterdir()) == ["main.csv", "main.md", "main.tex"]
    assert firstsight("reproduce", "dmax", "--out", tmp_path).returncode == 0  # which has no figure


@pytest.mark.slow
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


@pytest.mark.slow
def test_runs_are_found_under_the_name_the_data_go_by(
    mini: list[str], made: tuple[Path, Result], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As those of inat:Aves, which go by inat-aves."""
    monkeypatch.setitem(benchmarks.BENCHMARKS, "small", benchmarks.BENCHMARKS["mini"])
    flags = ["small" if flag == "mini" else flag for flag in mini]
    result = firstsight("reproduce", "std", *flags, "--out", made[0])
    assert result.returncode == 0, result.stderr
    assert "runs: all there" in result.stderr
