"""Memory for decoding: never more than there is, in the order of asking, helpers included."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock

import pytest
from PIL import Image

from firstsight.data import memory
from firstsight.data.helper import Helper
from firstsight.data.images import decode
from firstsight.data.memory import SMALL, Room, decoding


class Watched(Room):
    """A room that remembers what was asked of it, and the most that was taken."""

    def __init__(self, size: int) -> None:
        super().__init__(size)
        self.asked: list[int] = []
        self.most = self.now = 0
        self.lock = Lock()

    @contextmanager
    def taken(self, amount: int) -> Iterator[None]:
        self.asked.append(amount)
        with super().taken(amount):
            with self.lock:
                self.now += min(amount, self.size)
                self.most = max(self.most, self.now)
            try:
                yield
            finally:
                with self.lock:
                    self.now -= min(amount, self.size)

    @property
    def waiting(self) -> int:
        return len(self._waiting)


@pytest.fixture
def room(monkeypatch: pytest.MonkeyPatch) -> Watched:
    room = Watched(2 * SMALL)
    monkeypatch.setattr(memory, "room", room)
    monkeypatch.setattr(memory, "_take", room.taken)
    return room


def test_together_no_more_is_taken_than_there_is() -> None:
    room = Watched(10)

    def work(amount: int) -> int:
        with room.taken(amount):
            return sum(range(1000 * amount))

    with ThreadPoolExecutor(8) as pool:
        assert len(list(pool.map(work, [1, 7, 3, 10, 4, 25] * 30))) == 180  # what is more than all takes all
    assert room.most == 10
    assert room.now == 0


def test_who_asks_for_much_is_not_passed_by() -> None:
    room, order = Watched(10), list[int]()

    def work(amount: int) -> None:
        with room.taken(amount):
            order.append(amount)

    with ThreadPoolExecutor(2) as pool, room.taken(10):
        for count, amount in enumerate((10, 1), start=1):
            pool.submit(work, amount)
            while room.waiting < count:
                pass
    assert order == [10, 1]


def test_what_an_error_ends_is_given_back() -> None:
    room = Watched(10)
    with pytest.raises(ZeroDivisionError), room.taken(10):
        1 / 0  # noqa: B018
    with room.taken(10):
        pass


def test_large_images_take_room_and_small_ones_do_not_wait(room: Watched) -> None:
    decode(Image.new("L", (1000, 1000)))
    assert room.asked == []
    decode(Image.new("L", (2100, 2000)))
    assert room.asked == [8 * 2100 * 2000]


def test_helpers_ask_their_caller(room: Watched) -> None:
    helper = Helper()
    work = f"[__import__('firstsight.data.memory').data.memory.decoding({SMALL + 1}).__enter__(), 7]"
    try:
        with ThreadPoolExecutor(1) as pool:
            with decoding(2 * SMALL):
                answer = pool.submit(helper.map, eval, [work])
                while not room.waiting:
                    pass
                assert not answer.done()
            assert answer.result() == [[None, 7]]
    finally:
        helper.stop()
    assert room.asked == [2 * SMALL, SMALL + 1]
    assert room.now == 0
