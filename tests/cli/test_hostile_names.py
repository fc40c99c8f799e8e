"""What a file or a category is called reaches neither the terminal's controls nor a spreadsheet's formulas."""

from __future__ import annotations

import csv
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from test_commands import firstsight, refused

from firstsight.core.protocols import Provenance
from firstsight.core.spreadsheets import cell
from firstsight.exports.export import export
from firstsight.register.codes import CodeRegister
from firstsight.reproduce.tables.sheet import Sheet
from firstsight.store.store import Arrival, Store

RED = "\x1b[31m"
ODD = f"{RED}\x9b2J\u202e\r.jpg"
CPU = ("--device", "cpu")


def is_plain(text: str) -> bool:
    return all(c.isprintable() or c in "\n\t" for c in text)


@pytest.fixture
def register(tmp_path: Path) -> Path:
    """Two images, of names that do something, in a known and a new category."""
    model = Provenance("f" * 64, 1, "cpu", "fp32")
    start = CodeRegister(8, 1, [f"{RED}ant", "[/bee]"], np.array([[0], [255]], dtype=np.uint64))
    with Store.create(tmp_path / "r.db", start, model) as store:
        sources = (ODD, "=1+1.jpg", "'tis.jpg", "/plain.jpg")
        arrivals = [Arrival(name, name.encode()[:32].ljust(32), np.array([16 * i], dtype=np.uint64))
                    for i, name in enumerate(sources)]  # fmt: skip
        store.record(arrivals, model)
    return tmp_path / "r.db"


def test_errors_show_escapes_as_text(tmp_path: Path, model_folder: Path) -> None:
    said = refused(3, "\\x1b[31m", "discover", model_folder, tmp_path / ODD, *CPU)
    assert is_plain(said)
    assert said.count("\n") == 2  # what, and what to do
    said = refused(4, "\\x1b[31m", "discover", tmp_path / f"{RED}.model", tmp_path, *CPU)
    assert is_plain(said)


def test_answers_and_warnings_show_escapes_as_text(tmp_path: Path, model_folder: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    Image.new("RGB", (80, 80), "red").save(folder / ODD, "JPEG")
    (folder / f"{RED}bad.jpg").write_bytes(b"no image")
    for flags in ((), ("--json",)):
        result = firstsight("discover", model_folder, folder, *flags, *CPU)
        assert result.returncode == 1, result.stderr
        assert is_plain(result.stdout)
        assert is_plain(result.stderr)


def test_tables_and_json_of_a_register_show_escapes_as_text(register: Path) -> None:
    for command in (("list",), ("history",), ("show", f"{RED}ant"), ("show", "new-1"), ("suggest",)):
        for flags in ((), ("--json",)):
            result = firstsight("categories", register, *command, *flags)
            assert result.returncode == 0, result.stderr
            assert is_plain(result.stdout + result.stderr), command
            if flags:
                json.loads(result.stdout)
    shown = json.loads(firstsight("categories", register, "show", f"{RED}ant", "--json").stdout)
    assert shown[0]["source"] == ODD


def test_csv_runs_nothing_and_gives_back_every_name(register: Path, tmp_path: Path) -> None:
    with Store.open(register, write=False) as store:
        export(store.view(), tmp_path / "r.csv")
    rows = list(csv.DictReader((tmp_path / "r.csv").open(newline="", encoding="utf-8")))
    assert [row["source"] for row in rows][1:] == ["'=1+1.jpg", "''tis.jpg", "/plain.jpg"]
    assert [row["source"].removeprefix("'") for row in rows] == [ODD, "=1+1.jpg", "'tis.jpg", "/plain.jpg"]


@pytest.mark.parametrize("text", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(1)", "\t=1", "\r=1", "\n=1"])
def test_text_that_would_run_is_marked(text: str) -> None:
    assert cell(text) == f"'{text}"


def test_numbers_stay_numbers_in_tables() -> None:
    rows: list[list[Any]] = [["=a", -1.5, -2]]
    assert Sheet(("name", "x", "y"), rows).csv() == "name,x,y\n'=a,-1.5,-2\n"


@pytest.mark.parametrize(
    ("message", "arguments"),
    [
        ("radius is nan", ("discover", "MODEL", "IMAGE", "--radius", "nan")),
        ("radius is -inf", ("discover", "MODEL", "IMAGE", "--radius", "-inf")),
        ("radius is nan", ("evaluate", "MODEL", "FOLDER", "--radius", "nan")),
        ("Invalid value for '--unsure-below'", ("discover", "MODEL", "IMAGE", "--unsure-below", "nan")),
        ("Invalid value for '--wait'", ("discover", "MODEL", "IMAGE", "--wait", "nan")),
        ("Invalid value for '--checkpoint-every'", ("fit", "FOLDER", "--out", "x", "--checkpoint-every", "nan")),
        ("alpha is nan", ("fit", "FOLDER", "--out", "x", "--method", "phe", "--alpha", "nan")),
        ("radius is nan", ("categories", "REGISTER", "radius", "nan")),
        ("Invalid value for '--below'", ("categories", "REGISTER", "unsure", "--below", "nan")),
    ],
)
def test_nan_is_no_number(
    message: str, arguments: tuple[str, ...], model_folder: Path, moths: Path, register: Path
) -> None:
    image = min((moths / "stream").rglob("*.jpg"))
    names = {"MODEL": model_folder, "FOLDER": moths / "stream", "IMAGE": image, "REGISTER": register}
    refused(2, message, *(names.get(word, word) for word in arguments))


def test_a_radius_of_log_odds_is_a_number() -> None:
    from firstsight.core.errors import SettingsError
    from firstsight.register.spread import Spread
    from firstsight.register.statistics import StatisticsRegister

    register = StatisticsRegister(Spread(np.ones(2), np.ones(2), 0.0), ["ant"], np.ones(1), np.ones((1, 2)))
    for value in (math.nan, -math.inf):
        with pytest.raises(SettingsError, match="it can be any number, or infinite"):
            register.radius = value
    register.radius = math.inf
