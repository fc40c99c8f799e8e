"""The site: what is done to pages on their way there, and the whole of it in a browser without a network."""

from __future__ import annotations

import base64
import json
import subprocess
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect, sync_playwright

from programs import find, needs
from tools.site import guests, notebooks, outside

ROOT = Path(__file__).parents[2]


def test_links_hold_where_a_page_lies_on_the_site() -> None:
    page = "[log](../reproductions/LOG.md#one) [a](../notebooks/a.ipynb) ![b](images/b.svg) [c](https://c.org) [d](#d)"
    moved = "[log](reproductions/LOG.md#one) [a](notebooks/a.md) ![b](images/b.svg) [c](https://c.org) [d](#d)"
    assert guests.relinked(page, Path("docs/page.md")) == moved
    assert guests.relinked("[a](../docs/a.md)", Path("notebooks/b.ipynb")) == "[a](../a.md)"
    assert guests.relinked("[a](docs/a.md#b)", Path("CHANGELOG.md")) == "[a](a.md#b)"


def test_what_pages_link_to_comes_along(tmp_path: Path) -> None:
    for name, text in {
        "docs/a.md": "[log](../log.md) [gone](../gone.md) [b](b.md)",
        "docs/b.md": "",
        "log.md": "[table](results/t.csv)",
        "results/t.csv": "1,2",
        "lonely.md": "",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    assert guests.invited(tmp_path) == [Path("log.md"), Path("results/t.csv")]
    assert [guests.home_of(uri, tmp_path) for uri in ("a.md", "log.md")] == [Path("docs/a.md"), Path("log.md")]


def test_a_notebook_is_a_page(tmp_path: Path) -> None:
    picture = {"data": {"image/png": base64.b64encode(b"png").decode()}}
    cells = [
        {"cell_type": "markdown", "source": ["# A\n", "text"]},
        {"cell_type": "code", "source": ["print(1)"], "outputs": [{"text": ["1\n"]}, picture]},
    ]
    (tmp_path / "a.ipynb").write_text(json.dumps({"cells": cells}))
    made = notebooks.page(tmp_path / "a.ipynb", "notebooks/a.md")
    assert made == {
        "notebooks/a.md": "# A\ntext\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n"
        "![What the code above shows](a-1.png)\n",
        "notebooks/a-1.png": b"png",
    }


@pytest.mark.parametrize(
    ("text", "fetched"),
    [
        ('<img alt="a" src="https://a.org/b.png">', ["https://a.org/b.png"]),
        ("<script src=//a.org/b.js></script>", ["//a.org/b.js"]),
        ('<link rel="stylesheet" href="https://a.org/b.css">', ["https://a.org/b.css"]),
        ("<style>@import url('https://a.org/b.css')</style>", ["https://a.org/b.css"]),
        ('<a href="https://a.org">a</a> <img src="b.png"> <script src="../c.js"></script>', []),
    ],
)
def test_what_a_browser_would_fetch_is_found(text: str, fetched: list[str], tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(text)
    assert outside.requests(tmp_path) == [f"a.html: {address}" for address in fetched]


@needs("mkdocs")
def test_equations_become_mathml() -> None:
    from tools.site.equations import rendered

    page = rendered("$`\\mathcal L_p`$ of\n\n```math\n\\mathbf z = \\frac{1}{2}\n```\n\n```sh\n$ echo\n```\n")
    assert page.startswith('<span><math xmlns="http://www.w3.org/1998/Math/MathML" display="inline">')
    assert page.count("</math>") == 2
    assert "ℒ" in page
    assert "𝐳" in page
    assert "```sh\n$ echo\n```" in page


@needs("mkdocs")
def test_docstrings_become_markdown() -> None:
    from tools.site.docstrings import as_markdown

    made = as_markdown("A <b>, `<c>`.\n\n>>> 1 < 2\nTrue\n\nD.")
    assert made == "A &lt;b>, `<c>`.\n\n\n```pycon\n>>> 1 < 2\nTrue\n```\n\nD."


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    subprocess.run(["mkdocs", "build", "--strict", "--site-dir", folder], cwd=ROOT, check=True)
    return folder


def opened(page: Page, site: Path, name: str) -> list[str]:
    """What a page asks for on its way, and what goes wrong in it."""
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("pageerror", lambda error: seen.append(f"error: {error}"))
    page.on("requestfailed", lambda request: seen.append(f"failed: {request.url}"))
    page.goto((site / name).as_uri())
    page.wait_for_load_state("networkidle")
    return [each for each in seen if not each.startswith((site.as_uri(), "data:", "blob:", "about:"))]


@pytest.mark.slow
@needs("mkdocs")
@needs("chromium")
def test_the_site_is_whole_as_files_and_asks_nobody(site: Path) -> None:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find("chromium"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 390, "height": 800})
        for name in ("index.html", "method.html", "api.html", "notebooks/photographs.html", "results.html"):
            assert opened(page, site, name) == [], name
            assert page.evaluate("document.documentElement.scrollWidth") <= 390, f"{name} is wider than a phone"
            broken = "[...document.images].filter(each => each.complete && !each.naturalWidth).map(each => each.src)"
            assert page.evaluate(broken) == [], name
        page.goto((site / "method.html").as_uri())
        assert page.locator("math").count() > 20
        page.set_viewport_size({"width": 1280, "height": 800})
        page.goto((site / "index.html").as_uri())
        page.locator("input.md-search__input").click()
        page.keyboard.type("camera traps")
        expect(page.locator(".md-search-result__item").first).to_be_visible(timeout=20_000)
        browser.close()
