"""A process that applies functions to items, told by pipes: it neither forks nor runs the caller's script again."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import IO, Any

from firstsight.core.errors import ProcessDied
from firstsight.data import memory

POOLS = ("OMP", "OPENBLAS", "MKL")
PATIENCE = 10.0  # seconds for a process that has hung up to end
# A helper finds modules where its caller does; with -m, or without -P, Python looks in the working directory first.
START = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import main; main()"


@dataclass(frozen=True)
class Wanted:
    """What a helper says before it takes memory for decoding, and of 0 bytes when it gives that back."""

    amount: int


class Helper:
    """The caller's side."""

    def __init__(self, threads: int = 1) -> None:
        """A process whose libraries compute in so many threads."""
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pipesize=2**20,
            env={**os.environ, **{f"{name}_NUM_THREADS": str(threads) for name in POOLS}},
        )

    def map(self, function: Callable[[Any], Any], items: list[Any]) -> list[Any]:
        """The results, in order; what it raises there is raised here. ProcessDied where it was killed meanwhile."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            _send(self._process.stdin, (function, items))
            results = self._results(self._process.stdin, self._process.stdout)
        except (EOFError, BrokenPipeError, pickle.UnpicklingError):
            raise ProcessDied(
                f"a process that helps {self._end()}", "systems short of memory do that: let less run at a time"
            ) from None
        if isinstance(results, BaseException):
            raise results
        return list(results)

    def _results(self, told: IO[bytes], answers: IO[bytes]) -> Any:
        """What it answers in the end; meanwhile it is given the memory it asks for."""
        with ExitStack() as held:
            while isinstance(results := pickle.load(answers), Wanted):
                if results.amount:
                    held.enter_context(memory.room.taken(results.amount))
                    _send(told, None)
                else:
                    held.close()
        return results

    def _end(self) -> str:
        """How the process ended, in words."""
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:  # it answers, but nothing that can be read
            self._process.kill()
            code = self._process.wait()
        return f"was killed by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait()
        with contextlib.suppress(OSError, ValueError):  # what was still to be sent
            self._process.__exit__(None, None, None)


def main() -> None:
    """The process's side: until the caller hangs up. An interrupt is the caller's affair."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    told, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints does not come between

    @contextmanager
    def take(amount: int) -> Iterator[None]:
        _send(answers, Wanted(amount))
        pickle.load(told)
        try:
            yield
        finally:
            _send(answers, Wanted(0))

    memory.ask_elsewhere(take)
    while True:
        try:
            function, items = pickle.load(told)
        except EOFError:
            return
        try:
            results: Any = [function(item) for item in items]
        except BaseException as error:
            results = error
        _send(answers, results)


def _send(pipe: IO[bytes], message: Any) -> None:
    pickle.dump(message, pipe, pickle.HIGHEST_PROTOCOL)
    pipe.flush()
