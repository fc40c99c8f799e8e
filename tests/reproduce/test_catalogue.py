"""Tables and figures by name: which runs each wants, and which of those there are it is made of."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from run_results import a_look, a_result

from firstsight.core.errors import DataError, SettingsError
from firstsight.reproduce.catalogue import REPRODUCTIONS, reproductions
from firstsight.reproduce.reproduction import all_wanted, check_runs, write

ALPHA, MAIN, CENTRES = reproductions(["alpha", "main", "centres"])


def test_a_setting_is_tried_with_every_value_but_the_one_it_has_anyway() -> None:
    tried = [dict(run.varied).get("alpha") for run in ALPHA.wanted("cub", 1, {}) if run.method == "phe"]
    assert tried == [None, 0.05, 0.2, 0.5, 1.0]
    tried = [dict(run.varied).get("alpha") for run in ALPHA.wanted("cub", 1, {"alpha": 0.5}) if run.method == "phe"]
    assert tried == [None, 0.05, 0.1, 0.2, 1.0]


def test_a_closer_look_is_at_one_seed_of_its_own_methods() -> None:
    (run,) = CENTRES.wanted("cub", 3, {})
    assert (run.method, run.seed, run.inspected) == ("phe", 0, True)


def test_tables_share_their_runs() -> None:
    both = all_wanted([MAIN, ALPHA], "cub", 1, {})
    assert len(both) == len(set(both)) == len(MAIN.wanted("cub", 1, {})) + 4


def test_results_go_to_the_tables_they_are_for() -> None:
    plain, second, other = a_result(seed=0), a_result(seed=1), a_result("dpn")
    tried, looked = a_result(varied=(("alpha", 0.5),)), a_result(inspected=True, inspection=a_look())
    results = [plain, second, other, tried, looked]
    assert MAIN.among(results) == [plain, second]
    assert ALPHA.among(results) == [plain, tried]  # of the seeds it was tried with
    assert ALPHA.among(results[:3]) == [plain, second]
    assert CENTRES.among(results) == [looked]
    assert REPRODUCTIONS["dmax"].among(results) == []


def test_nothing_is_made_of_nothing() -> None:
    check_runs([MAIN, REPRODUCTIONS["dmax"]], [a_result()], "here are no runs")
    with pytest.raises(DataError, match="here are no runs to make centres of"):
        check_runs([MAIN, CENTRES], [a_result()], "here are no runs")


def test_a_name_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(SettingsError, match="called 'mian'") as caught:
        reproductions(["main", "mian"])
    assert "code-length" in caught.value.remedy


def test_a_table_and_its_figure_are_written(tmp_path: Path) -> None:
    sheet, files = write(MAIN, [a_result()], tmp_path)
    assert [path.name for path in files] == ["main.md", "main.tex", "main.csv", "main.svg", "main.pdf", "main.png"]
    assert (tmp_path / "main.md").read_text() == sheet.markdown()
    _, files = write(CENTRES, [a_result(inspected=True, inspection=a_look())], tmp_path, figures=False)
    assert [path.suffix for path in files] == [".md", ".tex", ".csv"]


def test_what_a_table_needs_is_said_in_words() -> None:
    assert REPRODUCTIONS["dmax"].needs() == "nothing"
    assert re.fullmatch(r"1 training on each data set, \d+ min of a GPU", CENTRES.needs())
    assert MAIN.needs().startswith("19 trainings")
