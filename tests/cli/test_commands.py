"""The commands as people type them: outputs, exit codes, and no traces."""

from __future__ import annotations

import io
import json
import shutil
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from firstsight.cli.main import run
from webpage import read_page

PROGRAM = [sys.executable, "-c", "from firstsight.cli.main import run; run()"]


class Result(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def firstsight(*arguments: object, env: dict[str, str] | None = None) -> Result:
    """Run the command as its entry point does, in this process: importing torch anew takes seconds."""
    stdout, stderr = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(stdout), redirect_stderr(stderr):
        patch.setattr(sys, "argv", ["firstsight", *map(str, arguments)])
        for name, value in {"COLUMNS": "200", **(env or {})}.items():
            patch.setenv(name, value)
        try:
            run()
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Result(code, stdout.getvalue(), stderr.getvalue())


def refused(code: int, message: str, *arguments: object, env: dict[str, str] | None = None) -> str:
    """Run what must fail: with this exit code, this message, and no trace."""
    result = firstsight(*arguments, env=env)
    assert result.returncode == code, result.stderr
    assert message in result.stderr
    assert "Traceback" not in result.stderr
    assert result.stdout == ""
    return result.stderr


@pytest.fixture(scope="module")
def fitted(moths: Path, tiny: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    out = tmp_path_factory.mktemp("cli") / "moths.model"
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in tiny.items()]
    result = firstsight("fit", moths / "support", "--out", out, *flags, "--device", "cpu")
    assert result.returncode == 0, result.stderr
    assert result.stdout == ""
    return out, result.stderr


def test_fit_says_how_it_came_out_and_what_is_next(fitted: tuple[Path, str]) -> None:
    out, said = fitted
    assert "4 categories, 24 images" in said
    assert "closest pair" in said
    assert "of the images it learned from lie within" in said
    assert f"firstsight discover {out}" in said


def test_discover_answers_one_line_per_image(fitted: tuple[Path, str], moths: Path) -> None:
    result = firstsight("discover", fitted[0], moths / "stream", "--device", "cpu")
    assert result.returncode == 0, result.stderr
    lines = [line.split("\t") for line in result.stdout.splitlines()]
    assert [line[0] for line in lines] == [str(path) for path in sorted((moths / "stream").rglob("*.jpg"))]
    known = {path.name for path in (moths / "support").iterdir()}
    for _, category, kind, near, other in lines:
        assert (category in known) == (kind == "known")
        assert category in known or category.startswith("new-")
        assert "radius" in near
        assert other.startswith("next ")
    assert "images of known categories" in result.stderr


def test_discover_json_and_saved_lines_are_the_same(fitted: tuple[Path, str], moths: Path, tmp_path: Path) -> None:
    saved = tmp_path / "answers.jsonl"
    result = firstsight("discover", fitted[0], moths / "stream", "--json", "--save", saved, "--quiet", "--radius", "0")
    assert result.returncode == 0
    assert result.stderr == ""
    assert saved.read_text() == result.stdout
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    answer = {
        "category",
        "is_new",
        "created",
        "distance",
        "radius",
        "runner_up",
        "via",
        "decided_by",
        "name",
        "confidence",
    }
    assert set(rows[0]) == {"image", "number"} | answer
    assert all(row["radius"] == 0 for row in rows)
    created = [row["category"] for row in rows if row["created"]]
    assert created == [f"new-{i + 1}" for i in range(len(created))]


def test_discover_reports_a_bad_image_and_goes_on(fitted: tuple[Path, str], moths: Path, tmp_path: Path) -> None:
    good = sorted((moths / "stream").rglob("*.jpg"))[:2]
    (tmp_path / "bad.jpg").write_bytes(b"no picture")
    result = firstsight("discover", fitted[0], good[0], tmp_path / "bad.jpg", good[1], "--json")
    assert result.returncode == 1
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    assert [("error" in row) for row in rows] == [False, True, False]
    assert "skipped" in result.stderr
    assert "1 could not be read" in result.stderr


def test_evaluate_prints_orders_and_the_closed_set_row(fitted: tuple[Path, str], moths: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    result = firstsight("evaluate", fitted[0], moths / "stream", "--json", "--quiet", "--page", page)
    assert result.returncode == 0, result.stderr
    report = json.loads(result.stdout)
    assert (report["images"], report["true_categories"], report["known_images"]) == (24, 8, 12)
    random, fixed, bursty, closed, offline = report["rows"]
    assert offline["name"] == "offline k-means"
    assert offline["by_name"] is None  # clusters have no names
    assert bursty["name"] == "bursty x 10"
    assert "random" in random["name"]
    assert random["deviation"] is not None
    assert fixed["deviation"] is None
    assert closed["name"] == "closed-set"
    assert closed["categories"] <= 4
    assert sum(each["images"] for each in report["details"]["categories"]) == 24
    assert all((moths / "stream" / each["image"]).is_file() for each in report["details"]["wrong"])
    assert len(read_page(page.read_bytes()).one("table", "scores").all("tr")) == 1 + 8
    refused(3, "exists already", "evaluate", fitted[0], moths / "stream", "--page", page)
    text = firstsight("evaluate", fitted[0], moths / "stream")
    assert all(word in text.stdout for word in ("All", "Old", "New", "closed-set"))


def test_doctor_knows_the_backbones() -> None:
    result = firstsight("doctor")
    assert result.returncode == 0
    assert "dino-vitb16" in result.stdout
    assert "torch" in result.stdout


def test_help_of_every_command_and_the_version() -> None:
    assert firstsight("--version").stdout.strip()
    for command in ("demo", "fit", "discover", "evaluate", "doctor"):
        assert firstsight(command, "--help").returncode == 0


def test_settings_come_from_the_environment_and_a_file(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text("\n".join(f"{name} = {json.dumps(value)}" for name, value in {**tiny, "epochs": 1}.items()))
    result = firstsight(
        "fit", moths / "support", "--out", tmp_path / "m", "--config", file, "--prototypes", "2",
        env={"FIRSTSIGHT_BITS": "20", "FIRSTSIGHT_DEVICE": "cpu"},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    settings = json.loads((tmp_path / "m" / "config.json").read_text())["settings"]
    assert (settings["bits"], settings["prototypes"], settings["image_size"]) == (20, 2, 64)


def test_no_colour_codes_when_not_on_a_terminal(fitted: tuple[Path, str], moths: Path) -> None:
    result = firstsight("evaluate", fitted[0], moths / "stream")
    assert "\x1b" not in result.stdout + result.stderr


# what must be refused


def test_refusals_of_fit(moths: Path, tmp_path: Path) -> None:
    out, vit = ("--out", tmp_path / "m"), ("--backbone", "test_vit")
    (tmp_path / "empty").mkdir()
    shutil.copytree(next((moths / "support").iterdir()), tmp_path / "one" / "only")
    phe = ("fit", moths / "support", *out, "--method", "phe")
    refused(2, "bits is 300; allowed: 1 to 256", *phe, "--bits", "300")
    refused(2, "rule is 'best'; allowed: one of nearest, first, reference", *phe, "--rule", "best")
    refused(2, "FIRSTSIGHT_EPOCH is no", "fit", moths / "support", *out, env={"FIRSTSIGHT_EPOCH": "3"})
    refused(2, "no preset is called 'best'", "fit", moths / "support", *out, "--preset", "best")
    refused(2, "4 known categories do not fit in 1 bits", *phe, "--bits", "1")
    refused(2, "epochs means nothing to firstsight", "fit", moths / "support", *out, "--epochs", "9")
    look = ("--method", "ncm", "--no-second-look")
    refused(2, "second_look means nothing to ncm", "fit", moths / "support", *out, *look)
    refused(
        2,
        "use a multiple of 16, for example 96",
        "fit",
        moths / "support",
        *out,
        *vit,
        "--image-size",
        "100",
        "--weights",
        "none.pth",
    )
    refused(2, "neither a shortcut nor a timm model", "fit", moths / "support", *out, "--backbone", "eye")
    refused(3, "does not exist", "fit", tmp_path / "none", *out)
    refused(3, "one folder per category", "fit", tmp_path / "empty", *out)
    refused(3, "single category", "fit", tmp_path / "one", *out)
    refused(
        4, "no such weights file", "fit", moths / "support", *out, "--backbone", "test_vit", "--weights", "none.pth"
    )
    refused(5, "CUDA", "fit", moths / "support", *out, "--device", "cuda:7")
    assert not (tmp_path / "m").exists()


def test_refusals_of_discover_and_evaluate(fitted: tuple[Path, str], moths: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "taken.jsonl").touch()
    refused(4, "there is no model folder", "discover", tmp_path / "none", moths)
    refused(3, "none.jpg does not exist", "discover", fitted[0], tmp_path / "none.jpg")
    refused(3, "no images in", "discover", fitted[0], tmp_path / "empty")
    refused(2, "radius is 13", "discover", fitted[0], moths, "--radius", "13")
    refused(2, "exists already", "discover", fitted[0], moths, "--save", tmp_path / "taken.jsonl")
    refused(6, "could not be written", "discover", fitted[0], moths, "--save", tmp_path / "no" / "such.jsonl")
    refused(4, "there is no model folder", "evaluate", tmp_path / "none", moths / "stream")
    (tmp_path / "mixed" / "a").mkdir(parents=True)
    (tmp_path / "mixed" / "a" / "bad.jpg").write_bytes(b"no")
    refused(3, "1 image cannot be used", "evaluate", fitted[0], tmp_path / "mixed")


def test_all_paths_that_do_not_exist_are_named_before_anything_is_done(
    fitted: tuple[Path, str], moths: Path, tmp_path: Path
) -> None:
    good = next((moths / "stream").rglob("*.jpg"))
    given = (good, tmp_path / "a.jpg", good, tmp_path / "b.jpg")
    said = refused(3, "2 of 4 paths do not exist", "discover", fitted[0], *given, "--register", tmp_path / "r.db")
    assert [line.strip() for line in said.splitlines() if line.endswith(".jpg")] == [str(given[1]), str(given[3])]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
@pytest.mark.parametrize(("where", "code", "message"), [("| head -n 1", 0, ""), ("> /dev/full", 6, "no space left")])
def test_answers_that_cannot_be_delivered(
    fitted: tuple[Path, str], moths: Path, where: str, code: int, message: str
) -> None:
    command = " ".join(f"'{part}'" for part in [*PROGRAM, "discover", str(fitted[0]), str(moths / "stream"), "--quiet"])
    result = subprocess.run(f"{command} {where}", shell=True, capture_output=True, text=True)
    assert result.returncode == code
    assert message in result.stderr
    assert (result.stderr == "") == (message == "")


def test_a_reader_or_helper_that_goes_away_never_ends_the_process() -> None:
    """A signal of its own for a closed pipe would kill a service whose client hangs up."""
    before = signal.getsignal(signal.SIGPIPE)
    assert firstsight("methods").returncode == 0
    assert signal.getsignal(signal.SIGPIPE) == before == signal.SIG_IGN


def test_odd_names_stay_on_their_line(fitted: tuple[Path, str], moths: Path, tmp_path: Path) -> None:
    odd = tmp_path / "a\tb\nc\x1b[31m.jpg"
    shutil.copy(next((moths / "stream").rglob("*.jpg")), odd)
    result = firstsight("discover", fitted[0], odd)
    assert result.returncode == 0
    assert len(result.stdout.splitlines()) == 1
    assert len(result.stdout.split("\t")) == 5
    assert "\x1b" not in result.stdout
    row = json.loads(firstsight("discover", fitted[0], odd, "--json").stdout)
    assert row["image"] == str(odd)


def test_without_new_images_new_is_null_in_json_and_a_dash_in_the_table(fitted: tuple[Path, str], moths: Path) -> None:
    report = json.loads(firstsight("evaluate", fitted[0], moths / "support", "--json", "--rule", "first").stdout)
    assert report["rows"][0]["accuracy"]["new"] is None
    table = firstsight("evaluate", fitted[0], moths / "support", "--radius", "1").stdout
    assert " - " in table
    assert "nan" not in table


def test_evaluate_says_what_it_left_out(fitted: tuple[Path, str], moths: Path, tmp_path: Path) -> None:
    labelled = shutil.copytree(moths / "stream", tmp_path / "labelled")
    (next(labelled.iterdir()) / "photo.psd").touch()
    result = firstsight("evaluate", fitted[0], labelled)
    assert result.returncode == 0
    assert ".psd were left out" in result.stderr


def test_quiet_still_names_a_bad_image(fitted: tuple[Path, str], moths: Path, tmp_path: Path) -> None:
    (tmp_path / "bad.jpg").write_bytes(b"no picture")
    result = firstsight("discover", fitted[0], tmp_path / "bad.jpg", "--quiet")
    assert result.returncode == 1
    assert "bad.jpg" in result.stderr
