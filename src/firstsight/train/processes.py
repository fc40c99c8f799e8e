"""The processes that train one model together: `torchrun` starts them, each joins with a device of its own.

The first reads and writes files, decides where something is decided, and speaks. Outside `joined`, and without
torchrun, there is one process, and everything here does nothing.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import cache
from itertools import count as numbers
from typing import Any, TypeVar

import torch
from torch import distributed

from firstsight.core.errors import DeviceError, ProcessDied, SettingsError
from firstsight.core.torchrun import started_by_torchrun

Made = TypeVar("Made")

PATIENCE = timedelta(days=1)  # for one that fits a decision while others wait; one that died is noticed by its silence
FAILED = "failed"  # how many processes have


@dataclass(frozen=True)
class Group:
    """This process among all that take part, and among those `here`, on this machine."""

    rank: int = 0
    count: int = 1
    local: int = 0
    here: int = 1


_now = Group()
_joins = numbers()


def group() -> Group:
    """Those that train together now."""
    return _now


def first() -> bool:
    """Whether this process reads and writes files."""
    return _now.rank == 0


@contextmanager
def joined(device: str) -> Iterator[str]:
    """Train with the processes that torchrun started beside this one; gives the device that is this one's.

    Where one of them ends, so do all: whoever waits for it gets ProcessDied.
    """
    global _now
    if not started_by_torchrun():
        yield device
        return
    own = _own_device(device)
    store, rank, count = _rendezvous()
    backend = "cpu:gloo,cuda:nccl" if own.startswith("cuda") else "gloo"
    with others_may_die():
        distributed.init_process_group(
            backend,
            store=distributed.PrefixStore(f"fit {next(_joins)}", store),  # type: ignore[attr-defined]
            rank=rank,
            world_size=count,
            timeout=PATIENCE,
        )
    _now = Group(rank, count, int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"]))
    try:
        with _ended_in_words():
            yield own
            same(lambda: None)  # nobody leaves before the model is saved
        distributed.destroy_process_group()
    except Exception:
        speaks_first()  # before those who wait for this one notice
        raise
    finally:
        _now = Group()


@cache
def speaks_first() -> bool:
    """Whether this process is the first to fail, so that it says why; the others leave it at that."""
    if not started_by_torchrun():
        return True
    try:
        return int(_rendezvous()[0].add(FAILED, 1)) == 1
    except (RuntimeError, ValueError):  # nobody is left who could have said it
        return True


def same(function: Callable[[], Made]) -> Made:
    """What a function gives in the first process, for all of them; it runs nowhere else."""
    if _now.count == 1:
        return function()
    made: list[Any] = [function() if first() else None]
    with others_may_die():
        distributed.broadcast_object_list(made, src=0, device=torch.device("cpu"))
    found: Made = made[0]
    return found


def exchanged(own: bytes) -> list[bytes]:
    """What every process has to say, by rank."""
    said: list[Any] = [own]
    if _now.count > 1:
        said *= _now.count
        with others_may_die():
            distributed.all_gather_object(said, own)
    return said


def check_same(run: dict[str, Any]) -> None:
    """SettingsError where another process was started with something else, or sees other files, than the first."""
    for key, value in same(lambda: run).items():
        if run.get(key) != value:
            raise SettingsError(
                f"process {_now.rank}: {key} is {run.get(key)!r}; the first process has {value!r}",
                "start all with the same arguments, on machines that see the same files",
            )


@contextmanager
def others_may_die() -> Iterator[None]:
    """Around whatever waits for the others."""
    try:
        yield
    except RuntimeError as error:
        if isinstance(error, torch.OutOfMemoryError):
            raise
        raise _died() from error


def _died() -> ProcessDied:
    return ProcessDied(
        "training has ended: one of its processes is gone, killed by someone or by a system short of memory",
        "go on with --resume, with any number of processes",
    )


@contextmanager
def _ended_in_words() -> Iterator[None]:
    """torchrun ends the others by a signal when one has died."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def end(*_: Any) -> None:
        raise _died()

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@cache
def _rendezvous() -> tuple[Any, int, int]:
    """The store that torchrun keeps for its processes, and this one's number among so many."""
    with others_may_die():
        found: tuple[Any, int, int] = next(distributed.rendezvous("env://", timeout=PATIENCE))  # type: ignore[attr-defined]
    return found


def _own_device(name: str) -> str:
    """The CPU for all, or a GPU for each."""
    local, here = int(os.environ["LOCAL_RANK"]), int(os.environ["LOCAL_WORLD_SIZE"])
    if name == "cpu" or (name == "auto" and not torch.cuda.is_available()):
        return "cpu"
    if name not in ("auto", "cuda"):
        raise DeviceError(f"device {name!r} was asked for by each of {here} processes", "use --device cuda or cpu")
    if (found := torch.cuda.device_count()) < here:
        raise DeviceError(
            f"{here} processes were started here; {found} CUDA devices are here",
            f"use torchrun --nproc-per-node {max(1, found)}, or --device cpu",
        )
    torch.cuda.set_device(local)
    return f"cuda:{local}"
