"""What the benchmarks share: pictures on disk, a clock, and tables that are printed and kept as JSON."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image

from firstsight.core.protocols import SupportFeatures
from firstsight.data.synthetic import species, write_folder
from firstsight.encode.devices import pick_device
from firstsight.methods.settings import settings
from firstsight.model.assemble import assemble
from firstsight.model.model import Model
from firstsight.reproduce.provenance import provenance
from firstsight.train.features import fit_decision


def photographs(folder: Path, count: int, side: int = 500) -> list[Path]:
    """As many JPEG files of that size: 48 drawn moths, again and again under other names."""
    write_folder(folder / "drawn", species(24), range(2), size=192)
    drawn = sorted((folder / "drawn").rglob("*.jpg"))
    large = []
    for number, path in enumerate(drawn):
        with Image.open(path) as picture:
            target = folder / f"large-{number}.jpg"
            picture.resize((side, side * 3 // 4)).save(target, quality=90)
            large.append(target.read_bytes())
            target.unlink()
    paths = [folder / f"{number:06d}.jpg" for number in range(count)]
    for number, path in enumerate(paths):
        path.write_bytes(large[number % len(large)])
    return paths


def model_of(backbone: str, device: str, blank: bool, categories: int = 100, **changes: Any) -> Model:
    """A model as it would be after training, as far as time is concerned."""
    chosen = settings("phe", backbone=backbone, **changes)
    torch.manual_seed(0)
    encoder = assemble(chosen, categories, pick_device(device), blank=blank)
    encoder.learner.eval()
    centres = np.random.default_rng(0).standard_normal((categories, chosen.bits), dtype=np.float32)
    names = tuple(f"category {i}" for i in range(categories))
    return replace(
        fit_decision(SupportFeatures(centres, np.arange(categories), names, centres), chosen), encoder=encoder
    )


def size_of(function: Callable[[Path], Any], path: Path) -> tuple[int, ...]:
    """The size alone of what a function makes of a picture: nothing else has to come back from a process."""
    shape: tuple[int, ...] = function(path).shape
    return shape


def groups(items: Sequence[Any], size: int) -> Iterator[Sequence[Any]]:
    return (items[start : start + size] for start in range(0, len(items), size))


def rate(work: Callable[[], int], seconds: float = 5.0) -> float:
    """Images a second of something that returns how many it did, after a first go that does not count."""
    work()
    synchronise()
    began, done = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        done += work()
    synchronise()
    return done / (time.perf_counter() - began)


def synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def show(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    print(f"\n{title}\n\n| {' | '.join(header)} |\n|{'---|' * len(header)}")
    for row in rows:
        print(f"| {' | '.join(row)} |", flush=True)


def keep(path: Path | None, device: str, figures: dict[str, Any]) -> None:
    if path is not None:
        path.write_text(json.dumps({**asdict(provenance(device)), **figures}, indent=1) + "\n")
