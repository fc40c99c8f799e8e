"""What is on figures, and that it is drawn: parsed, every series and point is there."""

from __future__ import annotations

import io
import subprocess
import sys
from math import nan

import numpy as np
import pytest
from PIL import Image
from run_results import a_look, a_result, a_row

from drawn import read_svg
from firstsight.core.errors import SettingsError
from firstsight.reproduce.figures import style
from firstsight.reproduce.figures.accuracy import by_method, deviation_bars, over, over_setting, stream
from firstsight.reproduce.figures.charts import Chart, Kind, Map, Matrix, Panel, Series
from firstsight.reproduce.figures.drawing import draw
from firstsight.reproduce.figures.inspected import case_bars, centre_bars, confusion_view, place_map, sensitivity_bars
from firstsight.reproduce.figures.times import time_bars
from firstsight.reproduce.results import Seconds

CHART = Chart(
    "ours & the paper's",
    [
        Panel("a", "steps", ["1", "2"], [Series("cub", [1, 2]), Series("cub", [2, nan], paper=True)]),
        Panel("b", "", ["1", "2"], [Series("pets", [3, 4], [0.5, nan]), Series("cub", [1, 2])]),
    ],
)


def test_every_series_is_drawn_and_named_once() -> None:
    found = read_svg(draw(CHART).svg)
    assert found.title == "ours & the paper's"
    for text in ("a", "b", "steps", "cub", "cub, the paper's", "pets"):
        assert found.texts.count(text) == 1, text
    counts = {name: len(points) for name, points in found.marks.items()}
    assert counts == {"panel0-series0": 2, "panel0-series1": 1, "panel1-series0": 2, "panel1-series1": 2}


def test_points_lie_where_their_values_are() -> None:
    """Up is more, and the same value is as high in every series of a panel."""
    marks = read_svg(draw(CHART).svg).marks
    ours, theirs = marks["panel0-series0"], marks["panel0-series1"]
    assert ours[0][0] < ours[1][0]
    assert ours[0][1] > ours[1][1]  # SVG counts from above
    assert theirs[0].tolist() == pytest.approx([ours[0][0], ours[1][1]], abs=0.1)


def test_the_same_figure_is_the_same_bytes() -> None:
    first, again = draw(CHART), draw(CHART)
    assert first.svg == again.svg
    assert first.png == again.png
    assert first.pdf == again.pdf
    assert first.pdf.startswith(b"%PDF-")
    assert first.svg == draw(CHART).svg, "whatever was drawn of it before"
    assert b"<dc:date>" not in first.svg


def test_the_png_has_twice_the_points_of_the_svg() -> None:
    drawn = draw(CHART)
    width = float(drawn.svg.decode().split('width="', 1)[1].split("pt", 1)[0])
    with Image.open(io.BytesIO(drawn.png)) as image:
        assert image.width == pytest.approx(2 * width, abs=2)
        assert len(image.convert("RGB").getcolors(1 << 20) or []) > 5  # something was drawn


@pytest.mark.parametrize("kind", ["lines", "points", "bars"])
def test_gaps_and_empty_series_are_no_obstacle(kind: Kind) -> None:
    labels = [f"a label of {i}" for i in range(9)]
    series = [Series("gaps", [nan, 1, nan, 2, nan, nan, -3, 1e4, nan]), Series("nothing", [nan] * 9)]
    found = read_svg(draw(Chart("x", [Panel("p", "", labels, series, kind)])).svg)
    assert set(labels) <= set(found.texts)
    if kind != "bars":
        assert len(found.marks["panel0-series0"]) == 4


def test_bars_of_the_paper_are_hollow() -> None:
    series = [Series("cub", [1.0]), Series("cub", [2.0], paper=True)]
    svg = draw(Chart("x", [Panel("p", "", ["All"], series, "bars")])).svg.decode()
    ours, theirs = (svg.split(f'id="panel0-series{i}-bar0"', 1)[1].split("/>", 1)[0] for i in (0, 1))
    assert f"fill: {style.COLOURS[0]}" in ours
    assert f"fill: {style.PAPER}" in theirs
    assert f"stroke: {style.COLOURS[0]}" in theirs


def test_many_panels_and_many_series_fit() -> None:
    series = [Series(f"series {i}", [1.0 + i, 2.0]) for i in range(9)]
    found = read_svg(draw(Chart("x", [Panel(f"p{i}", "", ["1", "2"], series) for i in range(5)])).svg)
    assert len(found.marks) == 45


def test_a_matrix_has_a_cell_for_every_share() -> None:
    shares = np.array([[1.0, 0.0, 0.0], [0.0, 0.5, 0.5]])
    found = read_svg(draw(Matrix("m", shares, (1, 1))).svg)
    assert len(found.marks["cells"]) == 3 * 4  # corners
    assert "3 categories found, known ones first" in found.texts


def test_a_map_has_every_point() -> None:
    found = read_svg(draw(Map("s", {"a": np.zeros((2, 2)), "b": np.ones((1, 2)), "none": np.zeros((0, 2))})).svg)
    assert {name: len(points) for name, points in found.marks.items()} == {"group0": 2, "group1": 1, "group2": 0}


def test_every_colour_stands_out_and_no_two_series_look_alike() -> None:
    """At least 3 to 1 against the page, as WCAG asks of graphics."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    for colour in style.COLOURS:
        assert 1.05 / (luminance(colour) + 0.05) >= 3, colour
    assert len(set(style.COLOURS)) == len(set(style.MARKERS)) == len(set(map(str, style.DASHES))) == 7
    assert len({str(style.look(number)) for number in range(21)}) == 21


# how colours look without one kind of cone (Machado and others, 2009), of linear red, green and blue
CONES = {
    "protanopia": [[0.1523, 1.0526, -0.2049], [0.1145, 0.7863, 0.0992], [-0.0039, -0.0481, 1.0520]],
    "deuteranopia": [[0.3673, 0.8606, -0.2280], [0.2801, 0.6725, 0.0474], [-0.0118, 0.0429, 0.9689]],
    "tritanopia": [[1.2555, -0.0767, -0.1788], [-0.0784, 0.9308, 0.1476], [0.0047, 0.6914, 0.3039]],
}
TO_XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


@pytest.mark.parametrize("kind", CONES)
def test_colours_are_told_apart_without_one_kind_of_cone(kind: str) -> None:
    """By more than ten units of CIELAB, where about two are the least an eye can tell."""
    codes = np.array([[int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)] for colour in style.COLOURS])
    linear = np.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)
    seen = np.clip(linear @ np.array(CONES[kind]).T, 0, 1) @ TO_XYZ.T / [0.9505, 1, 1.089]
    bent = np.where(seen > 0.008856, np.cbrt(seen), 7.787 * seen + 16 / 116)
    lab = np.stack([116 * bent[:, 1], 500 * (bent[:, 0] - bent[:, 1]), 200 * (bent[:, 1] - bent[:, 2])], axis=1)
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2) + 100 * np.eye(len(lab))
    assert apart.min() > 10


def test_what_figures_of_accuracy_show() -> None:
    results = [a_result(seed=0, rows=[a_row(share=0.2)]), a_result(seed=1, rows=[a_row(share=0.4)])]
    chart = by_method(results)
    assert chart is not None
    (panel,) = chart.panels
    assert panel.labels == ["phe"]
    assert [(each.title, *each.values) for each in panel.series] == [
        ("All", pytest.approx(30)),
        ("All, the paper's", 36.4),
        ("Old", pytest.approx(30)),
        ("Old, the paper's", 55.8),
        ("New", pytest.approx(30)),
        ("New, the paper's", 27.0),
    ]
    bars = deviation_bars(results)
    assert bars is not None
    assert bars.panels[0].series[1].values == (0.17, 1.58, 0.98)


def test_what_is_tried_is_drawn_over_its_values() -> None:
    results = [a_result(varied=(("alpha", 0.5),), rows=[a_row(share=0.4)]), a_result()]
    chart = over_setting("alpha", "alpha")(results)
    assert chart is not None
    assert chart.panels[0].labels == ["0.1", "0.5"]
    assert list(chart.panels[0].series[0].values) == pytest.approx([25, 40])
    found = chart.panels[1]
    assert (found.title, found.zero) == ("categories found", True)


def test_a_step_without_a_run_is_a_gap() -> None:
    chart = over("bits", lambda line, results: line.bits)([a_result(bits=12), a_result("smile", bits=16)])
    assert chart is not None
    phe = next(each for each in chart.panels[0].series if each.title == "cub, phe")
    assert np.isnan(phe.values).tolist() == [False, True]


def test_the_course_of_a_stream_is_averaged_over_seeds() -> None:
    results = [a_result(seed=i, rows=[a_row("fixed", share=share)]) for i, share in enumerate((0.2, 0.4))]
    chart = stream(results)
    assert chart is not None
    assert list(chart.panels[0].series[0].values) == pytest.approx([30] * 20)
    assert chart.panels[0].labels[:2] == ["5", "10"]


def test_what_figures_of_a_closer_look_show() -> None:
    results = [a_result(inspected=True, inspection=a_look())]
    centres, changes, cases = centre_bars(results), sensitivity_bars(results), case_bars(results)
    assert centres is not None
    assert changes is not None
    assert cases is not None
    assert [each.name for each in centres.panels[0].series][-1] == "after training"
    assert list(changes.panels[1].series[0].values) == [50.0, 0.0]
    assert [each.name for each in cases.panels[0].series] == ["known, named right"]  # no group without images
    view, plane = confusion_view(results), place_map(results)
    assert view is not None
    assert plane is not None
    assert view.shares.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], pytest.approx([0, 1 / 3, 1 / 3, 1 / 3])]
    assert view.known == (2, 2)
    assert {name: len(points) for name, points in plane.groups.items()} == {
        "known, found known": 2,
        "new, found new": 1,
        "taken for the other": 1,
    }


def test_times_are_drawn_as_ratios() -> None:
    results = [a_result(m, inspected=True, seconds=Seconds(s, s, 1.0)) for m, s in (("phe", 2.0), ("smile", 3.0))]
    chart = time_bars(results)
    assert chart is not None
    assert [each.values[0] for each in chart.panels[0].series] == pytest.approx([1.5, 127.7 / 100.22])


@pytest.mark.parametrize(
    "figure",
    [
        by_method, deviation_bars, stream, over_setting("alpha", "alpha"), time_bars, centre_bars, sensitivity_bars,
        case_bars, confusion_view, place_map,
    ],
)  # fmt: skip
def test_without_runs_there_is_no_figure(figure: object) -> None:
    assert callable(figure)
    assert figure([]) is None


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(style, "find_spec", lambda name: None)
    with pytest.raises(SettingsError, match="not installed") as caught:
        style.require_matplotlib()
    assert "firstsight[plots]" in caught.value.remedy


def test_tables_and_what_is_on_figures_need_neither_matplotlib_nor_torch() -> None:
    script = (
        "import sys, firstsight.reproduce.catalogue, firstsight.reproduce.run_files\n"
        "print([name for name in ('matplotlib', 'torch', 'sklearn') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
