"""How far long work has come, told to a function or to a `Progress`: what `progress=` takes everywhere."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeAlias, TypeVar

from firstsight.core.protocols import Progress, Silent

# called with what is being done, how much of it is done, and how much there is in all (0 where nobody knows)
Callback: TypeAlias = Callable[[str, int, int], None]
Watcher: TypeAlias = Progress | Callback | None
T = TypeVar("T")


def watched_by(watcher: Watcher) -> Progress:
    """Whoever watches as a `Progress`.

    >>> with watched_by(lambda what, done, total: print(what, done, "of", total)).task("encoding", 2) as advance:
    ...     advance()
    ...     advance()
    encoding 0 of 2
    encoding 1 of 2
    encoding 2 of 2
    """
    if watcher is None:
        return Silent()
    return Called(watcher) if callable(watcher) else watcher


class Called(Silent):
    """Calls a function at the start of a task and after every step; notes go to the log."""

    def __init__(self, callback: Callback) -> None:
        self.callback = callback

    @contextmanager
    def task(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        done = 0

        def advance() -> None:
            nonlocal done
            done += 1
            self.callback(what, done, total)

        self.callback(what, 0, total)
        yield advance


def counted(each: Iterable[T], watcher: Watcher, what: str, total: int) -> Iterator[T]:
    """The same, one step of a task for each."""
    with watched_by(watcher).task(what, total) as advance:
        for one in each:
            yield one
            advance()
