"""Work done a little ahead of its consumer, in order, with bounded memory.

By threads; and where there is much of it, and cores for it, by processes, since Python lets one thread at a time run
what is not in C: sixteen threads decode no faster than four.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from itertools import islice
from types import FunctionType
from typing import Any, TypeVar

from firstsight.core.errors import ImageError
from firstsight.core.threads import cores
from firstsight.data.helper import Helper

Item = TypeVar("Item")
Result = TypeVar("Result")

MANY = 512  # items after which processes are started
CHUNK = 8  # items a process gets at a time


def ahead(
    function: Callable[[Item], Result], items: Iterable[Item], window: int, workers: int | None = None
) -> Iterator[Result]:
    """Like map, computing up to `window` results before they are asked for; by a worker for every core if not said."""
    source, workers = iter(items), workers or cores()
    helpers = Helpers() if workers >= 4 and travels(function) else None
    waiting: deque[Future[list[Result]]] = deque()
    taken = given = 0
    with ThreadPoolExecutor(workers) as pool:
        try:
            while True:
                by_process = helpers is not None and taken >= MANY and window > CHUNK
                size, run = (CHUNK, helpers.map) if by_process and helpers else (1, _map)
                while taken - given + size <= window and (some := list(islice(source, size))):
                    waiting.append(pool.submit(run, function, some))
                    taken += len(some)
                if not waiting:
                    return
                for result in waiting.popleft().result():
                    given += 1
                    yield result
        finally:  # a consumer that stops early leaves no work behind
            for future in waiting:
                future.cancel()
            if helpers:
                helpers.stop()


class Helpers:
    """A process for every thread that asks for one."""

    def __init__(self) -> None:
        self._own = threading.local()
        self._all: list[Helper] = []

    def map(self, function: Callable[[Item], Result], items: list[Item]) -> list[Result]:
        if not hasattr(self._own, "helper"):
            self._own.helper = Helper()
            self._all.append(self._own.helper)
        results: list[Result] = self._own.helper.map(function, items)
        return results

    def stop(self) -> None:
        for helper in self._all:
            helper.stop()


def travels(function: Any) -> bool:
    """Whether another process can be told of a function by its name, with everything it was given."""
    if isinstance(function, partial):
        given = [*function.args, *function.keywords.values()]
        return travels(function.func) and all(travels(each) for each in given if callable(each))
    return isinstance(function, FunctionType) and "<" not in function.__qualname__ and function.__module__ != "__main__"


def or_error(function: Callable[[Item], Result]) -> Callable[[Item], Result | ImageError]:
    """The function, with the error of a bad image as a result like any other."""
    return partial(_or_error, function)


def _or_error(function: Callable[[Item], Result], item: Item) -> Result | ImageError:
    try:
        return function(item)
    except ImageError as error:
        return error


def _map(function: Callable[[Item], Result], items: list[Item]) -> list[Result]:
    return [function(item) for item in items]
