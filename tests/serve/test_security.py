"""Who may come in, and what they may do: tokens, sessions, hosts, origins, policies."""

from __future__ import annotations

import hmac
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from served import asked, jpeg, running, sent

from firstsight.core.errors import SettingsError
from firstsight.model.model import Model
from firstsight.serve import security
from firstsight.serve.security import COOKIE, CSRF, POLICY, SESSION, TRIES, Guard, read_tokens
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings

ANN, BOB = "a-token-of-ann-s-own", "a-token-of-bob-s-own"
TEMPLATES = Path(security.__file__).parents[1] / "pages" / "templates" / "service"
EDIT = {"name": "snow"}


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    path = tmp_path / "tokens"
    path.write_text(f"# who may come in\nann edit {ANN}\n\nbob read {BOB}\n")
    return path


@pytest.fixture
def guarded(colours: Model, tmp_path: Path, tokens: Path) -> Iterator[TestClient]:
    with running(colours, tmp_path / "guarded.db", tokens=tokens) as service, asked(service) as client:
        sent(client, ("white.jpg", jpeg("white")), headers=bearer(ANN))
        yield client


def signed_in(client: TestClient, token: str) -> dict[str, str]:
    """A browser's cookie."""
    response = client.post("/sign-in", data={"token": token})
    assert (response.status_code, response.headers["Location"]) == (303, "/")
    said = response.headers["Set-Cookie"]
    client.cookies.clear()  # which the test sends by itself
    return {"Cookie": said.partition(";")[0]}


def csrf(service_client: TestClient, cookie: dict[str, str]) -> str:
    guard: Guard = service_client.app.state.guard  # type: ignore[attr-defined]
    token = guard._signed_in(cookie["Cookie"].partition("=")[2])
    assert token is not None
    return token.sign("page")


def test_without_a_token_nothing_is_told(guarded: TestClient) -> None:
    for path in (
        "/api/categories",
        "/api/events",
        "/api/openapi.json",
        "/api/docs",
        "/metrics",
        "/api/images/2/picture",
    ):
        response = guarded.get(path)
        assert response.status_code == 401, path
        assert response.headers["WWW-Authenticate"].startswith("Bearer")
        assert response.json()["kind"] == "Refused"
    assert guarded.get("/health").status_code == guarded.get("/ready").status_code == 200
    page = guarded.get("/api/docs", headers={"Accept": "text/html,*/*"})
    assert (page.status_code, page.headers["Location"]) == (303, "/sign-in")


def test_a_token_says_who_it_is_and_what_it_may(guarded: TestClient) -> None:
    assert guarded.get("/api/categories", headers=bearer("wrong" * 5)).status_code == 401
    assert guarded.get("/api/categories", headers={"Authorization": f"Basic {ANN}"}).status_code == 401
    assert guarded.get("/api/categories", headers=bearer(BOB)).status_code == 200
    assert guarded.post("/api/predict", content=jpeg("blue"), headers=bearer(BOB)).status_code == 200
    rename = "/api/categories/new-1/rename"
    for path, how in (
        (rename, {"json": EDIT}),
        ("/api/discover", {"content": jpeg("blue")}),
        ("/api/undo", {"json": {}}),
        ("/api/teach", {"files": {"images": b"x"}, "data": {"labels": "x"}}),
    ):
        refused = guarded.post(path, headers=bearer(BOB), **how)
        assert refused.status_code == 403, path
        assert "may read" in refused.json()["detail"]
    assert guarded.get("/api/backup", headers=bearer(BOB)).status_code == 403
    assert guarded.post(rename, json=EDIT, headers=bearer(ANN)).json()["events"][0]["author_name"] == "ann"


def test_every_route_that_changes_something_asks_for_an_editor(guarded: TestClient) -> None:
    reads = {"predict", "predict_features", "explain"}
    paths = guarded.get("/api/openapi.json", headers=bearer(ANN)).json()["paths"]
    for path, methods in paths.items():
        for method, about in methods.items():
            if method == "get" or about["operationId"] in reads:
                continue
            filled = re.sub(r"\{\w+\}", "new-1", path)
            body: Any = {"images": [1], "name": "x", "into": "x", "to": "x", "radius": 1, "folder": "x"}
            response = guarded.request(method, filled, json=body, headers=bearer(BOB))
            assert response.status_code in (403, 422), path  # what is no body of it is refused as such
            assert guarded.request(method, filled, json=body).status_code == 401, path


def test_a_session_is_a_strict_cookie_that_scripts_cannot_read(guarded: TestClient) -> None:
    assert "Your token" in guarded.get("/sign-in").text
    response = guarded.post("/sign-in", data={"token": f" {ANN} "})
    said = response.headers["Set-Cookie"]
    assert "HttpOnly" in said
    assert "SameSite=strict" in said
    assert f"Max-Age={SESSION}" in said
    assert ANN not in said
    cookie = {"Cookie": said.partition(";")[0]}
    guarded.cookies.clear()
    assert guarded.get("/api/categories", headers=cookie).status_code == 200
    out = guarded.post("/sign-out", headers=cookie)
    assert (out.status_code, f'{COOKIE}=""' in out.headers["Set-Cookie"]) == (303, True)


def test_a_session_ends_and_cannot_be_forged(guarded: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    cookie = signed_in(guarded, BOB)
    name, until, seal = cookie["Cookie"].partition("=")[2].rsplit(".", 2)
    forged = (
        f"ann.{until}.{seal}",
        f"{name}.{int(until) + 9999}.{seal}",
        f"{name}.{until}.{seal[:-1]}0" if seal[-1] != "0" else f"{name}.{until}.{seal[:-1]}1",
        f"{name}.{until}.",
        f"{name}.{'9' * 5000}.{seal}",
        "...",
        "",
    )
    for each in forged:
        response = guarded.get("/api/categories", headers={"Cookie": f"{COOKIE}={each}"})
        assert response.status_code == 401, each
    now = time.time
    monkeypatch.setattr(time, "time", lambda: now() + SESSION + 1)
    assert guarded.get("/api/categories", headers=cookie).status_code == 401


def test_an_edit_with_a_cookie_needs_what_only_a_page_knows(guarded: TestClient) -> None:
    cookie, path = signed_in(guarded, ANN), "/api/categories/new-1/rename"
    assert guarded.post(path, json=EDIT, headers=cookie).status_code == 403
    assert guarded.post(path, json=EDIT, headers=cookie | {CSRF: "guessed"}).status_code == 403
    assert guarded.post(path, json=EDIT, headers=cookie | {CSRF: csrf(guarded, cookie)}).status_code == 200
    assert csrf(guarded, cookie) != csrf(guarded, signed_in(guarded, BOB))


def test_tokens_cannot_be_tried_for_ever(guarded: TestClient) -> None:
    for _ in range(TRIES):
        assert guarded.post("/sign-in", data={"token": "guess"}).status_code == 401
    assert guarded.post("/sign-in", data={"token": ANN}).status_code == 429
    assert guarded.get("/api/categories", headers=bearer(ANN)).status_code == 200
    assert guarded.post("/sign-in", content=b"token=" + b"x" * 20_000).status_code in (413, 429)


def test_tokens_are_compared_in_constant_time(guarded: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    compared, whole = [], hmac.compare_digest

    def seen(ours: bytes, theirs: bytes) -> bool:
        compared.append((ours, theirs))
        return whole(ours, theirs)

    monkeypatch.setattr(hmac, "compare_digest", seen)
    assert guarded.get("/api/categories", headers=bearer(ANN)).status_code == 200
    assert {ours for ours, _ in compared} == {ANN.encode(), BOB.encode()}, "all of them, whichever it is"


def test_a_request_must_name_this_host(client: TestClient) -> None:
    for host in ("evil.example", "evil.example:8000", "127.0.0.1.evil.example", ""):
        assert client.get("/api/categories", headers={"Host": host}).status_code == 421, host
    for host in ("localhost:8000", "127.0.0.1", "[::1]:8000", "LOCALHOST"):
        assert client.get("/api/categories", headers={"Host": host}).status_code == 200, host


def test_a_page_elsewhere_cannot_change_anything(filled: TestClient, service: Service) -> None:
    path, before = "/api/categories/new-1/rename", service.view().last
    for headers in (
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://127.0.0.1:9999"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "http://127.0.0.1:8000"},  # a page of ours, which did not say what only it knows
    ):
        assert filled.post(path, json=EDIT, headers=headers).status_code == 403, headers
    assert service.view().last == before
    page: str = filled.app.state.guard._page  # type: ignore[attr-defined]
    ours = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin", CSRF: page}
    assert filled.post(path, json=EDIT, headers=ours).status_code == 200


def test_every_answer_has_the_policy(guarded: TestClient) -> None:
    for path in ("/health", "/api/categories", "/sign-in", "/nothing", "/static/htmx.min.js", "/api/images/2/picture"):
        for headers in ({}, bearer(ANN)):
            response = guarded.get(path, headers=headers)
            assert response.headers["Content-Security-Policy"] == POLICY, path
            assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert "unsafe" not in POLICY
    assert "'none'" in POLICY


@pytest.mark.parametrize("template", sorted(TEMPLATES.glob("*.j2")), ids=lambda path: path.name)
def test_no_template_has_a_script_or_a_style_of_its_own(template: Path) -> None:
    text = template.read_text()
    assert not re.search(r"<script(?![^>]*\bsrc=)[^>]*>", text)
    assert "<style" not in text
    assert not re.search(r"\son\w+\s*=|\sstyle\s*=|javascript:", text)
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", text)


@pytest.mark.parametrize(
    "name", ["../../etc/passwd", "/etc/passwd", "..\\x.jpg", "a\0b.jpg", "x" * 5000, "\x1b[31m", ""]
)
def test_names_are_never_paths(client: TestClient, service: Service, tmp_path: Path, name: str) -> None:
    answer = client.post("/api/discover", params={"name": name[:1000]}, content=jpeg("white"))
    assert answer.status_code == 200
    source = answer.json()["answers"][0]["source"]
    assert source.startswith("upload:")
    assert source.isprintable()
    made = {path.name for path in tmp_path.rglob("*")}
    assert not made & {"passwd", "x.jpg", "ab.jpg"}
    picture = client.get(f"/api/images/{answer.json()['answers'][0]['answer']['image']}/picture")
    assert picture.content == jpeg("white")


def test_static_files_stay_in_their_folder(client: TestClient) -> None:
    for path in (
        "/static/../security.py",
        "/static/%2e%2e/render.py",
        "/static/..%2f..%2fserve/app.py",
        "/static//etc/passwd",
    ):
        assert client.get(path).status_code in (404, 405), path


def test_another_address_needs_tokens(tokens: Path) -> None:
    for host in ("0.0.0.0", "192.168.1.5", "::", "museum.example"):
        with pytest.raises(SettingsError, match="other machines"):
            ServeSettings(host=host)
        assert ServeSettings(host=host, tokens=tokens).tokens == tokens
    for host in ("127.0.0.1", "127.0.0.2", "::1", "localhost"):
        assert ServeSettings(host=host).is_local


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("ann edit short", "can be guessed"),
        ("ann write a-token-of-ann-s-own", "line 1, is no token"),
        ("ann edit", "line 1, is no token"),
        (f"ann edit {ANN}\nann read {BOB}", "two tokens called"),
        ("# nobody\n", "holds no token"),
    ],
)
def test_a_file_of_tokens_is_checked(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "tokens").write_text(text)
    with pytest.raises(SettingsError, match=said):
        read_tokens(tmp_path / "tokens")
