"""A process that applies functions to items, told by pipes: it neither forks nor runs the caller's script again."""

from __future__ import annotations

import contextlib
import os
import pickle
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

# A helper finds modules where its caller does. With -m, or without -P, Python would look in the working directory first.
START = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import main; main()"


class Helper:
    """The caller's side."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-c", START, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            pipesize=2**20,
            env={**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )

    def map(self, function: Callable[[Any], Any], items: list[Any]) -> list[Any]:
        """The results, in order; what it raises there is raised here."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        pickle.dump((function, items), self._process.stdin, pickle.HIGHEST_PROTOCOL)
        self._process.stdin.flush()
        results = pickle.load(self._process.stdout)
        if isinstance(results, BaseException):
            raise results
        return list(results)

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
    while True:
        try:
            function, items = pickle.load(told)
        except EOFError:
            return
        try:
            results: Any = [function(item) for item in items]
        except BaseException as error:
            results = error
        pickle.dump(results, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()
