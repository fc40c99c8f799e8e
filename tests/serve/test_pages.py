"""The pages as they are served: what they show, in which order, and that names are text on them and no more."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from served import asked, jpeg, running, sent

from firstsight.model.folder import load_model
from firstsight.model.model import Model
from firstsight.serve.service import Service
from firstsight.serve.site import categories, category, stream
from webpage import Element, _Reader

HOSTILE = "<b>x</b> \"'&{{7*7}}"
PAGES = ("/", "/review", "/categories", "/categories/new-1", "/categories/black", "/images/2", "/overview")
NEW = ("red", "white", "yellow")


@pytest.fixture(scope="module")
def model(sure_model: Path) -> Model:
    return load_model(sure_model, "cpu")


@pytest.fixture
def service(model: Model, tmp_path: Path) -> Iterator[Service]:
    with running(model, tmp_path / "colours.db") as service:
        yield service


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with asked(service, {"Accept": "text/html"}) as client:
        yield client


@pytest.fixture
def full(client: TestClient) -> TestClient:
    """new-1 of three reds, new-2 of two whites, new-3 of a yellow, and a black."""
    counts = {"red": 3, "white": 2, "yellow": 1, "black": 1}
    sent(client, *((f"{colour}-{i}.jpg", jpeg(colour, i)) for colour, many in counts.items() for i in range(many)))
    return client


def read(client: TestClient, address: str, status: int = 200) -> Element:
    response = client.get(address)
    assert response.status_code == status, response.text
    reader = _Reader()
    reader.feed(response.text)
    (found,) = reader.open
    return found


def numbers(page: Element) -> list[int]:
    return [int(each["data-image"]) for each in page.all("figure", "tile")]


def names(page: Element) -> list[str]:
    return [each.one("a", "mark").text for each in page.all("li", "bin")]


def test_an_empty_service_says_what_to_do(client: TestClient) -> None:
    page = read(client, "/")
    assert page.one("section", "empty").one("h2").text == "Show it some images"
    assert "curl -F images=@" in page.text
    assert "--watch FOLDER" in page.text
    assert "Nothing to review yet" in read(client, "/review").text
    assert len(read(client, "/categories").all("li", "bin")) == 4  # what it was taught
    assert "0 waiting" in read(client, "/overview").text


@pytest.mark.parametrize("address", PAGES)
def test_a_page_runs_nothing_of_its_own_and_fetches_from_nowhere_else(full: TestClient, address: str) -> None:
    page = read(full, address)
    assert page.one("html")["lang"] == "en"
    assert page.one("head").one("title").text.endswith("· Firstsight")
    assert len(page.all("h1")) == 1
    assert [each["content"] for each in page.all("meta") if each.attributes.get("name") == "firstsight-token"] != [""]
    for each in page:
        assert each.tag not in ("style", "iframe", "object")
        assert each.tag != "script" or (each["src"].startswith("/static/") and each.text == "")
        assert not {name for name in each.attributes if name == "style" or name.startswith(("on", "hx-on"))}
        for name in ("src", "href", "hx-get", "data-act", "action"):
            assert re.match("/(?!/)|#|$", each.attributes.get(name) or "")
        assert each.tag != "img" or "alt" in each.attributes
        named = each.text or each.attributes.get("aria-label") or each.attributes.get("title")
        assert each.tag not in ("button", "a") or named or each.all("img")
    labelled = {each["for"] for each in page.all("label") if "for" in each.attributes}
    within = {id(each) for label in page.all("label") for each in label}
    for field in (each for each in page if each.tag in ("input", "select") and each.attributes.get("type") != "hidden"):
        own = field.attributes.get("aria-label") or field.attributes.get("id") in labelled or id(field) in within
        assert own, field


def test_the_stream_is_newest_first_and_goes_on(full: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stream, "PAGE", 3)
    page = read(full, "/")
    first = numbers(page)
    assert first == sorted(first, reverse=True)
    assert len(first) == 3
    assert page.all("figure", "tile")[0].text == "black known"
    older = read(full, page.one("a", "more")["hx-get"])
    rest = read(full, older.one("a", "more")["hx-get"])
    assert [*first, *numbers(older), *numbers(rest)] == [10, 9, 7, 6, 4, 3, 2]
    assert rest.all("a", "more") == []
    assert numbers(read(full, "/parts/stream?after=7")) == [10, 9]
    assert "7 images · 3 discovered categories" in page.text


def test_founders_are_marked(full: TestClient) -> None:
    marked = [each for each in read(full, "/").all("figure", "tile") if each.all("span", "ribbon")]
    assert [each.one("a", "mark").text for each in marked] == ["new-3", "new-2", "new-1"]


def test_categories_are_sorted_found_and_paged(full: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    assert names(read(full, "/categories?which=new")) == ["new-1"]
    assert names(read(full, "/categories")) == ["new-1", "new-2", "black", "new-3", "blue", "cyan", "green"]
    assert names(read(full, "/categories?which=tentative")) == ["new-2", "new-3"]
    assert names(read(full, "/categories?q=new&order=age")) == ["new-3", "new-2", "new-1"]
    assert names(read(full, "/categories?which=known&order=name")) == ["black", "blue", "cyan", "green"]
    assert names(read(full, "/categories?q=EW-2")) == ["new-2"]
    assert "No category is called so" in read(full, "/categories?q=nothing").text
    monkeypatch.setattr(categories, "PAGE", 2)
    page = read(full, "/categories?order=name&page=2")
    assert names(page) == ["cyan", "green"]
    assert [each["href"] for each in page.one("nav", "pages").all("a")] == [
        "/categories?order=name&page=1",
        "/categories?order=name&page=3",
    ]
    assert names(read(full, "/categories?order=name&page=99")) == ["new-3"]  # the last there is
    part = full.get("/parts/categories?order=name&page=2")
    assert part.headers["HX-Replace-Url"] == "/categories?order=name&page=2"


def test_a_category_shows_its_images_page_by_page(full: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(category, "PAGE", 2)
    page = read(full, "/categories/new-1")
    assert numbers(page) == [2, 3]
    assert numbers(read(full, page.one("a", "more")["hx-get"])) == [4]
    assert numbers(read(full, "/categories/new-1?order=newest")) == [4, 3]
    assert numbers(read(full, "/parts/images?category=new-1&shown=2&shown=3")) == [2, 3, 4]  # after an edit, as many
    assert "new-1 was founded" in page.one("ul", "history").text
    assert page.one("ul", "near-list").all("li")


def test_a_category_is_found_by_its_names(full: TestClient) -> None:
    full.post("/api/categories/new-2/rename", json={"name": "Snow White / ♀"})
    full.post("/api/categories/new-3/merge", json={"into": "new-2"})
    for name in ("Snow White / ♀", "new-2", "new-3"):
        page = read(full, f"/categories/{name}")
        assert page.one("h1").text == "Snow White / ♀"
        assert "Merged new-3 into Snow White / ♀" in page.one("ul", "history").text
    assert names(read(full, "/categories?q=snow")) == ["Snow White / ♀"]


@pytest.mark.parametrize("address", ["/categories/nothing", "/images/1", "/images/999", "/parts/merge?id=new-1"])
def test_what_is_not_there_is_said_in_words(full: TestClient, address: str) -> None:
    part = address.startswith("/parts/")
    response = full.get(address)
    assert response.status_code == (200 if part else 404)
    assert response.headers["Content-Type"].startswith("text/html")
    assert ("choose 2" if part else "To the stream").lower() in response.text.lower()


def test_an_image_says_why(full: TestClient) -> None:
    page = read(full, "/images/2")
    assert page.one("h1").text == "new-1"
    assert "the first of its kind" in page.text
    why = page.one("div", "why-part")
    part = read(full, why["hx-get"])
    assert part.one("p", "sentence").text.startswith("Image 2 came on")
    assert "figures" in part.one("summary").text
    full.post("/api/images/discard", json={"images": [3]})
    assert "was discarded" in read(full, "/images/3", 404).text


def test_a_merge_is_looked_at_first(full: TestClient) -> None:
    page = read(full, "/parts/merge?id=new-3&id=black&id=new-1")
    assert len(page.all("div", "pane")) == 3
    first, *others = page.one("div", "answers").all("button")
    assert first.text == "Keep black"  # a known one, before any of many images
    assert first["data-act"] == "/api/categories/new-3/merge"
    assert first["data-body"] == '{"also": ["new-1"], "into": "black"}'
    assert {each.text for each in others} == {"Keep new-1", "Keep new-3"}


def test_the_last_edit_can_be_undone_from_everywhere(full: TestClient) -> None:
    assert read(full, "/parts/undo").all("button") == []
    full.post("/api/categories/new-3/merge", json={"into": "new-2"})
    for address in (*PAGES, "/parts/undo"):
        page = read(full, address)
        assert "Merged new-3 into new-2" in page.text
        (button,) = [each for each in page.all("button") if "data-undo" in each.attributes]
        assert button.text == "Undo"
    full.post("/api/undo", json={"events": [11]})
    bar = read(full, "/parts/undo")
    assert bar.one("button").text == "Redo"
    assert "Took back: Merged new-3 into new-2" in bar.text
    assert full.post(bar.one("button")["data-act"], json={"event": 12}).status_code == 200
    assert "Brought back" in read(full, "/parts/undo").text


def test_review_asks_one_thing_after_the_other(full: TestClient) -> None:
    asked_before: list[str] = []
    while True:
        page = read(full, "/parts/review?" + "&".join(f"skipped={each}" for each in asked_before))
        found = page.all("article", "question")
        if not found:
            break
        (item,) = found
        assert item["data-item"] not in asked_before
        first = item.one("div", "answers").all("button")[0]
        assert first["data-key"] == "Enter"
        assert first["data-act"].startswith("/api/")
        asked_before.append(item["data-item"])
    assert any(each.startswith("tentative:") for each in asked_before)
    assert "were skipped" in page.text
    assert [each["data-unskip"] for each in page.all("button") if "data-unskip" in each.attributes] == [""]
    full.post("/api/images/confirm", json={"images": [9]})
    assert "confirmed 1" in read(full, "/review").text


def test_the_overview_counts(full: TestClient) -> None:
    full.post("/api/images/confirm", json={"images": [2, 3]})
    full.post("/api/images/move", json={"images": [9], "to": "new-1"})
    tiles = {
        each.one("dt").text: each.all("dd")[0].text for each in read(full, "/overview").one("dl", "tiles").all("div")
    }
    assert tiles["Images"] == "7"
    assert tiles["Categories found"] == "3"
    assert tiles["Share of new"] == "86 %"
    assert tiles["Left as it was"] == "67 %"  # two confirmed, one moved


@pytest.mark.parametrize("address", [*PAGES, "/parts/merge?id=new-1&id=new-2", "/parts/find?q="])
def test_names_are_text(full: TestClient, address: str) -> None:
    before = read(full, address).shape()
    full.post("/api/categories/new-1/rename", json={"name": HOSTILE})
    full.post("/api/categories/new-1/rename", json={"name": "plain"})
    full.post("/api/undo", json={})
    after = read(full, address)
    assert "<b>x</b>" not in full.get(address).text
    assert not after.all("b", "x")
    assert all(each.text != "x" for each in after.all("b"))
    assert before  # which had a shape at all
    sent(full, (f"{HOSTILE}.jpg", jpeg("red", 9)))
    assert "<b>x</b>" not in full.get("/").text


def test_whoever_may_only_read_has_no_buttons_for_more(model: Model, tmp_path: Path) -> None:
    tokens = tmp_path / "tokens"
    tokens.write_text("ann read 0123456789abcdef\nben edit fedcba9876543210\n")
    with running(model, tmp_path / "colours.db", tokens=tokens) as service:
        with asked(service, {"Authorization": "Bearer fedcba9876543210"}) as client:
            sent(client, ("red.jpg", jpeg("red")))
            assert client.post("/api/categories/new-1/rename", json={"name": "x"}).status_code == 200
            assert "by ben" in read(client, "/parts/undo").text
        with asked(service, {"Authorization": "Bearer 0123456789abcdef"}) as client:
            for address in ("/", "/review", "/categories", "/categories/new-1", "/images/2"):
                page = read(client, address)
                acts = {each["data-act"] for each in page if "data-act" in each.attributes}
                assert acts <= {"/sign-out"}, (address, acts)
                assert not [each for each in page if "data-upload" in each.attributes]


def test_growth_is_drawn_over_time(full: TestClient) -> None:
    sent(full, ("later.jpg", jpeg("yellow", 9)))
    charts = [each["aria-label"] for each in read(full, "/overview").all("svg", "chart")]
    assert charts[0].startswith("Categories found so far: 3 by the end")
    assert charts[1] == "Images that arrived over time, 8 in all, 7 of them in discovered categories"


@pytest.mark.parametrize("address", ["/images/abc", "/images/0", "/categories?page=x", "/?before=x"])
def test_an_address_that_is_none_is_told_in_words(client: TestClient, address: str) -> None:
    response = client.get(address)
    assert response.headers["Content-Type"].startswith("text/html")
    assert response.status_code in (200, 404)
    assert '{"title"' not in response.text


def test_a_monitor_may_ask_for_the_head_alone(client: TestClient) -> None:
    assert client.head("/health").status_code == 200
