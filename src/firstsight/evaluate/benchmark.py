"""Benchmarks: methods on a data set's split, over seeds and orders, one JSON file per run, resumable.

Nothing of the query stream is known to training but, for the paper's preset, how many categories it has, as the paper
does. The last epoch is reported. Every run that looks at a query stream is written into a ledger.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch

from firstsight._version import __version__
from firstsight.config import PRESETS, Rule, Settings
from firstsight.data.ahead import ahead
from firstsight.data.folder import LabelledImages
from firstsight.data.images import decode
from firstsight.errors import SettingsError
from firstsight.evaluate.stream import encode_images, score
from firstsight.files import write_file
from firstsight.protocols import Progress, Silent
from firstsight.train.fit import fit_images

METHODS = {"phe": "default", "phe-paper": "paper"}  # name -> preset
IN_MEMORY = 12 * 2**30  # bytes of decoded images that are kept for all runs


@dataclass(frozen=True)
class Run:
    """One training: everything that names its file."""

    data: str
    method: str
    bits: int
    seed: int

    @property
    def file(self) -> str:
        return f"{self.data}-{self.method}-{self.bits}bit-seed{self.seed}.json"


def runs(data: str, methods: Sequence[str], bits: Sequence[int], seeds: int) -> list[Run]:
    """All trainings of a table, those that tell most first: every method once before the next seed."""
    if unknown := [method for method in methods if method not in METHODS]:
        raise SettingsError(f"there is no method {unknown[0]!r}; allowed: {', '.join(METHODS)}")
    return [Run(data, m, b, seed) for seed in range(seeds) for b in bits for m in methods]


def benchmark(
    wanted: Sequence[Run],
    parts: tuple[LabelledImages, LabelledImages],
    changes: Mapping[str, Any],
    out: Path,
    ledger: Path | None,
    device: str = "auto",
    progress: Progress | None = None,
) -> Iterator[dict[str, Any]]:
    """Run what is missing and yield every result, in the order asked for."""
    progress = progress or Silent()
    held: tuple[LabelledImages, LabelledImages] | None = None
    for run in wanted:
        path = out / run.file
        settings = settings_of(run, changes, len(parts[1].categories))
        if path.is_file():
            result: dict[str, Any] = json.loads(path.read_bytes())
            if result["settings"] != settings.as_dict():
                raise SettingsError(f"{path} was made with other settings", "choose another --out")
        else:
            held = held or (in_memory(parts[0], progress), in_memory(parts[1], progress))
            result = {**asdict(run), **run_one(settings, *held, device, progress)}
            write_file(path, (json.dumps(result, indent=1) + "\n").encode())
            _record(ledger, result)
        yield result


def settings_of(run: Run, changes: Mapping[str, Any], categories: int) -> Settings:
    """The preset's settings with those asked for; the paper's preset is told how many categories will come."""
    told = {"expected_categories": categories} if METHODS[run.method] == "paper" else {}
    return Settings.of({**PRESETS[METHODS[run.method]], **told, **changes, "bits": run.bits, "seed": run.seed})


def run_one(
    settings: Settings, support: LabelledImages, query: LabelledImages, device: str, progress: Progress
) -> dict[str, Any]:
    """Train, encode the stream once, and score it under the preset's rule and as the released code decides."""
    began = time.monotonic()
    model = fit_images(support, settings, device, progress)
    trained = time.monotonic()
    codes = encode_images(model, query.images, progress).codes
    assert codes is not None
    truth = [query.categories[label] for label in query.labels]
    rules: list[Rule] = [settings.rule, "reference"]
    rows = {rule: score(model, codes, truth, partial(model.register, None, rule)).rows for rule in rules}
    return {
        "settings": settings.as_dict(),
        "report": model.report,
        "rows": {rule: [asdict(row) for row in some] for rule, some in rows.items()},
        "images": len(truth),
        "true_categories": len(set(truth)),
        "seconds": {"training": round(trained - began, 1), "scoring": round(time.monotonic() - trained, 1)},
        **provenance(device),
    }


def provenance(device: str) -> dict[str, Any]:
    """What it takes to know where a figure came from."""
    cuda = torch.cuda.is_available() and device != "cpu"
    return {
        "commit": _commit(),
        "command": " ".join(["firstsight", *sys.argv[1:]]),
        "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {"firstsight": __version__, "python": platform.python_version(), "torch": str(torch.__version__)},
        "hardware": torch.cuda.get_device_name()
        if cuda
        else f"{platform.machine()}, {torch.get_num_threads()} threads",
    }


def in_memory(data: LabelledImages, progress: Progress) -> LabelledImages:
    """The same images decoded once for all runs, as far as they fit; the rest is decoded when needed."""
    images: list[Any] = []
    room = IN_MEMORY
    with progress.task("decoding images", len(data.images)) as advance:
        for image, picture in zip(data.images, ahead(decode, data.images, window=64), strict=True):
            pixels = np.asarray(picture)
            room -= pixels.nbytes
            images.append(pixels if room > 0 else image)
            advance()
    return LabelledImages(data.categories, tuple(images), data.labels, data.names)


def _record(ledger: Path | None, result: Mapping[str, Any]) -> None:
    """A line about a look at a query stream."""
    if ledger is None:
        return
    kept = ("data", "method", "bits", "seed", "commit", "time", "command", "hardware", "settings")
    line = json.dumps({key: result[key] for key in kept})
    ledger.parent.mkdir(parents=True, exist_ok=True)
    with ledger.open("a", encoding="utf-8") as file:
        file.write(line + "\n")


def _commit() -> str | None:
    """The commit this code is at, with a plus where it was changed; outside a checkout, what GIT_COMMIT says."""
    here = Path(__file__).parent
    try:
        found = subprocess.run(
            ["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=7", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=10,
        )
        if found.returncode == 0 and found.stdout.strip():
            return found.stdout.strip()
    except (OSError, subprocess.SubprocessError):
        pass
    return os.environ.get("GIT_COMMIT")
