"""`firstsight.Client`: what it says is what a discoverer and a store of the same machine would say."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from served import behind_a_socket, jpeg, opened, raw, running

import firstsight
from firstsight.client.client import Client
from firstsight.client.transport import ServiceError
from firstsight.core.errors import BadImages, Conflict, FirstsightError, ImageError, NotFound, SettingsError
from firstsight.model.model import Model
from firstsight.serve import connections
from firstsight.serve.service import Service
from firstsight.store import views
from firstsight.store.number import number_of_categories


@pytest.fixture
def address(service: Service) -> Iterator[str]:
    with behind_a_socket(service) as found:
        yield found


@pytest.fixture
def remote(address: str) -> Iterator[Client]:
    with firstsight.Client(address, tries=3) as client:
        yield client


class Here:
    """A discoverer and its store, called as a client is."""

    def __init__(self, model: Model, register: Path) -> None:
        self.model, self.store = model, opened(model, register)
        self.discoverer = firstsight.Discoverer(model, store=self.store)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.discoverer, name, None)
        return getattr(self.store, name) if found is None else found

    def categories(self) -> list[views.Summary]:
        return views.summaries(self.store.view())

    def category(self, name: str) -> views.Summary:
        found = self.store.view().category(name).id
        return next(each for each in self.categories() if each.id == found)

    def images(self, category: str) -> list[views.Member]:
        return list(views.images(self.store.view(), self.store.view().category(category).id))

    def number(self) -> dict[str, Any]:
        return number_of_categories(self.store.view()).as_json()

    def explain(self, image: Any) -> dict[str, Any]:
        return firstsight.explain(self.model, image, store=self.store).as_dict()


def script(there: Any, folder: Path) -> list[Any]:
    """What someone does with either, and what comes of it."""
    path = folder / "green.jpg"
    path.write_bytes(jpeg("green"))
    feature = np.full(32, 0.5, dtype=np.float32)
    said: list[Any] = [there.predict_one(jpeg("white"))]
    given = [jpeg("white", 1), path, Image.open(path), np.full((40, 40, 3), 230, np.uint8), b"broken", jpeg("white", 2)]
    said += [_told(each) for each in there.discover_many(given, errors="yield")]
    said.append(there.discover_one(jpeg("yellow"), source="a yellow one"))
    said.append(_error(there.discover_one, b"broken"))
    said.append(_error(there.predict_one, folder / "nothing.jpg"))
    said.append(_error(there.predict_one, feature))
    said += [_told(each) for each in there.predict_many([jpeg("blue"), jpeg("red"), feature], errors="yield")]
    said += there.categories()
    white = [each.image for each in there.images("new-1")]
    edits: tuple[Callable[[], Any], ...] = (
        lambda: there.rename("new-1", "snow"),
        lambda: there.merge("new-2", "snow"),
        lambda: there.undo(),
        lambda: there.redo(),
        lambda: there.move(white[:1], "green"),
        lambda: there.confirm(white[1:]),
        lambda: there.split(white[1:2], "ice"),
        lambda: there.promote("ice"),
        lambda: there.change_radius(1),
        lambda: there.discard(white[2:3]),
        lambda: there.forget(white[:1]),
    )
    for edit in edits:
        made = edit()
        said.append((made.number, made.command, made.time[:10]))
    said.append(there.teach([jpeg("red", 4), jpeg("blue", 5)], ["rust", "blue"]))
    said += there.categories()
    said += [each.name for each in there.images("snow")]
    said.append(there.category("SNOW"))
    said.append(there.number())
    for refused, *arguments in (
        (there.rename, "nobody", "x"),
        (there.rename, "snow", "blue"),
        (there.merge, "snow", "snow"),
        (there.undo, 1),
        (there.move, [10_000], "blue"),
        (there.discard_category, "blue"),
    ):
        said.append(_error(refused, *arguments))
    return said


def _told(answer: Any) -> Any:
    return (type(answer), answer.reason) if isinstance(answer, ImageError) else answer


def _error(verb: Any, *arguments: Any) -> tuple[type, str]:
    with pytest.raises(FirstsightError) as caught:
        verb(*arguments)
    error = caught.value
    return type(error), error.reason if isinstance(error, ImageError) else error.what


def test_a_client_says_what_a_discoverer_and_a_store_say(remote: Client, colours: Model, tmp_path: Path) -> None:
    here = Here(colours, tmp_path / "here.db")
    expected = script(here, tmp_path)
    assert script(remote, tmp_path) == expected
    explained, as_here = remote.explain(jpeg("cyan")), here.explain(jpeg("cyan"))
    assert explained.pop("looked") is not None
    assert as_here.pop("looked") is not None
    assert explained["category"] == as_here["category"] == "cyan"
    assert explained["near"] == as_here["near"]
    here.close()
    here.store.close()


def test_the_rest_of_its_verbs(remote: Client, service: Service, tmp_path: Path) -> None:
    first = [remote.discover_one(jpeg("white", shade)).image for shade in range(3)]
    assert [each.image for each in remote.images()] == first[::-1]
    assert remote.image(int(first[0] or 0)).category == "new-1"
    assert remote.picture(int(first[0] or 0)) == jpeg("white", 0)
    assert remote.picture(int(first[0] or 0), side=112)
    assert "new-1" in remote.explain(first[0])["sentence"]
    assert [each.kind for each in remote.history()] == ["Created", "Assigned", "Assigned", "Assigned"]
    assert not any((remote.suggest(), remote.suggest_splits(), remote.reconsider(), remote.apply_reconsider()))
    assert remote.days() == remote.places() == []
    assert remote.radius == 0
    with pytest.raises(Conflict, match="cannot tell how sure"):
        remote.unsure()
    with pytest.raises(Conflict, match="two things"):
        remote.split_category("new-1")
    remote.discard_category("new-1")
    assert [each.image for each in remote.discarded()] == first
    remote.undo()
    assert remote.export(tmp_path / "all.csv") == 3
    assert (tmp_path / "all.csv").read_text().count("\n") == 4
    remote.gallery(tmp_path / "page.html")
    remote.back_up(tmp_path / "copy.zip")
    assert remote.verify() == service.view().last
    assert remote.relocate(tmp_path) == []
    with pytest.raises(SettingsError):
        list(remote.discover_many("one.jpg"))
    with pytest.raises(BadImages):
        remote.teach([tmp_path / "nothing.jpg"], ["x"])
    with pytest.raises(NotFound):
        remote.image(10**6)


def test_a_request_whose_answer_is_lost_is_sent_again_and_counts_once(
    remote: Client, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    import httpx

    sent, whole = [], httpx.Client.request

    def lossy(self: httpx.Client, *given: Any, **how: Any) -> httpx.Response:
        answer = whole(self, *given, **how)
        sent.append(how["headers"]["Idempotency-Key"])
        if len(sent) == 1:
            raise httpx.ReadError("the line broke")
        return answer

    monkeypatch.setattr(httpx.Client, "request", lossy)
    answer = remote.discover_one(jpeg("white"))
    assert (answer.category, answer.decided_by) == ("new-1", "record")
    assert len(set(sent)) == 1
    assert len(sent) == 2
    assert service.view().images() == [answer.image]


def test_an_edit_whose_answer_is_lost_is_not_sent_again(remote: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    import httpx

    remote.discover_one(jpeg("white"))
    calls = []

    def broken(self: httpx.Client, *given: Any, **how: Any) -> httpx.Response:
        calls.append(given)
        raise httpx.ReadError("the line broke")

    monkeypatch.setattr(httpx.Client, "request", broken)
    with pytest.raises(ServiceError, match="does not answer"):
        remote.rename("new-1", "snow")
    assert len(calls) == 1


def test_events_go_on_where_they_broke_off(colours: Model, tmp_path: Path) -> None:
    """The service is stopped and started at the same address in between."""
    with running(colours, tmp_path / "colours.db") as service:
        with behind_a_socket(service) as address, Client(address) as client:
            client.discover_one(jpeg("white", 0))
            stream = client.events(after=0)
            first = [each.number for each in islice(stream, 1)]
        service.discover([jpeg("white", 1), jpeg("yellow", 1)])[1].result()  # nobody listens
        port = int(address.rpartition(":")[2])
        started, over = threading.Event(), threading.Event()

        def again() -> None:
            with behind_a_socket(service, port):
                started.set()
                over.wait()

        thread = threading.Thread(target=again)
        thread.start()
        started.wait()
        try:
            with Client(address) as client:
                rest = [each.number for each in islice(client.events(after=first[-1]), 4)]
        finally:
            over.set()
            thread.join()
        assert [*first, *rest] == [1, 2, 3, 4, 5]


def test_a_service_that_is_not_there_is_said_so(tmp_path: Path) -> None:
    with Client("http://127.0.0.1:9", tries=1) as client, pytest.raises(ServiceError, match="does not answer"):
        client.categories()
    error = ServiceError("what", "remedy", 503)
    assert pickle.loads(pickle.dumps(error)).status == 503


def test_a_token_comes_from_the_environment(colours: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "tokens").write_text("ann edit a-token-of-ann-s-own\nbob read a-token-of-bob-s-own\n")
    with (
        running(colours, tmp_path / "colours.db", tokens=tmp_path / "tokens") as service,
        behind_a_socket(service) as address,
    ):
        with Client(address) as nobody, pytest.raises(ServiceError) as refused:
            nobody.categories()
        assert refused.value.status == 401
        monkeypatch.setenv("FIRSTSIGHT_TOKEN", "a-token-of-ann-s-own")
        with Client(address) as ann:
            ann.discover_one(jpeg("white"))
            assert ann.rename("new-1", "snow").author_name == "ann"
        with Client(address, token="a-token-of-bob-s-own") as bob, pytest.raises(ServiceError, match="may read"):
            bob.rename("new-1", "ice")


def test_a_slow_client_holds_up_nobody(service: Service) -> None:
    with behind_a_socket(service) as address, Client(address) as client:
        slow = [raw(address) for _ in range(20)]
        for each in slow:
            each.sendall(b"POST /api/discover HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5000\r\n\r\nhalf of")
        assert client.discover_one(jpeg("blue")).category == "blue"
        for each in slow:
            each.close()


@pytest.mark.parametrize("said", [b"", b"GET /health HT", b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nGET /"])
def test_who_never_says_what_they_want_is_let_go(
    service: Service, said: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "SILENCE", 0.1)
    with behind_a_socket(service) as address, raw(address) as connection:
        connection.settimeout(30)
        connection.sendall(said)
        while connection.recv(4096):  # an answer to what was whole, and then the end
            pass
