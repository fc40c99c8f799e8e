"""Drawings, charts and sheets: what is asked for is on them, and both forms show the same."""

from __future__ import annotations

import io
from math import isnan, nan
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from firstsight.reproduce.charts import HEIGHT, TOP, Kind, Panel, Series, chart, matrix, scatter
from firstsight.reproduce.drawing import SERIES, TONES, Anchor, Drawing, Shape
from firstsight.reproduce.measured import time_bars, training_time
from firstsight.reproduce.sheets import Cell, Difference, Mean, Sheet, Triple


def opened(drawing: Drawing) -> Image.Image:
    return Image.open(io.BytesIO(drawing.png())).convert("RGB")


def test_both_forms_show_the_same_shape() -> None:
    drawing = Drawing(40, 20, "a <box> & a line")
    drawing.box(10, 5, 20, 10, "blue")
    drawing.line([(0, 2), (40, 2)], "red", 2, (4, 4))
    image = opened(drawing)
    assert image.size == (80, 40)
    assert image.getpixel((40, 20)) == (0, 114, 178)
    assert image.getpixel((2, 20)) == (255, 255, 255)
    assert image.getpixel((4, 4)) == (213, 94, 0)  # drawn,
    assert image.getpixel((12, 4)) == (255, 255, 255)  # and not
    root = ElementTree.fromstring(drawing.svg())
    assert root.get("aria-label") == "a <box> & a line"
    assert "M10 5L30 5L30 15L10 15z" in drawing.svg()
    assert 'stroke-dasharray="4 4"' in drawing.svg()
    assert "prefers-color-scheme:dark" in drawing.svg()


@pytest.mark.parametrize(("anchor", "sign"), [("start", 1), ("end", -1)])
def test_texts_lie_where_they_are_anchored(anchor: Anchor, sign: int) -> None:
    """A text goes right from its start, upwards when turned, and ends at its end."""
    for turned in (False, True):
        drawing = Drawing(200, 200, "text")
        drawing.text(100, 100, "long enough", anchor, turned=turned)
        box = Image.eval(opened(drawing).convert("L"), lambda value: 255 - value).getbbox()
        assert box is not None
        begin, end = (200 - box[3], 200 - box[1]) if turned else (box[0] - 200, box[2] - 200)
        near, far = (begin, end) if sign > 0 else (-end, -begin)
        assert -4 <= near < 10 < 60 < far
        across = (box[0] + box[2]) / 2 if turned else (box[1] + box[3]) / 2
        assert across == pytest.approx(200, abs=8)


@pytest.mark.parametrize("ground", [0, 1])
def test_every_tone_stands_out(ground: int) -> None:
    """At least 3 to 1 against the page, light and dark, as WCAG asks of graphics; text 4.5 to 1."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    page = luminance(TONES["paper"][ground])
    for tone in SERIES:
        own = luminance(TONES[tone][ground])
        contrast = (max(own, page) + 0.05) / (min(own, page) + 0.05)
        assert contrast >= (4.5 if tone == "ink" else 3), tone


@pytest.mark.parametrize("kind", ["lines", "points", "bars"])
@given(values=st.lists(st.one_of(st.just(nan), st.floats(-1e4, 1e4)), min_size=1, max_size=30))
def test_whatever_is_drawn_is_inside_its_panel(kind: Kind, values: list[float]) -> None:
    drawing = chart("x", [Panel("x", "y", [str(i) for i in range(len(values))], [Series("s", values)], kind)])
    heights = [y for part in drawing.parts if isinstance(part, Shape) and part.tone == "blue" for _, y in part.points]
    key = drawing.height - 14
    assert all(TOP - 7 <= y <= TOP + HEIGHT + 7 or abs(y - key) < 7 for y in heights)


def test_a_series_looks_the_same_in_every_panel_and_the_papers_is_hollow() -> None:
    ours, theirs = Series("cub", [1, 2]), Series("cub", [2, nan], paper=True)
    other = Series("pets", [3, 4], [0.5, nan])
    svg = chart("x", [Panel("a", "", ["1", "2"], [ours, theirs]), Panel("b", "", ["1", "2"], [other, ours])]).svg()
    assert svg.count(">cub<") == svg.count(">pets<") == svg.count(">cub, the paper&#x27;s<") == 1
    assert 'class="paper f" d=' in svg  # the inside of what is hollow
    assert "green" not in svg


def test_matrices_and_maps_have_everything_on_them() -> None:
    view = matrix("m", [(0, 0, 1.0), (1, 2, 0.5)], (2, 3), (1, 1)).svg()
    assert view.count('class="blue f"') == 2
    assert 'fill-opacity="0.57"' in view or 'fill-opacity="0.58"' in view
    assert scatter("s", [("a", [(0, 0), (1, 1)]), ("b", [(2, 2)])]).svg().count("<path") == 5  # with two keys


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


def test_a_training_too_short_to_time_has_no_ratio() -> None:
    results = [
        {"data": "cub", "method": method, "hardware": "fast", "report": {"seconds": seconds}}
        for method, seconds in (("phe", 0.0), ("smile", 0.002))
    ]
    assert [[name, seconds] for _, name, seconds, *_ in training_time(results).rows] == [["phe", 0.0], ["smile", 0.002]]
    assert all(isnan(row[4]) for row in training_time(results).rows if isinstance(row[4], float))
    assert time_bars(results) is not None


def test_an_empty_sheet_has_its_header() -> None:
    assert Sheet(("a", "b"), []).csv() == "a,b\n"
