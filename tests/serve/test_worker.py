"""The threads that answer: order, groups, errors, a queue that is full, and an orderly end."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from threading import Event, Lock
from typing import Any

import httpx
import pytest
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from served import behind_a_socket, jpeg

import firstsight
from firstsight.core.assignments import Assignment
from firstsight.core.errors import ImageError
from firstsight.discoverer import Prepared, PreparedOrError
from firstsight.serve.service import Service
from firstsight.serve.worker import Busy, Worker


class Bench:
    """What a worker works with: images are texts, `bad` ones cannot be read, `odd` ones not be encoded."""

    def __init__(self, batch: int = 4, limit: int = 100) -> None:
        self.groups: list[list[str]] = []  # as they were encoded
        self.decided: list[str] = []
        self.open = Event()  # encoding waits for it
        self.open.set()
        self._turn = Lock()
        self.worker = Worker(self.encode, batch, limit)

    def prepare(self, image: Any) -> Prepared:
        if "bad" in image:
            raise ImageError(image, "cannot be read")
        if "slow" in image:
            time.sleep(0.002)
        return Prepared(image, b"")

    def encode(self, group: Sequence[PreparedOrError]) -> list[PreparedOrError]:
        assert self._turn.acquire(blocking=False), "one group at a time"
        self.open.wait()
        self.groups.append([each.source for each in group])
        self._turn.release()
        return [ImageError(each.source, "odd") if "odd" in each.source else each for each in group]

    def decide(self, group: list[Prepared]) -> list[Assignment]:
        if any("fault" in each.source for each in group):
            raise RuntimeError("of ours")
        self.decided += [each.source for each in group]
        return [Assignment(each.source, False, False, None, 0, None) for each in group]

    def submit(self, *images: str) -> list[Any]:
        return list(self.worker.submit(images, [self.prepare] * len(images), self.decide))


@contextmanager
def bench(**how: int) -> Iterator[Bench]:
    made = Bench(**how)
    try:
        yield made
    finally:
        made.open.set()
        made.worker.close()


def outcome(answer: Any) -> str:
    try:
        return str(answer.result(timeout=30).category)
    except ImageError as error:
        return error.reason


NAMES = st.lists(st.lists(st.sampled_from(["a", "slow", "bad", "odd"]), max_size=5), max_size=6)


@given(requests=NAMES)
def test_every_image_has_its_own_answer_and_requests_keep_their_order(requests: list[list[str]]) -> None:
    with bench() as at:
        asked = [[f"{i}/{j} {kind}" for j, kind in enumerate(some)] for i, some in enumerate(requests)]
        answers = [at.submit(*names) for names in asked]
        for names, some in zip(asked, answers, strict=True):
            for name, answer in zip(names, some, strict=True):
                expected = "cannot be read" if "bad" in name else "odd" if "odd" in name else name
                assert outcome(answer) == expected
        for names in asked:
            fine = [name for name in names if "bad" not in name and "odd" not in name]
            assert [name for name in at.decided if name in fine] == fine
        assert at.worker.waiting == 0
        assert all(len(group) <= 4 for group in at.groups)


def test_an_image_alone_does_not_wait_and_those_that_wait_go_together() -> None:
    with bench(batch=8) as at:
        at.open.clear()
        first = at.submit("first")
        while at.worker._encoding.qsize() or at.worker.waiting != 1:  # until it is on its way, alone
            time.sleep(0.001)
        rest = [at.submit(f"{i}") for i in range(6)]
        while at.worker._encoding.qsize() < 6:
            time.sleep(0.001)
        at.open.set()
        assert outcome(first[0]) == "first"
        assert [outcome(each[0]) for each in rest] == [str(i) for i in range(6)]
        assert [len(group) for group in at.groups] == [1, 6]


def test_a_full_queue_takes_no_more_and_says_when_to_come_again() -> None:
    with bench(limit=3) as at:
        at.open.clear()
        waiting = at.submit("a", "b", "c")
        with pytest.raises(Busy, match="3 images are waiting") as busy:
            at.submit("d")
        assert busy.value.seconds >= 1
        assert at.worker.waiting == 3
        at.open.set()
        assert [outcome(each) for each in waiting] == ["a", "b", "c"]
        assert outcome(at.submit("d")[0]) == "d"


def test_a_fault_is_told_to_those_it_hit_and_ends_no_thread() -> None:
    with bench(batch=1) as at:
        with pytest.raises(RuntimeError, match="of ours"):
            at.submit("fault")[0].result(timeout=30)
        assert outcome(at.submit("fine")[0]) == "fine"


def test_the_end_answers_what_was_accepted_and_takes_no_more() -> None:
    at = Bench()
    answers = at.submit(*(f"{i} slow" for i in range(20)))
    at.worker.close()
    assert all(each.done() for each in answers)
    with pytest.raises(Busy, match="ending"):
        at.submit("late")


def test_a_full_queue_is_503_with_a_time_to_come_again(service: Service, client: TestClient) -> None:
    room, service.worker.limit = service.worker.limit, 1
    files = [("images", ("a.jpg", jpeg("blue"))), ("images", ("b.jpg", jpeg("blue")))]
    response = client.post("/api/discover", files=files)
    assert response.status_code == 503
    assert int(response.headers["Retry-After"]) >= 1
    assert response.json()["kind"] == "Busy"
    service.worker.limit = room
    assert client.post("/api/discover", files=files).status_code == 200
    assert len(service.view().images()) == 2, "what was refused left nothing behind"


def test_events_are_resumed_by_their_number(service: Service) -> None:
    service.discover([jpeg("white"), jpeg("white", 1), jpeg("yellow")])[2].result()

    def numbers(http: httpx.Client, **how: Any) -> list[int]:
        with http.stream("GET", "/api/events", **how) as response:
            assert response.headers["Content-Type"].startswith("text/event-stream")
            told = (int(line[4:]) for line in response.iter_lines() if line.startswith("id: "))
            return list(islice(told, 2))

    with behind_a_socket(service) as address, httpx.Client(base_url=address, timeout=30) as http:
        assert numbers(http, params={"after": 0}) == [1, 2]
        assert numbers(http, params={"after": 1}, headers={"Last-Event-ID": "3"}) == [4, 5]


def test_stopping_answers_what_was_accepted(service: Service, tmp_path: Path) -> None:
    with behind_a_socket(service) as address, firstsight.Client(address) as client:
        answers = [each.category for each in client.discover_many([jpeg("white", i) for i in range(20)])]
    assert answers == ["new-1"] * 20
    assert len(service.view().images()) == 20
