"""What people see: answers on stdout, progress and messages on stderr, colour only on a terminal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Table

from firstsight.errors import FirstsightError

Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print answers and errors only.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print the settings in force, and the trace of a fault.")
]
Device = Annotated[
    str, typer.Option("--device", envvar="FIRSTSIGHT_DEVICE", help="auto, cpu, cuda, cuda:N or mps.", show_default=True)
]

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)


def configure(quiet: bool = False, verbose: bool = False) -> None:
    """Set what this run shows."""
    err.quiet = quiet
    shown.quiet, shown.verbose = quiet, verbose


class _Shown:
    quiet = False
    verbose = False


shown = _Shown()


def say(text: str, style: str | None = None) -> None:
    """A message about the work, on stderr."""
    err.print(printable(text), style=style, markup=False)


def printable(text: str) -> str:
    """Text that stays on its line and in its column, whatever a file was named."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "backslashreplace").decode() for c in text)


def print_table(grid: Table) -> None:
    """As wide as the terminal; where there is none, as wide as it takes."""
    (out if out.is_terminal else Console(width=1000)).print(grid)


def warn(text: str) -> None:
    """Something that went wrong and was passed over: shown even when quiet."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(printable(text), style="yellow", markup=False)


def complain(error: FirstsightError) -> None:
    """An error in full, whatever is hidden otherwise."""
    err.quiet = False
    err.print(f"error: {error.what}", style="bold red", markup=False)
    if error.remedy:
        err.print(f"       {error.remedy}", markup=False)


class Bars:
    """Progress bars with an estimate on a terminal; one line per task elsewhere; nothing when quiet."""

    def task(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        return self._bar(what, total) if err.is_terminal and not shown.quiet else self._line(what, total)

    def note(self, text: str) -> None:
        warn(f" warning: {text}")

    @contextmanager
    def _bar(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        columns = (
            TextColumn(" {task.description:<22}"),
            BarColumn(bar_width=36),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
        )
        with Progress(*columns, console=err) as progress:
            task = progress.add_task(what, total=total)
            yield lambda: progress.advance(task)

    @contextmanager
    def _line(self, what: str, total: int) -> Iterator[Callable[[], None]]:
        began = time.monotonic()
        yield lambda: None
        say(f" {what}: {total} in {time.monotonic() - began:.1f} s")
