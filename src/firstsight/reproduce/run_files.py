"""Results of a data set in one file of JSON lines, one per run: appended whole, never rewritten.

Only the process that started a benchmark writes, and it holds the data set's lock. A process that is killed while it
writes leaves a line without an end; that run counts as missing, and the next line takes its place.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from firstsight.core.errors import DataError
from firstsight.core.files import FileLock, disk_errors, read_json
from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.runs import Run
from firstsight.reproduce.typed_json import FieldError

SUFFIX = ".runs.jsonl"  # ledgers end in .jsonl too


class RunFile:
    """The results of one data set in a folder."""

    def __init__(self, folder: Path, data: str) -> None:
        self.path = folder / f"{data}{SUFFIX}"
        self.data = data

    def read(self) -> dict[Run, RunResult]:
        """Every result by its run; of two of the same run the later one."""
        if not self.path.is_file():
            return {}
        lines = self.path.read_bytes().splitlines(keepends=True)
        results = {}
        for number, line in enumerate(lines, start=1):
            if _is_cut_off(line):
                break  # the last one: its run is missing
            result = self._parse(line, number)
            results[result.run] = result
        return results

    def append(self, result: RunResult) -> None:
        """Add a line, and see it safely on the disk."""
        with disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("ab+") as file:
                _mend(file)
                file.write(f"{result.to_line()}\n".encode())
                file.flush()
                os.fsync(file.fileno())

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the data set's results: two benchmarks would do the same work twice."""
        lock = FileLock(self.path.with_name(f".{self.data}.lock"))
        if not lock.acquire():
            where = self.path.parent
            raise DataError(
                f"another benchmark is at work on {self.data} in {where}", "wait for it, or choose another --out"
            )
        try:
            yield
        finally:
            lock.release()

    def _parse(self, line: bytes, number: int) -> RunResult:
        remedy = "remove that line, and its run is made again"
        try:
            result = RunResult.from_line(line)
        except FieldError as error:
            raise DataError(f"{self.path}, line {number}: {error}", remedy) from None
        except ValueError:
            raise DataError(f"{self.path}, line {number}: it is damaged, or no JSON", remedy) from None
        if result.run.data != self.data:
            raise DataError(
                f"{self.path}, line {number}: run.data is {result.run.data!r}; expected {self.data!r}", remedy
            )
        return result


def read_results(folder: Path, data: str | None = None, every: bool = False) -> list[RunResult]:
    """All results on a data set, or on any, that lie in a folder, in the order methods are listed.

    Those with settings tried out and those that were inspected only if asked: they are no part of a benchmark's table.
    """
    names = [data] if data is not None else [path.name.removesuffix(SUFFIX) for path in folder.glob(f"*{SUFFIX}")]
    found = [result for name in names for result in RunFile(folder, name).read().values()]
    chosen = [result for result in found if every or not (result.run.varied or result.run.inspected)]
    place = {name: i for i, name in enumerate(METHODS)}

    def order(result: RunResult) -> tuple[Any, ...]:
        run = result.run
        listed = place.get(run.method, len(place))
        return run.data, run.known_share, listed, run.method, run.bits or 0, run.varied, run.inspected, run.seed

    return sorted(chosen, key=order)


def _is_cut_off(line: bytes) -> bool:
    """Whether it was never written to its end."""
    if line.endswith(b"\n"):
        return False
    try:
        read_json(line)
    except ValueError:
        return True
    return False


def _mend(file: IO[bytes]) -> None:
    """Take away a line that was never finished, so that the next one starts on its own."""
    file.seek(0)
    lines = file.read().splitlines(keepends=True)
    if lines and _is_cut_off(lines[-1]):
        file.truncate(sum(map(len, lines[:-1])))
    elif lines and not lines[-1].endswith(b"\n"):
        file.write(b"\n")
