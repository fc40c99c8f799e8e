"""Tables of results made by hand: every cell is one a person can check."""

from __future__ import annotations

from math import isnan, nan
from pathlib import Path

import pytest
from run_results import a_look, a_result, a_row

from firstsight.core.accuracy import Accuracy
from firstsight.reproduce.paper import paper_deviation, paper_figure, paper_found, paper_in_order, paper_minutes
from firstsight.reproduce.results import RunResult, Seconds
from firstsight.reproduce.tables import inspected
from firstsight.reproduce.tables.accuracy import accuracies, deviations, settings_of, shown
from firstsight.reproduce.tables.benchmark import csv, markdown, text, write_tables
from firstsight.reproduce.tables.lines import lines
from firstsight.reproduce.tables.sheet import Cell, Difference, Mean, Sheet, Triple
from firstsight.reproduce.tables.times import time_per_sample, training_time


def two_seeds() -> list[RunResult]:
    return [a_result(seed=0, rows=[a_row(share=0.2)]), a_result(seed=1, rows=[a_row(share=0.4)])]


def test_the_papers_figures_stand_beside_ours() -> None:
    assert paper_figure("cub", "phe", 12) == (36.4, 55.8, 27.0)
    assert paper_figure("cub", "phe-paper", 16) == (37.6, 57.4, 27.6)
    assert paper_figure("cub", "phe, closed-set", 12) is None
    assert paper_figure("mini", "phe", 12) is None
    assert paper_in_order("cub", "phe", "bursty") is None
    assert paper_in_order("cub", "phe", "fixed") == paper_figure("cub", "phe", 12)
    assert paper_found("cub", "phe", 16) == 318
    assert paper_found("pets", "phe", 16) is None
    assert paper_deviation("cub", "phe") == (0.17, 1.58, 0.98)
    assert paper_minutes("cub", "smile") == 127.7
    assert isnan(paper_minutes("moths", "phe"))


def test_of_other_shares_the_paper_has_all_alone() -> None:
    figures = paper_figure("cub", "phe", 12, share=25)
    assert figures is not None
    assert figures[0] == 21.2
    assert isnan(figures[1])


def test_means_and_deviations_are_over_seeds() -> None:
    (line,) = lines(two_seeds())
    assert line.means == pytest.approx((30, 30, 30))
    assert line.deviations == pytest.approx((10, 10, 10))  # of the population, as in the paper
    assert (line.runs, line.orders, line.categories) == (2, 10, 5)
    assert line.paper == (36.4, 55.8, 27.0)
    assert line.more["mutual_information"] == pytest.approx(75)
    assert isnan(line.more["false_births"])
    assert line.cells() == [
        "cub", "12", "phe", "random", *["30.0 ± 10.0"] * 3, "5 / 4", "2", "36.4/55.8/27.0",
    ]  # fmt: skip


def test_one_seed_has_no_deviation_and_what_is_not_there_is_a_dash() -> None:
    row = a_row("fixed", accuracy=Accuracy(0.5, 0.5, nan))
    (line,) = lines([a_result(rows=[row])])
    assert line.cells()[4:7] == ["50.0", "50.0", "-"]


def test_rules_rows_and_shares_have_lines_of_their_own() -> None:
    rows = [a_row("random x 10"), a_row("fixed"), a_row("closed-set"), a_row("offline k-means")]
    result = a_result(rows=rows, known_share=25)
    result.rows["reference"] = [a_row("random x 10")]
    found = [(line.data, line.method, line.order) for line in lines([result])]
    assert found == [
        ("cub, 25 % known", "phe", "random"),
        ("cub, 25 % known", "phe", "fixed"),
        ("cub, 25 % known", "phe, closed-set", "any"),
        ("cub, 25 % known", "phe, offline k-means", "any"),
        ("cub, 25 % known", "phe, reference rule", "random"),
    ]
    never = a_result("closed-set-ce", rows=rows, bits=None)
    assert [(line.method, line.order) for line in lines([never])] == [
        ("closed-set-ce", "any"),
        ("closed-set-ce, offline k-means", "any"),
    ]


def test_a_benchmarks_table_in_four_forms(tmp_path: Path) -> None:
    table = lines(two_seeds())
    assert markdown(table).splitlines()[2].startswith("| cub | 12 | phe | random | 30.0 ± 10.0 |")
    assert text(table).splitlines()[1].split()[:5] == ["cub", "12", "phe", "random", "30.0"]
    head, row = (line.split(",") for line in csv(table).splitlines())
    cells = dict(zip(head, row, strict=True))
    assert (cells["all"], cells["all_deviation"], cells["by_name"], cells["paper_old"]) == ("30", "10", "50", "55.80")
    assert cells["false_births"] == ""
    write_tables(table, tmp_path / "inat-2.1")
    assert {path.name for path in tmp_path.iterdir()} == {f"inat-2.1.{form}" for form in ("csv", "md", "tex", "txt")}


def test_accuracies_have_the_difference_to_the_paper() -> None:
    sheet = accuracies([*two_seeds(), a_result("offline-kmeans", rows=[a_row("offline k-means")], bits=None)])
    (row,) = sheet.rows  # k-means is beside a method, if asked
    cells = dict(zip(sheet.header, row, strict=True))
    assert str(cells["All"]) == "30.0 ± 10.0"
    assert str(cells["difference"]) == "-6.4/-25.8/+3.0"
    assert (cells["found"], cells["true"], cells["seeds"], cells["orders"]) == (5, 4, 2, 10)
    assert accuracies([]).rows == []


def test_settings_that_are_tried_have_a_column() -> None:
    results = [a_result(), a_result(varied=(("alpha", 0.5),)), a_result("closed-set-ce", bits=None)]
    sheet = accuracies(results)
    assert [row[sheet.header.index("alpha")] for row in sheet.rows] == ["0.1", "0.5"]
    assert all(line.paper is None for line in shown(results) if line.varied)
    assert settings_of(lines(results)[0], results[:1]) == []


def test_deviations_stand_beside_the_papers() -> None:
    (row,) = deviations(two_seeds()).rows
    assert str(row[4]) == "10.0/10.0/10.0"
    assert str(row[6]) == "+9.8/+8.4/+9.0"


def timed(method: str, seconds: float) -> RunResult:
    return a_result(method, inspected=True, seconds=Seconds(seconds, seconds + 1, 1.0))


def test_times_are_compared_by_their_ratio() -> None:
    sheet = training_time([timed("phe", 4.0), timed("smile", 6.0)])
    cells = [dict(zip(sheet.header, row, strict=True)) for row in sheet.rows]
    assert [each["of PHE"] for each in cells] == [1.0, 1.5]
    assert cells[1]["paper's of PHE"] == pytest.approx(127.7 / 100.22)
    assert cells[0]["hardware"] == "a machine"
    (row,) = time_per_sample([timed("phe", 3.0)]).rows
    assert row[:4] == ["cub", 100, 1498, 3.0]
    assert row[4] == pytest.approx(1000 * 3.0 / 1498)


def test_a_training_too_short_to_time_has_no_ratio() -> None:
    sheet = training_time([timed("phe", 0.0), timed("smile", 0.002)])
    assert [row[2] for row in sheet.rows] == [0.0, 0.002]
    assert all(isnan(row[4]) for row in sheet.rows if isinstance(row[4], float))


def test_a_closer_look_as_tables() -> None:
    results = [a_result(inspected=True, inspection=a_look()), a_result("slc", bits=None)]
    name = "cub, phe, 12 bits"
    assert inspected.centre_distances(results).rows == [
        [name, "before, random start", 2, 0, 1, 3, 3, 100.0],
        [name, "before, support start", 2, 1, 0, 2, 3, pytest.approx(200 / 3)],
        [name, "after training", 2, 2, 0, 0, 3, 0.0],
    ]
    assert inspected.sensitivity(results).rows[0] == ["cub", 12, "phe", "noise", 12.5, 25.0, 50.0, 1.5, 5, 4]
    assert inspected.confusion(results).rows == [
        [name, "ant", "Old", "ant", 100.0, 1],
        [name, "bee", "Old", "bee", 100.0, 1],
        [name, "fly", "New", "bee", pytest.approx(100 / 3), 3],
    ]
    assert inspected.places(results).rows[3] == [name, 4, 3.0, 3.0, "fly", 1]
    named, missed = inspected.cases(results).rows
    assert named == [name, "known, named right", 2, 100.0, 6.5, 1.5]
    assert missed[:3] == [name, "known, not named", 0]


def test_a_sheet_reads_well_and_computes_well() -> None:
    row: list[Cell] = ["cub", 12, Mean(31.64, 0.25), Triple(36.4, nan, 27), Difference(-4.76, nan, 0.04), 0.5]
    sheet = Sheet(("data", "bits", "All", "paper's", "gap", "x"), [row, ["pets", None, None, None, None, nan]], ("so",))
    assert sheet.markdown().splitlines() == [
        "| data | bits | All | paper's | gap | x |",
        "|---|---|---|---|---|---|",
        "| cub | 12 | 31.6 ± 0.2 | 36.4/-/27.0 | -4.8/-/+0.0 | 0.50 |",
        "| pets |  |  |  |  |  |",
        "",
        "so",
    ]
    head, first, second = sheet.csv().splitlines()
    assert head.startswith("data,bits,All,All deviation,paper's All,paper's Old,paper's New,gap All")
    assert first == "cub,12,31.64,0.25,36.4,,27,-4.76,,0.04,0.5"
    assert second == "pets" + "," * 10


def test_an_empty_sheet_has_its_header() -> None:
    assert Sheet(("a", "b"), []).csv() == "a,b\n"
