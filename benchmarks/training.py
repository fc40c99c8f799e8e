"""How fast PHE trains: the released loop's structure, this project, and the limits, side by side.

    uv run --all-extras python benchmarks/training.py [--backbone NAME] [--images N,N,...] [--epochs N] [--json FILE]

Random weights serve for a backbone whose own are not at hand. Figures are images a second in the loop, and seconds
from the command to a saved model for 200 epochs, beside the floor: the same steps on a batch that is on the device.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from safetensors.torch import save_file

from common import keep, model_of, photographs, show, synchronise
from firstsight.core.protocols import Silent
from firstsight.encode.backbones import _create
from firstsight.encode.encoder import TorchEncoder
from firstsight.train.optim import make_optimiser, set_learning_rates
from firstsight.train.pixels import PixelCache
from firstsight.train.step import Step
from firstsight.train.support import Support
from released_loop import gpu_work_alone, run

CATEGORIES = 100
EPOCHS = 200
START = "from firstsight.cli.main import run; run()"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="vit_base_patch16_224")
    parser.add_argument("--images", default="1500")
    parser.add_argument("--epochs", type=int, default=10, help="epochs of the loop that are timed")
    parser.add_argument("--views", type=int, default=16)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--whole", action="store_true", help="also 200 epochs from command to saved model")
    parser.add_argument("--baseline", action="store_true", help="also the released loop's structure")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures: dict[str, Any] = {"backbone": options.backbone, "sizes": {}}
    with tempfile.TemporaryDirectory() as name:
        for count in map(int, options.images.split(",")):
            folder = Path(name) / str(count)
            paths = photographs(folder, count)
            figures["sizes"][count] = measure(options, paths, Path(name))
    keep(options.json, options.device, figures)


def measure(options: argparse.Namespace, paths: list[Path], folder: Path) -> dict[str, Any]:
    labels = [i % CATEGORIES for i in range(len(paths))]
    blank = options.backbone != "efficientnet-lite2"
    rates: dict[str, float] = {}
    floors: dict[str, float] = {}
    epochs: dict[str, float] = {}
    pixels: PixelCache | None = None
    if options.baseline:
        encoder = model_of(options.backbone, options.device, blank, CATEGORIES).torch_encoder
        rates["the released loop's structure"] = timed(lambda: run(encoder, paths, labels, 2, os.cpu_count() or 1))
        rates["its work on the device alone"] = timed(lambda: gpu_work_alone(encoder, 2 * options.epochs))
    for views, what in ((0, "fresh crops"), (options.views, f"{options.views} stored views")):
        encoder = model_of(options.backbone, options.device, blank, CATEGORIES, cache_trunk=views).torch_encoder
        pixels = pixels or PixelCache(paths, encoder.preprocess, Silent())
        support = Support(labels, pixels, encoder, Silent())
        ours, alone = loop(encoder, support, options.epochs)
        rates |= {f"firstsight, {what}": ours, f"limit of that: steps alone, {what}": alone}
        floors[what], epochs[what] = EPOCHS * len(paths) / alone, len(paths) / ours
    base = next(iter(rates.values()))
    rows = [[name, f"{rate:,.0f}", f"{rate / base:.1f} x"] for name, rate in rates.items()]
    show(f"{options.backbone}, {len(paths):,} images, batch 128", ("training", "images/s", "ratio"), rows)
    whole = from_command(options, paths, labels, folder, floors) if options.whole else {}
    return {"images_a_second": rates, "seconds_an_epoch": epochs, "seconds_to_saved_model": whole}


def loop(encoder: TorchEncoder, support: Support, epochs: int) -> tuple[float, float]:
    """Images a second over epochs, and of the same steps on one batch again and again."""
    learner = encoder.learner
    optimiser = make_optimiser(learner.parameter_groups(), learner.settings)
    step = Step(learner, support, optimiser)

    def epoch(number: int) -> None:
        set_learning_rates(optimiser, number, learner.settings)
        step.begin(number)
        for indices, draws in support.batches(number):
            step(indices, draws)
        [float(value) for value in step.sums.values()]

    for number in range(2):
        epoch(number)
    synchronise()
    began = time.perf_counter()
    for number in range(2, 2 + epochs):
        epoch(number)
    synchronise()
    ours = epochs * len(support) / (time.perf_counter() - began)
    indices, draws = next(iter(support.batches(0)))
    steps = max(1, epochs * len(support) // len(indices))
    began = time.perf_counter()
    for _ in range(steps):
        step(indices, draws)
    synchronise()
    return ours, steps * len(indices) / (time.perf_counter() - began)


def timed(work: Any) -> float:
    synchronise()
    began = time.perf_counter()
    images: int = work()
    synchronise()
    return images / (time.perf_counter() - began)


def from_command(
    options: argparse.Namespace, paths: list[Path], labels: list[int], folder: Path, floors: dict[str, float]
) -> dict[str, dict[str, float]]:
    """Seconds of `firstsight fit`, from the command to a saved model: with nothing compiled yet, and again."""
    places = folder / "labelled"
    for path, label in zip(paths, labels, strict=True):
        (places / f"category {label:03d}").mkdir(parents=True, exist_ok=True)
        path.rename(places / f"category {label:03d}" / path.name)
    settings = ["--method", "phe", "--backbone", options.backbone, "--epochs", str(EPOCHS), "--device", options.device]
    if options.backbone != "efficientnet-lite2":
        save_file(_create(options.backbone, 224).state_dict(), folder / "random.safetensors")
        settings += ["--weights", str(folder / "random.safetensors")]
    rows, kept = [], {}
    for views, (what, floor) in zip((0, options.views), floors.items(), strict=True):
        seconds = []
        for again in range(2):
            command = ["fit", str(places), "--out", str(folder / f"model-{views}-{again}"), *settings, "--quiet"]
            began = time.perf_counter()
            subprocess.run(
                [sys.executable, "-c", START, *command, "--cache-trunk", str(views)],
                env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache")},  # nobody else's
                check=True,
            )
            seconds.append(time.perf_counter() - began)
        kept[what] = {"floor": floor, "cold": seconds[0], "warm": seconds[1]}
        rows.append([what, f"{floor:.1f}", f"{seconds[0]:.1f}", f"{seconds[1]:.1f}", f"{seconds[1] - floor:.1f}"])
    header = ("", "floor: steps alone, s", "first time, s", "again, s", "above the floor, s")
    show(f"{len(paths):,} images, {EPOCHS} epochs, from command to saved model", header, rows)
    return kept


if __name__ == "__main__":
    main()
