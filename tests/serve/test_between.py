"""Several services, one register: any takes images and edits, one records them, and each can take over."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from served import jpeg
from sharing import new_register, sharing

import firstsight
from firstsight.core.errors import Conflict, Incompatible, SettingsError
from firstsight.core.protocols import Provenance
from firstsight.core.sightings import Sighting
from firstsight.model.model import Model
from firstsight.serve.app import create_app
from firstsight.serve.between import passing, wire
from firstsight.serve.between.seals import Seals
from firstsight.serve.problems import Refused
from firstsight.serve.routes import the_editor
from firstsight.serve.security import services_secrets
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings, plain_address
from firstsight.store.groups import Arrival
from firstsight.store.sharing import Said
from firstsight.store.store import Store
from programs import needs

TOKENS = "ann edit 0123456789abcdef\nmuseum read fedcba9876543210\nours serve 00112233445566778899\n"


@needs("initdb")
def test_any_takes_images_and_edits_and_shows_what_it_answered(colours: Model) -> None:
    register = new_register(colours)
    with sharing(colours, register) as (one, _), sharing(colours, register) as (other, address):
        assert (one.writes, other.writes) == (True, False)
        with firstsight.Client(address) as client:
            answers = list(client.discover_many([jpeg("white"), jpeg("white", 1), jpeg("yellow"), jpeg("blue")]))
            assert [each.category for each in answers] == ["new-1", "new-1", "new-2", "blue"]
            assert [each.image for each in client.images()] == [each.image for each in answers][::-1]
            assert client.predict_one(jpeg("white", 2)).category == "new-1"
            client.rename("new-1", "snow")
            assert client.category("new-1").name == "snow"
            client.undo()
            assert client.category("new-1").name == "new-1"
            odd = httpx.post(f"{address}/api/categories/new-1/rename?a=|%7C é", json={"name": "a/b | ö"})
            assert odd.status_code == 200
            client.rename("a/b | ö", "ice")
            assert client.category("new-1").name == "ice"
            with pytest.raises(firstsight.FirstsightError, match="no category"):
                client.rename("nothing", "snow")
            (taught,) = client.teach([jpeg("red", 3)], ["rust"])
            assert taught.category == client.category("rust").id
        said = [httpx.get(f"{each.settings.address}/ready").json()["role"] for each in (one, other)]
        assert said == ["writer", "follower"]
        told = httpx.get(f"{address}/metrics").text
        assert "firstsight_writes 0.0" in told
        assert "firstsight_forwarded_images 4.0" in told
        assert other.view().catalogue == one.view().catalogue
        one.store.verify()


@needs("initdb")
def test_a_key_holds_whichever_service_it_comes_to(colours: Model) -> None:
    register = new_register(colours)
    with sharing(colours, register) as (one, first), sharing(colours, register) as (_, second):
        said = [_sent(each, jpeg("white"), "again").json()["answers"][0]["answer"] for each in (second, first, second)]
        assert [each["image"] for each in said] == [said[0]["image"]] * 3
        assert [each["decided_by"] for each in said] == ["rule", "record", "record"]
        assert _sent(second, jpeg("yellow"), "again").status_code == 409
        two = [Arrival(name, name.encode() * 32, np.zeros(1, np.uint64), key="k") for name in "ab"]
        outcomes = one.recording.record(two, colours.provenance, once=False)
        assert [isinstance(each, Conflict) for each in outcomes] == [False, True]


@needs("initdb")
def test_the_place_is_handed_over_when_the_writer_is_told_to_end(colours: Model) -> None:
    register = new_register(colours)
    with sharing(colours, register) as (other, address):
        assert other.writes
        with sharing(colours, register) as (successor, second), httpx.Client(timeout=60) as http:
            assert _sent(second, jpeg("white"), "1", http).status_code == 200
            other.end()  # it answers all the same, by sending to the next
            _until(successor, lambda: successor.writes)
            for shade, to in enumerate((second, address), 2):
                assert _sent(to, jpeg("white", shade), f"{shade}", http).status_code == 200
            assert http.get(f"{address}/ready").status_code == 503
            assert http.get(f"{second}/health").json()["role"] == "writer"
            assert len(other.view().images()) == 3


@needs("initdb")
def test_without_a_writer_images_are_refused_in_time_and_looking_goes_on(colours: Model) -> None:
    register = new_register(colours)
    with Store.open(register) as somebody, sharing(colours, register, takeover=0.5) as (service, address):
        refused = _sent(address, jpeg("white"), "1")
        assert (refused.status_code, refused.headers["Retry-After"]) == (503, "5")
        assert "process" in refused.json()["detail"]
        edit = httpx.post(f"{address}/api/categories/blue/rename", json={"name": "sky"})
        assert (edit.status_code, edit.json()["kind"]) == (503, "NoWriter")
        asked = httpx.post(f"{address}/api/predict", content=jpeg("blue"))
        assert asked.json()["answers"][0]["answer"]["category"] == "blue"
        somebody.say("http://127.0.0.1:9")  # which no service has sealed
        assert "not believed" in _sent(address, jpeg("white"), "1").json()["detail"]
        somebody.rename("blue", "sky")
        _until(service, lambda: service.view().name_of("blue") == "sky")  # it is told


@needs("initdb")
def test_services_know_each_other_by_their_token_and_people_by_theirs(colours: Model, tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(TOKENS)
    register, tokens = new_register(colours), tmp_path / "tokens"
    with sharing(colours, register, tokens=tokens), sharing(colours, register, tokens=tokens) as (follower, address):
        with firstsight.Client(address, token="0123456789abcdef") as ann:
            assert ann.discover_one(jpeg("white")).category == "new-1"
            assert ann.rename("new-1", "snow").author_name == "ann"
        rename = f"{address}/api/categories/new-1/rename"
        for token, status in (("fedcba9876543210", 403), ("00112233445566778899", 401), ("x", 401)):
            given = {"Authorization": f"Bearer {token}"}
            assert httpx.post(rename, json={"name": "x"}, headers=given).status_code == status
        assert follower.view().name_of("new-1") == "snow"
    (tmp_path / "few").write_text("ann edit 0123456789abcdef\n")
    with pytest.raises(SettingsError, match="know each other"), sharing(colours, register, tokens=tmp_path / "few"):
        pass


@needs("initdb")
def test_another_model_is_refused(colours: Model) -> None:
    with Store.open(new_register(colours), write=False) as store, pytest.raises(Incompatible, match="another model"):
        store.check_model(Provenance("f" * 64, colours.provenance.preprocess, "cpu", "fp32"))


def test_every_edit_is_passed_on_and_nothing_else(service: Service) -> None:
    """A new route is one or the other: whoever writes it must say."""
    app: FastAPI = create_app(service)
    for route in app.routes:
        if isinstance(route, APIRoute) and "POST" in (route.methods or ()) and route.path.startswith("/api/"):
            edits = any(each.call is the_editor for each in route.dependant.dependencies)
            own = route.path in passing.HERE
            assert own != (edits and not route.path.startswith(("/api/discover", "/api/map/"))), route.path


def test_a_seal_is_of_one_request_and_good_once() -> None:
    one, other = Seals(["new", "old"], local=False), Seals(["old", "new"], local=False)
    said = ("POST", "/api/undo?a=1")
    headers = {
        "Host": "b:8000",
        "Content-Type": "json",
        **one.headers("POST", "b:8000", said[1], "json", b"{}", "Ann Ö"),
    }
    assert other.opened(*said, headers).by == "Ann Ö"
    with pytest.raises(Refused, match="came before"):
        other.opened(*said, headers)
    fresh = {**headers, **one.headers("POST", "b:8000", said[1], "json", b"{}", None)}
    for changed in ("Host", "Content-Type", "X-Firstsight-By", "X-Firstsight-Service"):
        with pytest.raises(Refused, match="no service"):
            other.opened(*said, {**fresh, changed: "other"})
    with pytest.raises(Refused, match="no service"):
        Seals(["another"], local=False).opened(*said, fresh)
    with pytest.raises(Refused, match="no service"):
        other.opened("POST", "/api/redo", fresh)


@pytest.mark.parametrize(
    "address",
    ["ftp://a:1", "http://", "http://a:1/path", "http://u@a:1", "http://a:x", "http://a:1?b", "//a", "", "http://a b"],
)
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        plain_address(address)
    with pytest.raises(ValueError, match="another machine"):
        plain_address("http://10.0.0.5:8000", local=True)
    seals = Seals(["s"], local=True)
    with pytest.raises(ValueError, match="said so"):
        seals.address(Said("http://127.0.0.1:8000", "0" * 64))
    assert seals.address(seals.of_address("http://127.0.0.1:8000")) == "http://127.0.0.1:8000"


def test_others_are_told_a_host_that_is_one(tmp_path: Path) -> None:
    (tmp_path / "tokens").write_text(TOKENS)
    any_host: dict[str, Any] = {"host": "0.0.0.0", "tokens": tmp_path / "tokens"}
    assert ServeSettings(**any_host, names=("museum",)).reached_at == "http://museum:8000"
    assert ServeSettings(**any_host, advertise="http://10.0.0.5:80/").reached_at == "http://10.0.0.5:80"
    assert ServeSettings(host="::1").reached_at == "http://[::1]:8000"
    with pytest.raises(SettingsError, match="--advertise"):
        ServeSettings(advertise="10.0.0.5")
    assert services_secrets(tmp_path / "tokens") == ["00112233445566778899"]


@pytest.mark.parametrize("kind", [np.float32, np.uint64])
def test_images_arrive_as_they_were_sent(kind: type[Any]) -> None:
    told = Sighting(taken="2026-06-05T22:10:00", latitude=52.4, longitude=4.6, box=(0.0, 0.1, 0.5, 0.5))
    given = [
        Arrival("upload:ö.jpg", b"\x00" * 32, np.array([1, 2], kind), told, 3, "key"),
        Arrival("b", b"", np.ones(2, kind)),
    ]
    group = wire.from_record(wire.to_record(wire.Group(given, Provenance("f", 1, "cpu", "fp32"), True)))
    for one, other in zip(group.arrivals, given, strict=True):
        assert (one.feature == other.feature).all()
        assert one.feature.dtype == other.feature.dtype
        assert (one.source, one.content, one.sighting, one.burst, one.key) == (
            other.source, other.content, other.sighting, other.burst, other.key,
        )  # fmt: skip
    for wrong in (b"", b"[]", b"{}", b'{"images": [{}]}'):
        with pytest.raises(firstsight.FirstsightError):
            wire.from_record(wrong)


def _until(service: Service, so: Callable[[], bool]) -> None:
    assert service.sharing is not None
    while not so():
        service.sharing.standing.pause(0.05)


def _sent(address: str, image: bytes, key: str, http: Any = httpx) -> httpx.Response:
    """One image, sent under a key."""
    answer: httpx.Response = http.post(
        f"{address}/api/discover", content=image, headers={"Idempotency-Key": key}, timeout=60
    )
    return answer
