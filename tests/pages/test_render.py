"""Pages whatever things are called; one stylesheet that can be read in light and dark; strict templates."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError

from firstsight.cli.explain import drawn
from firstsight.core.assignments import Assignment, Candidate
from firstsight.evidence.evidence import Evidence, Near, Similar, Sum
from firstsight.pages.explanation import as_html
from firstsight.pages.render import ODD, environment, render
from webpage import Element, read_page

HOSTILE = [
    '<script>alert("x")</script> & Söhne',
    "</title></style><script>alert(1)</script>",
    "\" onerror='alert(1)' x=\"",
    "' onmouseover='alert(1)",
    "{{ 7 * 7 }}{% raise %}{# no #}",
    "<!-- --> ]]> &lt;b&gt; &#0;",
    "javascript:alert(1)",
    "half \udcff a character",
    "\x00\x1b[31m\x9b2J\r",
    "photo\u202egpj.exe",
]
ANY_NAME = st.text(st.characters(categories=("L", "M", "N", "P", "S", "Z", "C")), min_size=1, max_size=40)


def named(name: str) -> Evidence:
    """Evidence in which every name is this one."""
    return Evidence(
        image=name,
        pixels=np.zeros((8, 8, 3), dtype=np.uint8),
        answer=Assignment(name, True, False, 1, 2, Candidate(name, 3), name=name),
        sentence=f"{name}: no doubt.",
        kind="prototypes",
        similar=(Similar(name, 1, 0.5, b"picture"), Similar(name, 2, 0.4)),
        sums=(Sum(name, 2, 0.9),),
        near=(Near(name, True, 1, True, (1,), b"picture"), Near(name, False, 3, False, (2,))),
        values=(0.5, -0.1, 0.3),
    )


PLAIN = read_page(as_html([named("moth")])).shape()


def shown(name: str) -> str:
    """What of a name is to be read on a page."""
    return " ".join(ODD.sub(lambda found: found[0].encode("unicode_escape").decode(), name).split())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_text_and_no_more(name: str) -> None:
    page = read_page(as_html([named(name)]))
    assert page.shape() == PLAIN
    assert page.one("h1").text == f"Why is this {shown(name)}?"
    assert page.one("p", "file").text == shown(name)
    assert page.one("p", "sentence").text == f"{shown(name)}: no doubt."
    assert shown(name) in " ".join(page.all("img")[1]["alt"].split())


@given(ANY_NAME)
def test_any_name_at_all_leaves_the_page_as_it_is(name: str) -> None:
    page = read_page(as_html([named(name)]))
    assert page.shape() == PLAIN
    assert all(c == "\n" or not ODD.match(c) for c in page.text)


@pytest.mark.parametrize("name", HOSTILE)
def test_json_gives_back_every_name(name: str) -> None:
    (found,) = json.loads(drawn([named(name)], ".json"))["images"]
    assert (found["image"], found["category"], found["near"][0]["category"]) == (name, name, name)


def test_a_value_that_is_missing_is_an_error() -> None:
    with pytest.raises(UndefinedError, match="'cases' is undefined"):
        render("explanation.html.j2")


def test_every_template_is_whole() -> None:
    names = environment().list_templates()
    assert {"base.html.j2", "explanation.html.j2", "gallery.html.j2", "parts.html.j2", "report.html.j2"} <= {*names}
    for name in names:
        environment().get_template(name)


def made(call: str) -> Element:
    """What a part that pages share makes of hostile values."""
    page = "{% extends 'base.html.j2' %}{% import 'parts.html.j2' as parts %}{% block title %}t{% endblock %}"
    template = environment().from_string(f"{page}{{% block main %}}{call}{{% endblock %}}")
    return read_page(template.render(name=HOSTILE[0], src="data:image/jpeg;base64,").encode()).one("main")


def test_parts_a_service_can_build_on() -> None:
    badge = made("{{ parts.badge(name, true) }}").one("span", "badge")
    assert (badge.text, badge.kinds) == (f"{HOSTILE[0]} new", ["badge", "new"])
    assert made("{{ parts.badge(name, false) }}").one("span").text == f"{HOSTILE[0]} known"
    figure = made("{% call parts.figure(src, name, kind='k') %}{{ name }}{% endcall %}").one("figure", "k")
    assert figure.one("img")["alt"] == figure.one("figcaption").text == HOSTILE[0]
    card = made("{% call parts.card(none, name, name, blank='none kept') %}below{% endcall %}").one("figure", "card")
    assert (card.one("div", "blank").text, card.one("figcaption").text) == ("none kept", f"{HOSTILE[0]}below")
    for value, width in ((1.5, "75.0"), (-1, "0.0")):
        bar = made(f"{{{{ parts.similarity_bar({value}, 2) }}}}")
        assert (bar.text, bar.all("rect")[1]["width"]) == (f"{value:.2f}", width)


def test_colours_keep_their_contrast_in_light_and_dark() -> None:
    """AA of WCAG: 4.5 to 1 for every tone that text is written in, on everything it is written on."""
    style = files("firstsight.pages").joinpath("static", "firstsight.css").read_text()
    light, dark = (dict(re.findall(r"--(\w+): (#\w{6})", part)) for part in style.split("@media")[:2])
    for tones in (light, dark):
        for tone in ("ink", "soft", "found", "low"):
            for ground in ("paper", "card"):
                pair = sorted((luminance(tones[tone]), luminance(tones[ground])))
                assert (pair[1] + 0.05) / (pair[0] + 0.05) >= 4.5, (tone, ground)


def luminance(colour: str) -> float:
    channels = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ (0.2126, 0.7152, 0.0722))


def test_the_style_fetches_nothing() -> None:
    style = files("firstsight.pages").joinpath("static", "firstsight.css").read_text()
    assert not re.search(r"url\(|@import|@font-face|</", style)


def test_explaining_on_a_page_needs_no_torch() -> None:
    script = "import sys, firstsight.pages.explanation; print([m for m in ('torch', 'scipy') if m in sys.modules])"
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"
