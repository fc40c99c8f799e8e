"""Cores and threads: how many cores are ours, and one thread for what is too small to be shared out.

A product of small matrices takes microseconds. Handed to a thread on every core it takes as long as the slowest of
them, and beside a busy process that one has to wait for its turn. So what decides, and what is fitted on a few
thousand features, runs in one thread:

    with one_thread():
        register.assign_many(features)

    @one_thread()
    def fit(features, labels): ...

Knows nothing of images, models or torch, and loads none of the libraries it holds.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache, lru_cache
from math import ceil
from pathlib import Path
from threading import Lock, local

from threadpoolctl import ThreadpoolController

CGROUP = Path("/sys/fs/cgroup")


@cache
def cores() -> int:
    """How many cores this process may use: those it is allowed, and no more than a container's quota."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return max(1, min(allowed, quota(CGROUP) or allowed))


def computing_threads(processes: int = 1) -> int:
    """How many threads may compute in each of so many processes: its share of the cores, OMP_NUM_THREADS at most."""
    share = max(1, cores() // processes)
    return min(share, asked(os.environ.get("OMP_NUM_THREADS", "")) or share)


def quota(folder: Path) -> int | None:
    """The cores' worth of time a container may take, rounded up; None where there is no such limit."""
    try:
        if (file := folder / "cpu.max").is_file():
            time, period = file.read_text().split()
        else:
            time, period = ((folder / "cpu" / f"cpu.cfs_{name}_us").read_text() for name in ("quota", "period"))
        return ceil(int(time) / int(period)) if int(time) > 0 else None
    except (OSError, ValueError, ZeroDivisionError):  # no such system, or "max"
        return None


def asked(text: str) -> int | None:
    """The threads a user allows by OMP_NUM_THREADS, of which the first number counts; None where it says nothing."""
    first = text.split(",")[0].strip()
    return int(first) if first.isdecimal() and int(first) > 0 else None


@contextmanager
def one_thread() -> Iterator[None]:
    """Within this, NumPy, SciPy and scikit-learn compute in one thread; also as a decorator.

    BLAS is held for the whole process by the first that enters, until it leaves; those that enter meanwhile go along.
    OpenMP, which scikit-learn and torch use, is held for the calling thread. Entering takes microseconds. A library
    that is loaded within is held from the next time on.
    """
    with _held("blas", _process), _held("openmp", _thread.turn):
        yield


@contextmanager
def _held(kind: str, turn: Lock) -> Iterator[None]:
    """Pools of one kind at one thread, unless someone holds them already."""
    if not turn.acquire(blocking=False):
        yield
        return
    try:
        with _pools(len(sys.modules)).select(user_api=kind).limit(limits=1):
            yield
    finally:
        turn.release()


@lru_cache(maxsize=1)
def _pools(loaded: int) -> ThreadpoolController:
    """The pools there are; looked for again, which takes milliseconds, when modules have been loaded since."""
    return ThreadpoolController()


class _Thread(local):
    """What every thread has for itself."""

    def __init__(self) -> None:
        self.turn = Lock()


_process, _thread = Lock(), _Thread()
