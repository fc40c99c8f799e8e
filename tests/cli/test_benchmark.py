"""`firstsight benchmark`: a small benchmark run whole, resumed, and put into tables."""

from __future__ import annotations

import csv
import json
import runpy
from pathlib import Path
from typing import Any

import pytest
from test_commands import firstsight, refused

from firstsight.core.settings import ImageSettings, specs_of
from firstsight.data import benchmarks
from firstsight.data.benchmarks import Benchmark
from firstsight.data.folder import read_folder
from firstsight.data.synthetic import species, write_folder
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.run_files import RunFile


@pytest.fixture
def flags(moths: Path, tiny: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A benchmark of the moths' stream: 8 species of 3 images, half of them known."""
    mini = Benchmark("mini", "Mini moths", read_folder, 8, tuple(range(4)), tuple(range(4, 8)), 24, 6)
    monkeypatch.setitem(benchmarks.BENCHMARKS, "mini", mini)
    settings = [
        f"--{name.replace('_', '-')}={value}" for name, value in {**tiny, "epochs": 1}.items() if name != "method"
    ]
    return ["--data", "mini", "--root", str(moths / "stream"), "--device", "cpu", *settings]


@pytest.fixture
def plain_flags(flags: list[str]) -> list[str]:
    """The same for methods without codes, to which what is of codes means nothing."""
    return [flag for flag in flags if not flag.startswith(("--hash-hidden", "--feature-dim"))]


def _without_training(flags: list[str]) -> list[str]:
    """Without what means nothing to a method that trains nothing."""
    meant = {f"--{name.replace('_', '-')}" for name in specs_of(ImageSettings)}
    meant |= {"--data", "--root", "--device"}
    return [flag for i, flag in enumerate(flags) if flag.split("=")[0] in meant or (i and flags[i - 1] in meant)]


def kept(folder: Path) -> dict[str, RunResult]:
    """The results in a folder by the names of their runs."""
    return {run.name: result for run, result in RunFile(folder, "mini").read().items()}


def test_a_benchmark_runs_resumes_and_writes_its_tables(flags: list[str], tmp_path: Path) -> None:
    out, ledger = tmp_path / "out", tmp_path / "ledger.jsonl"
    command = ["benchmark", *flags, "--out", out, "--methods", "phe,phe-paper", "--seeds", 2, "--ledger", ledger]
    command += ["--orders", 3]
    result = firstsight(*command)
    assert result.returncode == 0, result.stderr
    results = kept(out)
    expected = [f"mini-{m}-seed{s}" for m in ("phe-paper-12bit", "phe-12bit", "closed-set-ce") for s in (0, 1)]
    assert sorted(results) == sorted([*expected, "mini-offline-kmeans-seed0"])
    run = results["mini-phe-12bit-seed1"]
    assert set(run.rows) == {"nearest", "reference"}
    names = ["random x 3", "fixed", "bursty x 3", "closed-set", "offline k-means"]
    assert [row.name for row in run.rows["nearest"]] == names
    assert len(run.headline.course) == 20
    assert run.settings["seed"] == 1
    assert run.settings["expected_categories"] is None  # nothing leaks
    assert results["mini-phe-paper-12bit-seed0"].settings["expected_categories"] == 8
    assert run.made_by.time <= results["mini-closed-set-ce-seed1"].made_by.time
    assert run.made_of.orders == 3
    assert len(ledger.read_text().splitlines()) == 7
    table = (out / "mini.md").read_text()
    assert "| phe, closed-set | any |" in table
    assert table.count("| phe |") == 3
    assert "| closed-set-ce | any |" in table
    assert "| offline-kmeans | any |" in table
    with (out / "mini.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == table.count("\n") - 2 == (out / "mini.txt").read_text().count("\n") - 1
    assert float(rows[0]["separate_all"]) >= float(rows[0]["all"]) >= float(rows[0]["largest_all"])
    assert rows[-1]["by_name"] == ""  # k-means names nothing

    lines = RunFile(out, "mini").path.read_text().splitlines(keepends=True)
    gone = next(line for line in lines if '"seed": 0' in line and '"method": "phe"' in line)
    rest = "".join(line for line in lines if line != gone)
    RunFile(out, "mini").path.write_text(rest)
    again = firstsight(*command)
    assert again.returncode == 0, again.stderr
    assert (out / "mini.md").read_text() == table
    content = RunFile(out, "mini").path.read_text()
    assert content.startswith(rest)  # what was there is not touched
    assert content.count("\n") == 7
    assert len(ledger.read_text().splitlines()) == 8


@pytest.mark.slow
def test_several_jobs_give_what_one_gives(flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "1")  # one job has the cores of all, and more threads round otherwise
    command = ["benchmark", *flags, "--methods", "phe", "--seeds", 1, "--orders", 2]
    assert firstsight(*command, "--out", tmp_path / "one").returncode == 0
    several = firstsight(*command, "--out", tmp_path / "two", "--jobs", 2)
    assert several.returncode == 0, several.stderr
    assert (tmp_path / "two" / "mini.csv").read_text() == (tmp_path / "one" / "mini.csv").read_text()
    assert not list((tmp_path / "two").glob(".pixels*"))


def test_results_of_other_settings_are_not_mixed_in(flags: list[str], tmp_path: Path) -> None:
    assert firstsight("benchmark", *flags, "--out", tmp_path, "--seeds", 1).returncode == 0
    refused(2, "made with alpha 0.1", "benchmark", *flags, "--out", tmp_path, "--seeds", 1, "--alpha", 0.5)
    refused(2, "made with orders 10", "benchmark", *flags, "--out", tmp_path, "--seeds", 1, "--orders", 3)


def test_results_of_another_split_are_not_passed_off(plain_flags: list[str], tmp_path: Path) -> None:
    command = ["benchmark", *plain_flags, "--out", tmp_path, "--methods", "ncm", "--seeds", 1, "--orders", 2]
    assert firstsight(*command).returncode == 0
    saved = (tmp_path / "mini.split.json").read_text()
    refused(2, "made with split", *command, "--stratified")
    assert (tmp_path / "mini.split.json").read_text() == saved
    again = firstsight(*command, "--split", tmp_path / "mini.split.json")
    assert again.returncode == 0, again.stderr


def test_a_damaged_result_is_named(plain_flags: list[str], tmp_path: Path) -> None:
    (tmp_path / "mini.runs.jsonl").write_text('{"settings"\n')
    command = ["benchmark", *plain_flags, "--out", tmp_path, "--methods", "ncm", "--seeds", 1]
    refused(3, "mini.runs.jsonl, line 1: it is damaged", *command)


@pytest.mark.slow
def test_a_job_that_fails_loses_no_other(
    plain_flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moths: Path
) -> None:
    """Of three runs by two processes the first fails; what had begun is kept, and the message is the error's own."""
    (tmp_path / "failing.py").write_text(
        "from firstsight.core.errors import ImageError\n"
        "from firstsight.methods.baselines.leader import ClassMeans\n"
        "class Fails(ClassMeans):\n"
        "    @classmethod\n"
        "    def fit(cls, support, settings):\n"
        "        raise ImageError('x.jpg', 'was eaten', 'feed the dog')\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    command = [
        "benchmark",
        *plain_flags,
        "--out",
        tmp_path / "out",
        "--methods",
        "failing:Fails,ncm",
        "--seeds",
        1,
        "--jobs",
        2,
    ]
    refused(3, "x.jpg: was eaten", *command, "--orders", 2)
    assert "mini-ncm-seed0" in kept(tmp_path / "out")


@pytest.mark.slow
def test_a_killed_process_loses_its_own_run_only(
    plain_flags: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "killed.py").write_text(
        "import os, signal\n"
        "from firstsight.methods.baselines.leader import ClassMeans\n"
        "class Killed(ClassMeans):\n"
        "    @classmethod\n"
        "    def fit(cls, support, settings):\n"
        "        os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    command = ["benchmark", *plain_flags, "--out", tmp_path / "out", "--seeds", 1, "--orders", 2, "--methods"]
    assert firstsight(*command, "offline-kmeans").returncode == 0  # and closed-set-ce, which is always there
    result = firstsight(*command, "killed:Killed,ncm", "--jobs", 2)
    assert result.returncode == 9, result.stderr
    assert "mini-killed-Killed-seed0: a process that helps was killed by signal 9; it is tried again" in result.stderr
    assert "error: 1 of 2 runs are missing, each killed twice: mini-killed-Killed-seed0\n" in result.stderr
    assert "| ncm |" in (tmp_path / "out" / "mini.md").read_text()


def test_rules_and_streams_without_new_images(
    flags: list[str], plain_flags: list[str], tmp_path: Path, moths: Path
) -> None:
    command = ["benchmark", *flags, "--methods", "phe", "--seeds", 1, "--orders", 2]
    assert firstsight(*command, "--out", tmp_path / "first", "--rule", "first").returncode == 0
    assert set(kept(tmp_path / "first")["mini-phe-12bit-seed0"].rows) == {"first", "reference"}
    known = tmp_path / "known.txt"
    known.write_text("\n".join(path.name for path in sorted((moths / "stream").iterdir())))
    folder = [
        "benchmark",
        "--data",
        "folder",
        *plain_flags[2:],
        "--known-classes",
        known,
        "--stratified",
        "--methods",
        "ncm",
    ]
    result = firstsight(*folder, "--seeds", 1, "--orders", 2, "--out", tmp_path / "all-known")
    assert result.returncode == 0, result.stderr
    assert "/-" in result.stderr
    assert " - |" in (tmp_path / "all-known" / "stream.md").read_text()


def test_only_what_is_asked_for_is_run(plain_flags: list[str], tmp_path: Path) -> None:
    own = ["--out", tmp_path, "--methods", "ncm", "--seeds", 1, "--orders", 2]
    result = firstsight("benchmark", *_without_training(plain_flags), *own, "--only")
    assert result.returncode == 0, result.stderr
    assert "ncm, seed 0: encoding the stream" in result.stderr
    assert list(kept(tmp_path)) == ["mini-ncm-seed0"]


def test_rows_nobody_asked_for_do_not_pin_the_others(plain_flags: list[str], tmp_path: Path) -> None:
    own = ["--out", tmp_path, "--methods", "ncm", "--seeds", 1, "--orders", 2]
    assert firstsight("benchmark", *plain_flags, *own).returncode == 0
    other = [flag for flag in plain_flags if not flag.startswith("--epochs")]
    again = firstsight("benchmark", *other, "--epochs", 2, *own)
    assert again.returncode == 0, again.stderr
    assert "made with epochs 1; now it is 2" in again.stderr
    refused(
        2, "made with epochs 1", "benchmark", *other, "--epochs", 2, *own[:2], "--methods", "closed-set-ce", *own[4:]
    )


def test_what_cannot_be_run_is_refused(flags: list[str], tmp_path: Path) -> None:
    refused(2, "no method 'smiley'", "benchmark", *flags, "--out", tmp_path, "--methods", "smiley")
    refused(2, "numbers separated by commas", "benchmark", *flags, "--out", tmp_path, "--bits", "long")
    refused(2, "bits is 999", "benchmark", *flags, "--out", tmp_path, "--bits", 999)
    refused(2, "csq has no codes of 12 bits", "benchmark", *flags, "--out", tmp_path, "--methods", "csq")
    refused(2, "cannot be loaded", "benchmark", *flags, "--out", tmp_path, "--methods", "phe,x.y:Z")
    refused(2, "4 known categories do not fit", "benchmark", *flags, "--out", tmp_path, "--bits", "12,1")
    refused(6, "l.jsonl", "benchmark", *flags, "--out", tmp_path, "--ledger", "/proc/none/l.jsonl")
    refused(2, "FIRSTSIGHT_EPOCH", "benchmark", *flags, "--out", tmp_path, env={"FIRSTSIGHT_EPOCH": "3"})
    assert not list(tmp_path.glob("*.json*"))
    refused(2, "25, 50, 75", "benchmark", *flags, "--out", tmp_path, "--known", 40)


@pytest.mark.slow
def test_settings_can_be_tried_on_held_out_categories(
    tmp_path: Path, tiny: dict[str, Any], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    common = " ".join(f"{name}={value}" for name, value in {**tiny, "epochs": 1}.items())
    write_folder(tmp_path / "moths", species(12), range(8), size=64)
    arguments = [
        "folder",
        str(tmp_path / "moths"),
        "--out",
        str(tmp_path / "tuned.jsonl"),
        "--common",
        common,
        "--folds",
        "2",
    ]
    monkeypatch.setattr("sys.argv", ["tune.py", *arguments, "base=", "wide=bits=16 alpha=0.5"])
    for _ in range(2):  # the second time everything is there
        runpy.run_path(str(Path(__file__).parents[2] / "reproductions" / "tune.py"), run_name="__main__")
    lines = [json.loads(line) for line in (tmp_path / "tuned.jsonl").read_text().splitlines()]
    assert [(line["name"], line["fold"]) for line in lines] == [("base", 0), ("wide", 0), ("base", 1), ("wide", 1)]
    assert lines[1]["settings"]["bits"] == 16
    assert capsys.readouterr().out.count("folds 2") == 4
