"""The map in a real browser, of 100,000 images: drawn, moved over, chosen from by lasso, key and finger."""

from __future__ import annotations

import json
import math
import re
import runpy
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from browsers import PHONE, chromium, looking
from playwright.sync_api import Browser, Page
from served import behind_a_socket, running

from firstsight.evidence import mapped
from firstsight.model.model import Model
from firstsight.serve.service import Service
from programs import needs

pytestmark = [pytest.mark.slow, needs("chromium")]

IMAGES, CATEGORIES = 100_000, 10_000
BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "map.py"
PLACED = ("homes", "flags", "authors")


@pytest.fixture(scope="module")
def many(tmp_path_factory: pytest.TempPathFactory) -> tuple[Model, Path]:
    """A model and a register of very many images, whose map is laid out by few of them: that is soon done."""
    model, path = runpy.run_path(str(BENCHMARK))["many"](tmp_path_factory.mktemp("many"), IMAGES, CATEGORIES)
    with pytest.MonkeyPatch.context() as patched, running(model, path) as service:
        patched.setattr(mapped, "SAMPLE", 300)
        service.map.lay_out(service.view())
    return model, path


@pytest.fixture(scope="module")
def service(many: tuple[Model, Path]) -> Iterator[Service]:
    with running(*many) as made:
        yield made


@pytest.fixture(scope="module")
def address(service: Service) -> Iterator[str]:
    with behind_a_socket(service) as found:
        yield found


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as opened:
        yield opened


@contextmanager
def mapped_out(browser: Browser, address: str, **how: Any) -> Iterator[Page]:
    """The page, drawn."""
    with looking(browser, address, **{"viewport": {"width": 1280, "height": 800}, **how}) as page:
        page.set_default_timeout(60_000)
        page.goto("/map")
        page.wait_for_selector("canvas[data-drawn]")
        yield page


def around(page: Page, across: float, down: float, width: float) -> None:
    """Draw a lasso: a circle, in parts of the canvas."""
    box = page.locator("canvas").bounding_box()
    assert box is not None
    middle = box["x"] + across * box["width"], box["y"] + down * box["height"]
    steps = [(math.cos(i / 8 * math.pi), math.sin(i / 8 * math.pi)) for i in range(16)]
    for i, (x, y) in enumerate(steps):
        page.mouse.move(middle[0] + x * width * box["width"], middle[1] + y * width * box["height"])
        if i == 0:
            page.mouse.down()
    page.mouse.up()


def tones(page: Page) -> int:
    """How many colours there are on the canvas."""
    count: int = page.evaluate(
        """() => {
          const canvas = document.querySelector("canvas"), {width, height} = canvas;
          return new Set(new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer)).size;
        }"""
    )
    return count


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_images_are_drawn(browser: Browser, address: str, scheme: str) -> None:
    with mapped_out(browser, address, color_scheme=scheme) as page:
        assert page.get_attribute("canvas", "data-drawn") == str(IMAGES)
        assert "100,000 images of 10,000 categories" in page.inner_text("#map-state")
        assert tones(page) > 1000


def test_a_lasso_is_one_edit_and_one_undo(browser: Browser, address: str, service: Service) -> None:
    before = service.view()
    with mapped_out(browser, address) as page:
        page.keyboard.press("l")
        around(page, 0.5, 0.5, 0.1)
        said = re.match(r"([\d,]+) images of ([\d,]+) categor", page.inner_text("#map-chosen"))
        assert said is not None
        chosen = int(said[1].replace(",", ""))
        assert chosen > 100
        page.click("[data-verb=move]")
        page.fill("#map-dialog input", "known moth 1")
        page.keyboard.press("Enter")
        page.wait_for_selector("#undo :text('Moved')")
        [edit] = service.view().events(before.last)
        assert (edit.kind, len(edit.event.images)) == ("Moved", chosen)  # type: ignore[union-attr]
        page.wait_for_selector("#map-legend li:first-child :text('known moth 1')")
        page.keyboard.press("u")
        page.wait_for_selector("#undo :text('Took back')")
    after, then = service.view().catalogue.state(), before.catalogue.state()
    assert service.view().last == before.last + 2
    assert all(after[name] == then[name] for name in PLACED)


def test_near_there_are_thumbnails_and_not_too_many(browser: Browser, address: str) -> None:
    asked: list[str] = []
    with mapped_out(browser, address) as page:
        page.on("request", lambda request: asked.append(request.url))
        for _ in range(6):
            page.click("[data-tool=in]")
        page.wait_for_load_state("networkidle")
        thumbnails = [each for each in asked if "/thumbnail" in each]
        assert 0 < len(thumbnails) <= 200 * 7


def test_everything_by_keyboard(browser: Browser, address: str) -> None:
    with mapped_out(browser, address) as page:
        page.focus("canvas")
        for key in ("+", "+", "ArrowLeft", "ArrowRight", "-", "a"):
            page.keyboard.press(key)
        assert "images of" in page.inner_text("#map-chosen")
        page.keyboard.press("Escape")
        page.wait_for_selector("#map-bar", state="hidden")
        for key in ("ArrowUp", "ArrowDown", *"++++"):
            page.keyboard.press(key)
        page.wait_for_selector("#map-card:not([hidden])")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"/images/\d+$"))


def test_the_legend_finds_a_category_and_shows_it(browser: Browser, address: str) -> None:
    with mapped_out(browser, address) as page:
        page.fill("#map-search", "known moth 7")
        page.click("#map-legend button")
        assert page.get_attribute("#map-legend button", "aria-pressed") == "true"
        page.keyboard.press("Escape")
        page.focus("canvas")
        page.keyboard.press("a")
        assert page.inner_text("#map-chosen").endswith("of 1 category")


def test_an_empty_register_says_so_and_draws_what_comes(
    browser: Browser, many: tuple[Model, Path], tmp_path: Path
) -> None:
    features = np.random.default_rng(0).standard_normal((9, many[0].decision.width)).astype(np.float32)
    with (
        running(many[0], tmp_path / "empty.db") as empty,
        behind_a_socket(empty) as address,
        looking(browser, address) as page,
    ):
        page.goto("/map")
        page.wait_for_selector("text=There are no images yet")
        assert page.is_hidden("canvas")
        for answer in empty.discover(list(features)):
            answer.result()
        page.wait_for_selector("canvas[data-drawn='9']", timeout=60_000)


def test_by_finger_on_a_phone(browser: Browser, address: str) -> None:
    with mapped_out(browser, address, viewport=PHONE, has_touch=True) as page:
        wide = page.evaluate("document.documentElement.scrollWidth")
        assert wide <= 390
        x, y = json.loads(page.evaluate(SOMEWHERE))
        page.touchscreen.tap(x, y)
        page.wait_for_selector("#map-card.open")


SOMEWHERE = """() => {
  const canvas = document.querySelector("canvas"), box = canvas.getBoundingClientRect(), {width, height} = canvas;
  const pixels = new Uint32Array(canvas.getContext("2d").getImageData(0, 0, width, height).data.buffer);
  const paper = pixels[0], half = (height >> 1) * width;
  const at = half + pixels.subarray(half).findIndex((pixel) => pixel !== paper);
  const part = box.width / width;
  return JSON.stringify([box.left + (at % width) * part, box.top + Math.floor(at / width) * part]);
}"""
