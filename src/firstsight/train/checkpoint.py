"""Checkpoints: what a killed run needs to go on as if nothing had happened.

One safetensors file beside the model to be, replaced whole; its header holds the epoch and what the run is. Of several
processes the first has it, and tells the others what it says; how many they are is no part of the run.
"""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn
from torch.optim import Optimizer

from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.files import FileLock, disk_errors, write_file
from firstsight.train.optim import Average
from firstsight.train.processes import same


class Checkpoint:
    """The place a run keeps its state; without a folder, nowhere."""

    def __init__(self, folder: Path | None, run: dict[str, Any], every: float) -> None:
        self.file = folder and folder / "checkpoint.safetensors"
        self.metrics = folder and folder / "metrics.jsonl"
        self.run = run
        self.every = every
        self.last = time.monotonic()
        self.lines: list[str] = []

    @contextmanager
    def held(self) -> Iterator[None]:
        """Keep other fits from writing the same model meanwhile; a run that leaves no checkpoint leaves no folder."""
        if self.file is None:
            yield
            return
        lock = FileLock(self.file.parent / "lock")
        if not lock.acquire():
            raise ModelError(f"another fit is at work on {self.file.parent}", "wait for it, or choose another --out")
        try:
            yield
        finally:
            lock.release()
            if not self.exists:
                self.remove()

    @property
    def exists(self) -> bool:
        return self.file is not None and self.file.is_file()

    def record(self, values: dict[str, Any]) -> None:
        """Add a line to metrics.jsonl."""
        self.lines.append(json.dumps(values) + "\n")
        if self.metrics is not None:
            with disk_errors(self.metrics):
                self.metrics.parent.mkdir(parents=True, exist_ok=True)
                with self.metrics.open("a", encoding="utf-8") as file:
                    file.write(self.lines[-1])

    def keep(self, epoch: int, learner: nn.Module, optimiser: Optimizer, average: Average | None) -> None:
        """Store the state after an epoch, unless the last one was stored moments ago."""
        if self.file is None or time.monotonic() - self.last < self.every:
            return
        tensors = {f"learner.{name}": t for name, t in learner.state_dict().items()}
        for index, state in optimiser.state_dict()["state"].items():
            tensors |= {f"optimiser.{index}.{key}": value for key, value in state.items()}
        if average is not None:
            tensors |= {f"average.{name}": t for name, t in average.values.items()}
        header = {"run": self.run, "epoch": epoch, "lines": self.lines, "steps": average.steps if average else 0}
        content = save(
            {name: t.detach().cpu().contiguous().clone() for name, t in tensors.items()}, {"state": json.dumps(header)}
        )
        write_file(self.file, content)
        self.last = time.monotonic()

    def restore(self, learner: nn.Module, optimiser: Optimizer, average: Average | None) -> int:
        """Fill everything from the file, if there is one; the epoch to go on with."""
        found = same(self._read)
        if found is None:
            if self.metrics is not None:  # of a run killed before its first checkpoint
                self.metrics.unlink(missing_ok=True)
            return 0
        header, tensors = found
        learner.load_state_dict(_part(tensors, "learner."))
        state: dict[int, dict[str, Tensor]] = {}
        for name, tensor in _part(tensors, "optimiser.").items():
            index, key = name.split(".", 1)
            state.setdefault(int(index), {})[key] = tensor
        optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
        if average is not None:
            average.steps = header["steps"]
            for name, tensor in _part(tensors, "average.").items():
                average.values[name].copy_(tensor)
        self.lines = header["lines"]
        if self.metrics is not None:
            write_file(self.metrics, "".join(self.lines).encode())
        return int(header["epoch"]) + 1

    def _read(self) -> tuple[dict[str, Any], dict[str, Tensor]] | None:
        """The header and all tensors of the file, if there is one, of this very run."""
        if self.file is None or not self.file.is_file():
            return None
        try:
            with safe_open(self.file, framework="pt") as file:
                header = json.loads(file.metadata()["state"])
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except (SafetensorError, KeyError, ValueError, TypeError) as error:
            raise ModelError(f"{self.file}: is damaged: {error}", "delete it and train from the start") from None
        self._check_same_run(header["run"])
        return header, tensors

    def remove(self) -> None:
        if self.file is not None:
            shutil.rmtree(self.file.parent, ignore_errors=True)

    def _check_same_run(self, then: dict[str, Any]) -> None:
        for key in {**then, **self.run}:
            if then.get(key) != self.run.get(key):
                raise SettingsError(
                    f"cannot resume: {key} was {then.get(key)!r} and is now {self.run.get(key)!r}",
                    f"resume with what it began with, or start anew after deleting {self.file and self.file.parent}",
                )


def _part(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {name.removeprefix(prefix): t for name, t in tensors.items() if name.startswith(prefix)}
