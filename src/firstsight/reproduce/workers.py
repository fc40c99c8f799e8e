"""Work done by several processes at a time; one that is killed loses its own item only, which is tried again, alone.

The processes last from one item to the next, so that what they keep is used again. Knows nothing of what the work is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from queue import SimpleQueue
from threading import Lock
from typing import Any, Generic, TypeVar

from firstsight.core.errors import ProcessDied
from firstsight.core.threads import computing_threads
from firstsight.data.helper import Helper

Item = TypeVar("Item")
Result = TypeVar("Result")


def by_processes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    processes: int,
    begin: Callable[[], None],
    again: Callable[[Item, ProcessDied], None],
) -> Iterator[tuple[Item, Result | ProcessDied]]:
    """What becomes of every item, as it comes. Every process calls `begin` first; the functions must be importable.

    An item whose process is killed is told to `again`; the end of the second is its result. The first error of
    another kind is raised, when what had begun is done.
    """
    killed: list[Item] = []
    for item, result in _tried(function, items, processes, begin):
        if isinstance(result, ProcessDied):
            again(item, result)
            killed.append(item)
        else:
            yield item, result
    yield from _tried(function, killed, 1, begin)


def _tried(
    function: Callable[[Item], Result], items: Sequence[Item], processes: int, begin: Callable[[], None]
) -> Iterator[tuple[Item, Result | ProcessDied]]:
    failed: BaseException | None = None
    workers = Workers(function, processes, begin)
    with ThreadPoolExecutor(processes) as pool:
        try:
            futures = {pool.submit(workers.work, item): item for item in items}
            for future in as_completed(futures):
                if future.cancelled():
                    continue
                error = future.exception()
                if error is None:
                    yield futures[future], future.result()
                elif isinstance(error, ProcessDied):
                    yield futures[future], error
                else:
                    failed = failed or error
                    for each in futures:
                        each.cancel()
        finally:  # interrupted, nothing is waited for
            pool.shutdown(wait=False, cancel_futures=True)
            workers.stop()
    if failed:
        raise failed


class Workers(Generic[Item, Result]):
    """So many processes, started when they are needed; one that was killed is replaced."""

    def __init__(self, function: Callable[[Item], Result], processes: int, begin: Callable[[], None]) -> None:
        self._function = function
        self._begin = begin
        self._threads = computing_threads(processes)
        self._idle: SimpleQueue[Helper | None] = SimpleQueue()  # None where one is yet to be started
        for _ in range(processes):
            self._idle.put(None)
        self._started: list[Helper] = []
        self._over = False
        self._turn = Lock()

    def work(self, item: Item) -> Result:
        helper = self._idle.get()
        try:
            helper = helper or self._start()
            result: Result = helper.map(self._function, [item])[0]
            return result
        except ProcessDied:
            helper = None
            raise
        finally:
            self._idle.put(helper)

    def stop(self) -> None:
        """End them all, and let none be started."""
        with self._turn:
            self._over = True
        for helper in self._started:
            helper.stop()

    def _start(self) -> Helper:
        with self._turn:
            if self._over:
                raise ProcessDied("no more work is begun")
            helper = Helper(self._threads)
            self._started.append(helper)
        helper.map(_call, [self._begin])
        return helper


def _call(function: Callable[[], Any]) -> None:
    function()
