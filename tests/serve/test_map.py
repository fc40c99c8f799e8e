"""The map over HTTP: laid out when it is first asked for, told whole or as what changed, the same when nothing did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from served import asked, jpeg, running, sent

from firstsight.evidence import mapped
from firstsight.model.model import Model
from firstsight.serve.service import Service


def header_of(content: bytes) -> dict[str, Any]:
    size = int.from_bytes(content[4:8], "little")
    header: dict[str, Any] = json.loads(content[8 : 8 + size])
    return header


def laid_out(client: TestClient, service: Service) -> dict[str, Any]:
    assert client.get("/api/map").status_code == 202
    service.map.wait()
    return header_of(client.get("/api/map").content)


def test_of_nothing_there_is_no_map(client: TestClient) -> None:
    response = client.get("/api/map")
    assert response.status_code == 202
    assert response.json() == {"working": False, "images": 0, "failed": None}
    assert 'id="map"' in client.get("/map").text


def test_the_first_to_ask_starts_it_and_it_is_told_as_long_as_it_stays(filled: TestClient, service: Service) -> None:
    header = laid_out(filled, service)
    assert (header["images"], header["since"], header["came"]) == (7, None, 0)
    assert {each[1] for each in header["categories"]} == {"new-1", "new-2", "blue"}
    whole = filled.get("/api/map")
    again = filled.get("/api/map", headers={"If-None-Match": whole.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    assert "no-store" not in whole.headers["Cache-Control"]


def test_it_says_whether_thumbnails_are_worth_asking_for(filled: TestClient, service: Service, colours: Model) -> None:
    assert laid_out(filled, service)["pictures"] is True
    filled.post("/api/images/discard", json={"images": service.view().images()})
    feature = colours.encode([colours.prepare(jpeg("white"))])
    assert filled.post("/api/discover/features", json={"features": feature.tolist()}).status_code == 200
    told = header_of(filled.get("/api/map").content)
    assert (told["images"], told["pictures"]) == (1, False)


def test_what_changed_is_told_to_those_who_have_the_rest(filled: TestClient, service: Service) -> None:
    header = laid_out(filled, service)
    held = {"since": header["last"], "layout": header["layout"]}
    assert header_of(filled.get("/api/map", params=held).content)["images"] == 0
    sent(filled, ("8.jpg", jpeg("white", 9)))
    change = header_of(filled.get("/api/map", params=held).content)
    assert (change["since"], change["images"], change["came"]) == (header["last"], 1, 1)
    for other in ({**held, "layout": "another"}, {**held, "since": 10**9}, {"since": header["last"] - 1}):
        told = header_of(filled.get("/api/map", params=other).content)
        assert (told["since"], told["images"]) == (None, 8)


def test_a_lasso_is_one_edit_and_one_undo(filled: TestClient, service: Service) -> None:
    laid_out(filled, service)
    before, whole = service.view().catalogue.state(), filled.get("/api/map").content
    images = service.view().images()
    edited = filled.post("/api/images/move", json={"images": images, "to": "blue"}).json()
    assert len(edited["events"]) == 1
    assert len(header_of(filled.get("/api/map").content)["categories"]) == 1
    filled.post("/api/undo", json={"events": [edited["undo"]]})
    after = service.view().catalogue.state()
    assert {name: after[name] for name in ("homes", "flags", "authors")} == {
        name: before[name] for name in ("homes", "flags", "authors")
    }
    size = 13 * len(images)
    assert filled.get("/api/map").content[-size:] == whole[-size:]


def test_it_is_laid_out_anew_when_a_person_asks_and_is_the_same_after_a_restart(
    colours: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mapped, "SETTLED", 0)
    with running(colours, tmp_path / "r.db") as service, asked(service) as client:
        sent(client, *((f"{i}.jpg", jpeg("white", i)) for i in range(3)))
        first = laid_out(client, service)
        sent(client, *((f"{i}.jpg", jpeg("yellow", i)) for i in range(3)))
        assert header_of(client.get("/api/map").content)["came"] == 3
        assert client.post("/api/map/layout").status_code == 202
        service.map.wait()
        second = client.get("/api/map").content
        assert header_of(second)["layout"] != first["layout"]
        assert header_of(second)["came"] == 0
    with running(colours, tmp_path / "r.db") as service, asked(service) as client:
        assert client.get("/api/map").content == second


def test_the_first_handful_is_laid_out_again_as_it_doubles(client: TestClient, service: Service) -> None:
    sent(client, *((f"{i}.jpg", jpeg("white", i)) for i in range(2)))
    laid_out(client, service)
    sent(client, ("3.jpg", jpeg("yellow")))
    assert header_of(client.get("/api/map").content)["working"] is False
    sent(client, ("4.jpg", jpeg("yellow", 1)))
    client.get("/api/map")
    service.map.wait()
    assert header_of(client.get("/api/map").content)["came"] == 0
