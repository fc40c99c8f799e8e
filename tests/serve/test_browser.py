"""The pages in a real browser: what people do with them, by mouse and by keyboard. They follow by themselves."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("playwright", reason="needs playwright")

from browsers import PHONE, chromium, looking
from fastapi.testclient import TestClient
from playwright.sync_api import Browser, FilePayload, Page, Route, expect
from served import asked, behind_a_socket, jpeg, running, sent

from firstsight.model.folder import load_model
from firstsight.model.model import Model
from firstsight.serve.service import Service
from programs import needs

pytestmark = needs("chromium")


@pytest.fixture(scope="module")
def model(sure_model: Path) -> Model:
    return load_model(sure_model, "cpu")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with chromium() as browser:
        yield browser


@pytest.fixture
def service(model: Model, tmp_path: Path) -> Iterator[Service]:
    with running(model, tmp_path / "colours.db") as service:
        yield service


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with asked(service) as client:
        yield client


@pytest.fixture
def page(browser: Browser, service: Service) -> Iterator[Page]:
    with behind_a_socket(service) as address, looking(browser, address) as page:
        yield page


@pytest.fixture
def full(client: TestClient, page: Page) -> Page:
    """new-1 of three reds, new-2 of two whites, new-3 of a yellow, and a black."""
    counts = {"red": 3, "white": 2, "yellow": 1, "black": 1}
    sent(client, *((f"{colour}-{i}.jpg", jpeg(colour, i)) for colour, many in counts.items() for i in range(many)))
    return page


def file(name: str, content: bytes, kind: str = "image/jpeg") -> FilePayload:
    return {"name": name, "mimeType": kind, "buffer": content}


def files(*colours: str) -> list[FilePayload]:
    return [file(f"{colour}.jpg", jpeg(colour, i)) for i, colour in enumerate(colours)]


def drop(page: Page, *colours: str) -> None:
    """Files dropped from outside, as a browser tells of them."""
    given = [[each["name"], list(each["buffer"])] for each in files(*colours)]
    page.evaluate(
        """(given) => {
          const carried = new DataTransfer();
          for (const [name, bytes] of given) {
            carried.items.add(new File([new Uint8Array(bytes)], name, { type: "image/jpeg" }));
          }
          const tell = (kind) => document.body.dispatchEvent(
            new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
          tell("dragenter"); tell("dragover"); tell("drop");
        }""",
        given,
    )


def marks(page: Page) -> list[str]:
    return page.locator("#wall .mark").all_inner_texts()


def test_an_image_is_added_and_appears(page: Page) -> None:
    """The one that is in the default suite: upload, watch it appear, look at it, rename its category, undo."""
    page.goto("/")
    expect(page.get_by_role("heading", name="Show it some images")).to_be_visible()
    expect(page.locator("#live")).to_have_text("live")
    page.locator(".top input[data-upload]").set_input_files(files("black", "red"))
    expect(page.locator("#wall .tile")).to_have_count(2)
    assert marks(page) == ["new-1", "black"]
    expect(page.locator("#empty")).to_have_count(0)
    expect(page.locator("#uploads")).to_contain_text("2 images answered; 1 founded a new category.")
    page.locator("#wall .mark", has_text="new-1").click()
    page.get_by_role("button", name="Rename").click()
    page.keyboard.type("Scarlet")
    page.keyboard.press("Enter")
    expect(page.locator("h1")).to_have_text("Scarlet")
    expect(page.locator("#undo")).to_contain_text("new-1 is called Scarlet")
    page.keyboard.press("u")
    expect(page.locator("h1")).to_have_text("new-1")


@pytest.mark.slow
def test_images_are_dropped_and_what_is_refused_is_said(page: Page) -> None:
    page.goto("/overview")
    page.locator(".top input[data-upload]").set_input_files(
        [*files("white"), file("broken.jpg", b"no image"), file("notes.txt", b"words", "text/plain")]
    )
    expect(page.locator("#uploads")).to_contain_text("1 image answered; 1 founded a new category.")
    expect(page.locator("#uploads li", has_text="broken.jpg")).to_be_visible()
    expect(page.locator("#uploads li", has_text="notes.txt: is no image")).to_be_visible()
    page.goto("/")
    drop(page, "white", "white")  # the first was here before
    expect(page.locator("#uploads")).to_contain_text("2 images answered; 1 had been here before.")
    expect(page.locator("#wall .tile")).to_have_count(2)


@pytest.mark.slow
def test_what_others_send_appears_by_itself(page: Page, client: TestClient) -> None:
    page.goto("/")
    expect(page.locator("#live")).to_have_text("live")
    sent(client, ("a.jpg", jpeg("red")))
    expect(page.locator("#wall .tile")).to_have_count(1)
    sent(client, ("b.jpg", jpeg("green")))
    expect(page.locator("#wall .tile")).to_have_count(2)
    assert marks(page) == ["green", "new-1"]
    expect(page.locator("#counts")).to_contain_text("2 images · 1 discovered category")
    client.post("/api/categories/new-1/rename", json={"name": "Scarlet"})
    expect(page.locator("#undo")).to_contain_text("new-1 is called Scarlet")


@pytest.mark.slow
def test_a_category_is_renamed_in_its_place(full: Page) -> None:
    full.goto("/categories")
    full.get_by_role("button", name="Rename new-2").click()
    expect(full.get_by_label("A name for new-2")).to_be_focused()
    full.keyboard.press("Escape")
    expect(full.get_by_label("A name for new-2")).to_be_hidden()
    full.get_by_role("button", name="Rename new-2").click()
    full.keyboard.type("<i>Snow</i>")
    full.keyboard.press("Enter")
    expect(full.locator(".bin .mark", has_text="<i>Snow</i>")).to_be_visible()
    full.get_by_role("button", name="Rename new-1").click()
    full.keyboard.type("<i>Snow</i>")  # which is taken
    full.keyboard.press("Enter")
    expect(full.locator(".notice")).to_contain_text("Snow")


@pytest.mark.slow
def test_categories_are_found_while_one_types(full: Page) -> None:
    full.goto("/categories")
    full.keyboard.press("/")
    full.keyboard.type("new-3")
    expect(full.locator(".bin")).to_have_count(1)
    assert full.url.endswith("/categories?q=new-3")
    full.reload()
    expect(full.locator(".bin")).to_have_count(1)
    full.get_by_role("searchbox").fill("")
    full.get_by_text("tentative", exact=True).first.click()
    expect(full.locator(".bin")).to_have_count(2)
    full.get_by_role("combobox").select_option("age")
    expect(full.locator(".bin .mark").first).to_have_text("new-3")


@pytest.mark.slow
def test_two_categories_are_merged_after_a_look(full: Page) -> None:
    full.goto("/categories")
    full.get_by_label("Choose new-2").check()
    expect(full.get_by_role("button", name="Merge…")).to_be_disabled()
    full.get_by_label("Choose new-3").check()
    full.get_by_role("button", name="Merge…").click()
    dialog = full.get_by_role("dialog", name="Merge")
    expect(dialog.locator(".pane")).to_have_count(2)
    expect(dialog.get_by_role("button", name="Keep new-2")).to_be_focused()
    full.keyboard.press("Enter")
    expect(full.locator(".bin .mark", has_text="new-3")).to_have_count(0)
    expect(full.locator("#undo")).to_contain_text("Merged new-3 into new-2")
    expect(full.locator("#chosen")).to_be_hidden()
    full.get_by_role("button", name="Undo").click()
    expect(full.locator(".bin .mark", has_text="new-3")).to_have_count(1)
    full.get_by_role("button", name="Redo").click()
    expect(full.locator(".bin .mark", has_text="new-3")).to_have_count(0)


@pytest.mark.slow
def test_chosen_images_are_split_off_and_moved(full: Page) -> None:
    full.goto("/categories/new-1")
    boxes = full.locator("#images input[type=checkbox]")
    boxes.nth(0).check(force=True)
    boxes.nth(2).click(modifiers=["Shift"], force=True)
    expect(full.locator("#chosen [data-count]")).to_have_text("3 images")
    boxes.nth(0).uncheck(force=True)
    full.get_by_label("What to call the new category").fill("Rose")
    full.get_by_role("button", name="Split off").click()
    expect(full.locator("#images .tile")).to_have_count(1)
    expect(full.locator("#undo")).to_contain_text("Split 2 images off as Rose")
    full.goto("/categories/Rose")
    full.keyboard.press("j")
    full.keyboard.press("x")
    full.get_by_label("Move to which category").fill("bl")
    expect(full.locator("#move-to option")).to_have_count(2)  # black and blue
    full.get_by_label("Move to which category").fill("blue")
    full.keyboard.press("Enter")
    expect(full.locator("#images .tile")).to_have_count(1)
    expect(full.locator("#undo")).to_contain_text("Moved 1 image to blue")
    full.keyboard.press("u")
    expect(full.locator("#images .tile")).to_have_count(2)


@pytest.mark.slow
def test_a_category_is_made_known_and_another_discarded(full: Page) -> None:
    full.goto("/categories/new-1")
    full.get_by_label("What to call it from now on").fill("Scarlet")
    full.get_by_role("button", name="Make it known").click()
    expect(full.locator("#title .kind")).to_have_text("known")
    full.goto("/categories/new-3")
    full.get_by_role("button", name="Discard").first.click()
    full.wait_for_url("**/categories")
    expect(full.locator(".bin .mark", has_text="new-3")).to_have_count(0)
    expect(full.locator("#undo")).to_contain_text("Discarded 1 image, and new-3")


@pytest.mark.slow
def test_an_image_says_why_and_is_corrected(full: Page) -> None:
    full.goto("/")
    full.locator("#wall .tile", has_text="new-3").locator(".shot").click()
    expect(full.locator(".sentence")).to_contain_text("and founded new-3")
    expect(full.get_by_role("heading", name="The nearest categories")).to_be_hidden()
    full.get_by_text("The figures behind it").click()
    expect(full.get_by_role("heading", name="The nearest categories")).to_be_visible()
    full.get_by_role("button", name="It is new-3").click()
    expect(full.locator("#answer .sum")).to_contain_text("a person says so")
    full.get_by_label("It belongs to which category").fill("new-1")
    full.keyboard.press("Enter")
    expect(full.locator("h1")).to_have_text("new-1")
    full.keyboard.press("u")
    expect(full.locator("h1")).to_have_text("new-3")
    full.keyboard.press("ArrowLeft")
    full.wait_for_url("**/images/7")


@pytest.mark.slow
def test_undo_takes_back_the_edit_that_is_seen_however_slow_the_way_back_is(full: Page) -> None:
    full.goto("/images/9")
    full.get_by_role("button", name="It is new-3").click()
    expect(full.locator("#undo")).to_contain_text("Confirmed 1 image")

    def slowly(route: Route) -> None:
        full.wait_for_timeout(700)
        route.continue_()

    full.route("**/parts/undo", slowly)
    full.get_by_label("It belongs to which category").fill("new-1")
    full.keyboard.press("Enter")
    expect(full.locator("h1")).to_have_text("new-1")
    full.keyboard.press("u")
    expect(full.locator("h1")).to_have_text("new-3")


@pytest.mark.slow
def test_review_goes_by_keyboard(full: Page, service: Service) -> None:
    full.goto("/review")
    seen: list[str] = []

    def item() -> str:
        return str(full.locator("[data-item]").get_attribute("data-item"))

    while full.locator("[data-item]").count() and not item().startswith("tentative:new-3"):
        seen.append(item())
        full.keyboard.press("s")
        expect(full.locator(f'[data-item="{seen[-1]}"]')).to_have_count(0)
    assert item() == "tentative:new-3"
    full.keyboard.press("n")
    full.keyboard.type("Lemon")
    full.keyboard.press("Enter")
    expect(full.locator("#undo")).to_contain_text("new-3 is called Lemon")
    full.keyboard.press("Escape")
    expect(full.locator('[data-item="tentative:new-3"]')).to_have_count(1)
    full.keyboard.press("Enter")  # yes, it is new
    expect(full.locator("#undo")).to_contain_text("Confirmed 1 image")
    expect(full.locator('[data-item="tentative:new-3"]')).to_have_count(0)
    expect(full.locator(".gains")).to_contain_text("confirmed 1")
    full.keyboard.press("u")
    expect(full.locator("#undo")).to_contain_text("Took back: Confirmed 1 image")
    expect(full.locator('[data-item="tentative:new-3"]')).to_have_count(1)
    assert service.view().category("Lemon").id == "new-3"


@pytest.mark.slow
@pytest.mark.parametrize("address", ["/", "/review", "/categories", "/categories/new-1", "/images/2", "/overview"])
@pytest.mark.parametrize("how", [{"viewport": PHONE}, {"color_scheme": "dark"}], ids=["phone", "dark"])
def test_every_page_fits_a_phone_and_the_dark(
    browser: Browser, service: Service, client: TestClient, address: str, how: dict[str, Any]
) -> None:
    sent(client, *((f"{i}.jpg", jpeg("red", i)) for i in range(3)))
    client.post("/api/categories/new-1/rename", json={"name": "A-name-without-an-end-" * 6})
    with behind_a_socket(service) as at, looking(browser, at, **how) as page:
        page.goto(address)
        wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert wide <= 0, "nothing is to be scrolled sideways"
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(23, 24, 26)") == ("color_scheme" in how)
        page.keyboard.press("Tab")
        expect(page.locator(":focus")).to_have_text("To the content")
        for _ in range(3):
            page.keyboard.press("Tab")
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline != "none", "where one is must be seen"


@pytest.mark.slow
def test_keys_are_told_and_lead_everywhere(full: Page) -> None:
    full.goto("/")
    full.keyboard.press("?")
    expect(full.get_by_role("dialog", name="Keys")).to_be_visible()
    full.keyboard.press("Escape")
    for key, place in (("c", "/categories"), ("r", "/review"), ("o", "/overview"), ("s", "/")):
        full.keyboard.press("g")
        full.keyboard.press(key)
        full.wait_for_url(f"**{place}")


@pytest.mark.slow
def test_all_is_found_again_after_a_restart(browser: Browser, model: Model, tmp_path: Path) -> None:
    for again in (False, True):
        with (
            running(model, tmp_path / "colours.db") as service,
            behind_a_socket(service) as address,
            looking(browser, address) as page,
        ):
            page.goto("/")
            if not again:
                page.locator(".top input[data-upload]").set_input_files(files("black", "red", "white"))
            expect(page.locator("#wall .tile")).to_have_count(3)
            wide = "each => each.decode().then(() => each.naturalWidth)"
            assert page.locator("#wall img").first.evaluate(wide) == 224


@pytest.mark.slow
def test_an_upload_waits_while_much_is_waiting(page: Page, service: Service) -> None:
    page.goto("/")
    room, service.worker.limit = service.worker.limit, 0
    page.locator(".top input[data-upload]").set_input_files(files("red"))
    expect(page.locator("#uploads")).to_contain_text("Much is waiting; going on in 1 s.")
    service.worker.limit = room
    expect(page.locator("#uploads")).to_contain_text("1 image answered; 1 founded a new category.")
    expect(page.locator("#wall .tile")).to_have_count(1)
