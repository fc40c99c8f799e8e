"""What people see: answers on stdout, progress and messages on stderr, colour only on a terminal."""

from __future__ import annotations

import json
import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.table import Column, Table
from rich.text import Text

from firstsight.cli import completion
from firstsight.cli.remedies import remedy
from firstsight.core.errors import FirstsightError


def a_number(value: float | None) -> float | None:
    """A number as typed, which `nan` is not though it reads as one."""
    if value is not None and math.isnan(value):
        raise typer.BadParameter("nan is no number")
    return value


Json = Annotated[bool, typer.Option("--json", help="JSON instead of text.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print answers and errors only.")]
Verbose = Annotated[
    bool, typer.Option("--verbose", "-v", help="Print what is logged, the settings in force, and the trace of a fault.")
]
Device = Annotated[
    str,
    typer.Option(
        "--device",
        envvar="FIRSTSIGHT_DEVICE",
        help="auto, cpu, cuda, cuda:N or mps; torch, openvino or onnxruntime: a CPU by that.",
        show_default=True,
        autocompletion=completion.devices,
    ),
]
Wait = Annotated[
    float, typer.Option(help="Seconds to wait for another writer of the register to end.", min=0, callback=a_number)
]

out = Console(soft_wrap=True, highlight=False)
err = Console(stderr=True, soft_wrap=True, highlight=False)


def configure(quiet: bool = False, verbose: bool = False) -> None:
    """Set what this run shows, also of what is logged: warnings, and with `verbose` all of it."""
    err.quiet = quiet
    shown.quiet, shown.verbose = quiet, verbose
    log = logging.getLogger("firstsight")
    if told not in log.handlers:
        log.addHandler(told)
    log.setLevel(logging.DEBUG if verbose else logging.WARNING)


class _Told(logging.Handler):
    """What the library logs, as messages of the command."""

    def emit(self, record: logging.LogRecord) -> None:
        if record.levelno >= logging.WARNING:
            warn(f" warning: {self.format(record)}")
        else:
            say(f" {self.format(record)}")


told = _Told()


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


class Grid(Table):
    """A table whose cells are shown as they are, whatever a category or a file is called."""

    def __init__(self, *header: Column | str, **options: Any) -> None:
        super().__init__(*header, box=SIMPLE_HEAD, **options)

    def add_row(self, *cells: Any, **options: Any) -> None:
        super().add_row(*(Text(printable(str(cell))) for cell in cells), **options)


def print_table(grid: Grid) -> None:
    """As wide as the terminal; where there is none, as wide as it takes."""
    (out if on_terminal(out) else Console(width=1000)).print(grid)


def on_terminal(console: Console) -> bool:
    """Whether a person looks on. FORCE_COLOR asks for colours elsewhere, not for bars that move."""
    return console.is_terminal and console.file.isatty()


def warn(text: str) -> None:
    """Something that went wrong and was passed over: shown even when quiet."""
    Console(stderr=True, soft_wrap=True, highlight=False).print(_lines(text), style="yellow", markup=False)


def complain(error: FirstsightError) -> None:
    """An error in full, whatever is hidden otherwise."""
    err.quiet = False
    err.print(_lines(f"error: {error.what}"), style="bold red", markup=False)
    if to_do := remedy(error):
        err.print(_lines(f"       {to_do}"), markup=False)


def print_json(value: Any) -> None:
    """Readable JSON on stdout; what would not show, or would move the cursor, is written as JSON escapes it.

    What is no number is null.
    """
    text = json.dumps(_numbers(value), indent=2, ensure_ascii=False, allow_nan=False)
    print("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _numbers(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_numbers(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _lines(text: str) -> str:
    """Text of several lines, each of them printable."""
    return "\n".join(map(printable, text.split("\n")))


class Bars:
    """Progress bars with an estimate on a terminal; one line per task elsewhere; nothing when quiet."""

    def task(self, what: str, total: int) -> AbstractContextManager[Callable[[], None]]:
        return self._bar(what, total) if on_terminal(err) and not shown.quiet else self._line(what, total)

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
