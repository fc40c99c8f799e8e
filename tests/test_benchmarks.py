"""The speed benchmarks run and say what they should; how fast is not asked here."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from programs import needs

FOLDER = Path(__file__).parents[1] / "benchmarks"


def run(name: str, monkeypatch: pytest.MonkeyPatch, out: Path, *arguments: str) -> dict[str, object]:
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr("sys.argv", [name, "--backbone", "test_vit", "--device", "cpu", "--json", str(out), *arguments])
    runpy.run_path(str(FOLDER / name), run_name="__main__")
    content: dict[str, object] = json.loads(out.read_text())
    return content


@pytest.mark.slow
def test_answering(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    figures = run("answering.py", monkeypatch, tmp_path / "a.json", "--images", "24", "--seconds", "0.05")
    assert {"the plain loop", "firstsight discover", "limit: encoding alone"} <= set(figures["images_a_second"])  # type: ignore[call-overload]
    assert figures["latency"]["whole"]["p50_ms"] > 0  # type: ignore[index]
    assert figures["commit"]


@pytest.mark.slow
def test_training(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ("--images", "12,24", "--epochs", "1", "--views", "2", "--baseline")
    figures = run("training.py", monkeypatch, tmp_path / "t.json", *arguments)
    for size in ("12", "24"):
        rates = figures["sizes"][size]["images_a_second"]  # type: ignore[index]
        assert len(rates) == 6
        assert all(rate > 0 for rate in rates.values())


def test_deciding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["d", "--categories", "10,20", "--images", "5", "--json", str(tmp_path / "d.json")])
    runpy.run_path(str(FOLDER / "deciding.py"), run_name="__main__")
    sizes = json.loads((tmp_path / "d.json").read_text())["sizes"]
    assert [each["categories"] for each in sizes] == [10, 20]
    assert all(each["statistics, ms"] > 0 and each["nearest centre, ms"] > 0 for each in sizes)


def test_browsing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["b", "--categories", "20", "--images", "90", "--json", str(tmp_path / "b.json")])
    runpy.run_path(str(FOLDER / "browsing.py"), run_name="__main__", init_globals={})
    figures = json.loads((tmp_path / "b.json").read_text())
    assert all(each["anew, ms"] > 0 for each in figures["questions"].values())


@pytest.mark.slow
def test_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["p", "--categories", "12", "--images", "120", "--json", str(tmp_path / "p.json")])
    runpy.run_path(str(FOLDER / "pages.py"), run_name="__main__")
    figures = json.loads((tmp_path / "p.json").read_text())
    assert all(cpu > 0 for cpu, _ in figures["pages"].values())


@pytest.mark.slow
@needs("initdb")
def test_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setattr("sys.argv", ["s", "--seconds", "0.01", "--rounds", "1", "--json", str(tmp_path / "s.json")])
    runpy.run_path(str(FOLDER / "shared.py"), run_name="__main__")
    (figures,) = json.loads((tmp_path / "s.json").read_text())["rounds"]
    assert len(figures) == 12
    assert all(rate > 0 for rate in figures.values())


def test_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a command that does nothing, since the others take long: beside a neighbour, whose time is not counted."""
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    benchmark = runpy.run_path(str(FOLDER / "cores.py"))
    cost = benchmark["measured"](["--version"], benchmark["Case"](neighbours=1))
    assert cost.cpu_seconds > 0
    assert cost.seconds > 0
    assert benchmark["BASELINE"] in benchmark["cases"]()
    with pytest.raises(SystemExit, match="No such command"):
        benchmark["measured"](["nothing"], benchmark["Case"](threads=1))


def test_calibrating(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arguments = ["--categories", "4", "--images", "4", "--width", "16", "--json", str(tmp_path / "c.json")]
    monkeypatch.setattr("sys.argv", ["c", *arguments])
    runpy.run_path(str(FOLDER / "calibrating.py"), run_name="__main__")
    assert len(json.loads((tmp_path / "c.json").read_text())["seconds"]) == 4
