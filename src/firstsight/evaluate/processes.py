"""The same work on many items, in several processes where that is faster; results are the same, in the same order.

The first item is worked on here, which loads what is needed. The second shows whether the rest is worth starting
processes for, and whether there are cores for them. This process works too.
"""

from __future__ import annotations

import pickle
import time
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeAlias, TypeVar

from firstsight.core.threads import computing_threads
from firstsight.data.helper import Helper

Given = TypeVar("Given")
Item = TypeVar("Item")
Result = TypeVar("Result")
Work: TypeAlias = Callable[[Given, Item], Result]

WORTH = 1.5  # seconds of work that are worth a process: it takes one to start
BUSY = 1.5  # times as long as it computed that a piece of work took, where others use the cores


def spread(
    work: Work[Given, Item, Result], given: Given, items: Sequence[Item], advance: Callable[[], None] = lambda: None
) -> list[Result]:
    """`work(given, item)` for every item. A process that is killed meanwhile is an error: ProcessDied."""
    results = {}
    for i, item in enumerate(items[:2]):
        began, computed = time.monotonic(), time.process_time()
        results[i] = work(given, item)
        took, computed = time.monotonic() - began, time.process_time() - computed
        advance()
    if len(items) < 3:
        return list(results.values())
    helpers = helpers_for(took, computed, len(items) - 2)
    told = _as_bytes(work, given) if helpers > 0 else None
    waiting: SimpleQueue[int] = SimpleQueue()
    for i in range(2, len(items)):
        waiting.put(i)

    def take(one: Callable[[Item], Result]) -> None:
        while True:
            try:
                i = waiting.get_nowait()
            except Empty:
                return
            results[i] = one(items[i])
            advance()

    with _Team(told, helpers) as team:
        team.start(take)
        take(lambda item: work(given, item))
    return [results[i] for i in range(len(items))]


def helpers_for(took: float, computed: float, items: int) -> int:
    """How many processes to start beside this one, for items that take so long; none where others use the cores."""
    if took > BUSY * computed:
        return 0
    return min(computing_threads(), items, int(took * items / WORTH)) - 1


class _Team:
    """Helping processes, each with a thread here that hands it items. Without anything to tell them there are none."""

    def __init__(self, told: bytes | None, size: int) -> None:
        self._told = told
        self._helpers = [Helper() for _ in range(0 if told is None else size)]
        self._threads: list[Thread] = []
        self._failed: list[BaseException] = []

    def __enter__(self) -> _Team:
        return self

    def start(self, take: Callable[[Callable[[Any], Any]], None]) -> None:
        self._threads = [Thread(target=self._help, args=(each, take), daemon=True) for each in self._helpers]
        for thread in self._threads:
            thread.start()

    def _help(self, helper: Helper, take: Callable[[Callable[[Any], Any]], None]) -> None:
        try:
            helper.map(_begin, [self._told])
            take(lambda item: helper.map(_work_on, [item])[0])
        except BaseException as error:
            self._failed.append(error)

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """Wait for what they are at; where something went wrong here, for nothing."""
        try:
            for thread in self._threads if kind is None else ():
                thread.join()
        finally:
            for helper in self._helpers:
                helper.stop()
        if kind is None and self._failed:
            raise self._failed[0]


def _as_bytes(work: Work[Any, Any, Any], given: Any) -> bytes | None:
    """What a process is to be told; None where it cannot be, such as what was made in a script."""
    try:
        told = pickle.dumps((work, given), pickle.HIGHEST_PROTOCOL)
    except (pickle.PicklingError, AttributeError, TypeError):
        return None
    return None if b"__main__" in told else told


_told: tuple[Work[Any, Any, Any], Any]


def _begin(told: bytes) -> None:
    """In a helping process: what its items have in common."""
    global _told
    _told = pickle.loads(told)


def _work_on(item: Any) -> Any:
    work, given = _told
    return work(given, item)
