"""Two nights of fieldwork, as people type them: with plain colours step by step, and with moths as the docs have it.

Colours are answered the same on every machine, so each step can say what it leaves and what undoing gives back.
"""

from __future__ import annotations

import csv
import json
import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from test_categories import categories, listed
from test_commands import firstsight, refused

from firstsight.encode.backbones import lite2_weights
from firstsight.store.store import Store
from photographs import HAARLEM, photograph
from swatches import COLOURS

PAGE = Path(__file__).parents[2] / "docs" / "fieldwork.md"
WOOD = (51.97, 5.84)
# what a night brought, in the order of the card; red is hardly to be told from magenta, yellow is a blur
DUNE = ("black", "magenta", "red", "magenta", "yellow", "red", "blue", "magenta")
LATER = ("red", "white", "black", "magenta", "white", "red")


def expose(folder: Path, colours: tuple[str, ...], day: int, place: tuple[float, float]) -> None:
    """The card of a camera after a night."""
    for number, colour in enumerate(colours, 1):
        shade: Any = tuple(part + number for part in COLOURS[colour][0])
        told = {"taken": f"2026:06:{day:02} 22:{number:02}:00", "place": place, "camera": ("Trapcam", "One")}
        photograph(folder / f"{number}.jpg", shade, (80, 80), **told)


def discover(model: Path, images: Path, register: Path, *options: str) -> dict[str, dict[str, Any]]:
    """Answers by site and number, as dune/1."""
    arguments = ("discover", model, images, "--register", register, "--json", "--device", "cpu", *options)
    result = firstsight(*arguments)
    assert result.returncode == 0, result.stderr
    rows = [json.loads(line) for line in result.stdout.splitlines()]
    return {"/".join(Path(row["image"]).with_suffix("").parts[-2:]): row for row in rows}


def held(register: Path) -> dict[str, int]:
    return {row["name"]: row["images"] for row in listed(register, "list") if row["images"]}


def state(register: Path) -> list[Any]:
    """All that people see of a register: its categories, and where each image is and who put it there."""
    with Store.open(register, write=False) as store:
        view = store.view()
        images = {n: (view.category_of(n), view.catalogue.author(n)) for n in view.images()}
        return [listed(register, "list"), images, view.catalogue.discarded_images]


def said(register: Path, *edit: object) -> None:
    """Ann says something, takes it back, which gives back what was there, and says it again by redo."""
    before = state(register)
    categories(register, *edit, "--by", "Ann Lee")
    after = state(register)
    assert after != before
    categories(register, "undo")
    assert state(register) == before
    categories(register, "redo")
    assert state(register) == after


@pytest.mark.slow
def test_two_nights(sure_model: Path, swatches: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    traps, register = tmp_path / "traps", tmp_path / "field.db"
    expose(traps / "dune", DUNE, 1, HAARLEM)
    discover(sure_model, traps, register)
    assert held(register) == {"black": 1, "blue": 1, "new-1": 5, "new-2": 1}
    categories(register, "gallery", "--out", tmp_path / "dune.html")
    assert "new-2" in (tmp_path / "dune.html").read_text()

    said(register, "discard", traps / "dune" / "5.jpg")
    said(register, "split", traps / "dune" / "3.jpg", traps / "dune" / "6.jpg", "--name", "Ruby")
    said(register, "rename", "NEW-1", "Fuchsia")
    said(register, "promote", "ruby")
    assert held(register) == {"black": 1, "blue": 1, "Fuchsia": 3, "Ruby": 2}
    number = next(row["image"] for row in listed(register, "show", "ruby"))
    asked = firstsight("explain", sure_model, number, "--register", register, "--device", "cpu")
    assert "Since then it was put into Ruby" in asked.stdout

    the_second_night(sure_model, traps, register)
    records(register, tmp_path)
    next_season(swatches / "support", tiny, traps, register, tmp_path)


def the_second_night(model: Path, traps: Path, register: Path) -> None:
    """Another site in the same folder: what the first night brought is recognised, junk too, and names are answered."""
    refused(2, "--once", "discover", model, traps, "--register", register, "--device", "cpu")
    expose(traps / "wood", LATER, 2, WOOD)
    answers = discover(model, traps, register, "--once")
    assert [answers[f"dune/{n}"]["decided_by"] for n in (1, 5)] == ["record", "discarded"]
    named = [answers[f"wood/{n}"]["name"] or answers[f"wood/{n}"]["category"] for n in (1, 3, 4, 6)]
    assert named == ["Ruby", "black", "Fuchsia", "Ruby"]
    assert not answers["wood/1"]["is_new"]
    found = answers["wood/2"]["category"]
    assert answers["wood/5"]["category"] == found
    said(register, "merge", found, "--into", "fuchsia")
    assert held(register) == {"black": 2, "blue": 1, "Fuchsia": 6, "Ruby": 4}


def records(register: Path, folder: Path) -> None:
    nights = listed(register, "days", "--category", "ruby")
    assert [(row["day"], row["images"]) for row in nights] == [("2026-06-01", 2), ("2026-06-02", 2)]
    assert len({row["place"] for row in listed(register, "places", "--within", "10km")}) == 2
    told = categories(register, "export", folder / "gbif.csv", "--format", "dwc", "--round-places", "10km").stderr
    assert "scientificName" not in told  # every category has a name
    with (folder / "gbif.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(DUNE) - 1 + len(LATER)
    ruby = [row for row in rows if row["scientificName"] == "Ruby"]
    assert [row["identifiedBy"].split()[0] for row in ruby] == ["Ann", "Ann", "firstsight", "firstsight"]
    assert [row["eventDate"][:10] for row in ruby] == ["2026-06-01", "2026-06-01", "2026-06-02", "2026-06-02"]
    assert {row["coordinateUncertaintyInMeters"] for row in rows} == {"7142"}
    assert all(abs(float(row["decimalLatitude"]) - HAARLEM[0]) < 0.1 for row in ruby[:2])
    assert all(abs(float(row["decimalLatitude"]) - WOOD[0]) < 0.1 for row in ruby[2:])


def next_season(guide: Path, tiny: dict[str, Any], traps: Path, register: Path, folder: Path) -> None:
    """Fit with what was promoted, encode anew, and go on with every name and number."""
    categories(register, "export", folder / "by-category")
    shutil.copytree(guide, folder / "known")
    shutil.copytree(folder / "by-category" / "Ruby", folder / "known" / "Ruby")
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in {**tiny, "epochs": 1}.items()]
    model, again = folder / "again.model", folder / "again.db"
    fitted = firstsight("fit", folder / "known", "--out", model, *flags, "--device", "cpu")
    assert fitted.returncode == 0, fitted.stderr
    categories(register, "reencode", model, again, "--device", "cpu")
    assert held(again) == held(register)
    assert next(row["id"] for row in listed(again, "list") if row["name"] == "Ruby") == "Ruby"
    expose(traps / "heath", ("black", "red"), 3, HAARLEM)
    answers = discover(model, traps, again, "--once")
    assert sum(row["decided_by"] == "discarded" for row in answers.values()) == 1
    assert sum(row["decided_by"] == "record" for row in answers.values()) == len(DUNE) - 1 + len(LATER)
    assert sum(held(again).values()) == sum(held(register).values()) + 2
    categories(again, "verify")


@pytest.mark.slow
def test_the_nights_of_the_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the page has it, word for word: moths are drawn, the backbone is the real one, and every species comes out."""
    if lite2_weights() is None:
        pytest.skip("needs the extra lite2")
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```(\w+)\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
    drawn: dict[str, Any] = {}
    for language, block in blocks:
        if language == "python":
            exec(compile(block, PAGE.name, "exec"), drawn)
            continue
        for line in block.splitlines():
            match shlex.split(line):
                case ["export", setting]:
                    monkeypatch.setenv(*setting.split("=", 1))
                case ["cp", "-r", source, target]:
                    shutil.copytree(source, Path(target) / Path(source).name)
                case ["firstsight", *words]:
                    result = firstsight(*words)
                    assert result.returncode == 0, f"{line}\n{result.stderr}"
    for register in (Path("field.db"), Path("again.db")):
        both = {kind.name for kind in drawn["known"][:3]} | {kind.name for kind in drawn["new"][:3]}
        every = {kind.name: 10 if kind.name in both else 5 for kind in (*drawn["known"], *drawn["new"])}
        assert held(register) == every
