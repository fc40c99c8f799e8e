"""fit, discover, evaluate and registers of features that people bring in files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from test_commands import firstsight, refused

from clouds import clouds

DRAWN, OWN = clouds(6, 12, width=16, apart=8.0)
TAUGHT = (OWN < 4) & (np.arange(len(OWN)) % 2 == 0)


def table(path: Path, some: NDArray[np.bool_], labels: bool = True) -> Path:
    titles = [*(f"d{i}" for i in range(16)), *(["label"] if labels else [])]
    lines = [[*map(str, DRAWN[i]), *([f"c{OWN[i]}"] if labels else [])] for i in np.flatnonzero(some)]
    path.write_text("\n".join(",".join(line) for line in [titles, *lines]) + "\n")
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of features, and a stream of them."""
    folder = tmp_path_factory.mktemp("features")
    table(folder / "known.csv", TAUGHT)
    table(folder / "stream.csv", ~TAUGHT, labels=False)
    np.savez(folder / "stream.npz", features=DRAWN[~TAUGHT], labels=[f"c{i}" for i in OWN[~TAUGHT]])
    result = firstsight("fit", folder / "known.csv", "--out", folder / "m")
    assert result.returncode == 0, result.stderr
    assert "4 categories, 24 features of 16 values, firstsight" in result.stderr
    return folder


def test_a_table_of_features_is_discovered_kept_and_corrected(home: Path, tmp_path: Path) -> None:
    register, page = tmp_path / "r.db", tmp_path / "page.html"
    found = firstsight("discover", home / "m", home / "stream.csv", "--register", register, "--json")
    answers = [json.loads(line) for line in found.stdout.splitlines()]
    assert [each["image"] for each in answers] == [f"stream.csv:{i + 1}" for i in range(int((~TAUGHT).sum()))]
    pairs = {(int(own), each["category"]) for own, each in zip(OWN[~TAUGHT], answers, strict=True)}
    assert pairs == {(0, "c0"), (1, "c1"), (2, "c2"), (3, "c3"), (4, "new-1"), (5, "new-2")}
    refused(2, "are in", "discover", home / "m", home / "stream.csv", "--register", register)
    again = firstsight("discover", home / "m", home / "stream.npz", "--register", register, "--once")
    assert "48 there already" in again.stderr
    firstsight("categories", register, "merge", "new-2", "--into", "new-1")
    assert firstsight("categories", register, "gallery", "--out", page, "--model", home / "m").returncode == 0
    assert "came as features" in page.read_text()
    assert "stream.csv:1<" in page.read_text()
    assert "not where" not in page.read_text()


def test_labelled_features_are_evaluated(home: Path, tmp_path: Path) -> None:
    result = firstsight("evaluate", home / "m", home / "stream.npz", "--json", "--page", tmp_path / "e.html")
    assert json.loads(result.stdout)["rows"][0]["accuracy"]["all"] == 1
    refused(3, "does not say which category", "evaluate", home / "m", home / "stream.csv")


def test_a_column_of_another_title_is_named(home: Path, swatches: Path, tmp_path: Path) -> None:
    for name in ("known", "stream"):
        labelled = table(tmp_path / f"{name}.csv", TAUGHT if name == "known" else ~TAUGHT)
        labelled.write_text(labelled.read_text().replace("label", "Kin", 1))
    known, stream, model = tmp_path / "known.csv", tmp_path / "stream.csv", tmp_path / "m"
    fitted = firstsight("fit", known, "--out", model, "--label", "kin", "--json")
    assert json.loads(fitted.stdout)["categories"] == ["c0", "c1", "c2", "c3"]
    scored = firstsight("evaluate", model, stream, "--label", "kin", "--json")
    assert json.loads(scored.stdout)["rows"][0]["accuracy"]["all"] == 1
    assert "new-2" in firstsight("discover", model, stream, "--label", "kin").stdout
    refused(3, "column 'Kin' holds 'c0', which is no number", "discover", model, stream)
    refused(3, "has no column 'clan'", "evaluate", model, stream, "--label", "clan")
    for command in (("fit", swatches / "support", "--out", tmp_path / "n"), ("discover", model, swatches / "stream")):
        refused(2, "--label names a column of features", *command, "--label", "kin")


def test_features_and_images_are_not_mistaken_for_each_other(home: Path, swatches: Path, tmp_path: Path) -> None:
    refused(4, "has no encoder", "discover", home / "m", swatches / "stream")
    refused(2, "--backbone is about images", "fit", home / "known.csv", "--out", tmp_path / "m", "--backbone", "x")
    refused(3, "does not say which category", "fit", home / "stream.csv", "--out", tmp_path / "m")
    narrow = tmp_path / "narrow.csv"
    narrow.write_text("x,y\n1,2\n")
    wrong = firstsight("discover", home / "m", narrow)
    assert wrong.returncode == 1
    assert "narrow.csv:1" in wrong.stderr
    assert not (tmp_path / "m").exists()
