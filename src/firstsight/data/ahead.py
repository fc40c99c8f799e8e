"""Work done a little ahead of its consumer, in threads, in order, with bounded memory."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from typing import TypeVar

from firstsight.errors import ImageError

Item = TypeVar("Item")
Result = TypeVar("Result")


def ahead(function: Callable[[Item], Result], items: Iterable[Item], window: int) -> Iterator[Result]:
    """Like map, computing up to `window` results before they are asked for."""
    source = iter(items)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        waiting: deque[Future[Result]] = deque(pool.submit(function, item) for item in islice(source, window))
        try:
            while waiting:
                result = waiting.popleft().result()
                waiting.extend(pool.submit(function, item) for item in islice(source, 1))
                yield result
        finally:  # a consumer that stops early leaves no work behind
            for future in waiting:
                future.cancel()


def or_error(function: Callable[[Item], Result]) -> Callable[[Item], Result | ImageError]:
    """The function, with the error of a bad image as a result like any other."""

    def run(item: Item) -> Result | ImageError:
        try:
            return function(item)
        except ImageError as error:
            return error

    return run
