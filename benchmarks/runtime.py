"""How fast a CPU answers by each runtime and precision, from files and by encoding alone, side by side.

    uv run --all-extras python benchmarks/runtime.py [--backbone NAME] [--one-look] [--images N] [--rounds N] [--side N]

The baseline is torch in fp32. Every round measures all of them in turn, and a ratio is the median of its rounds': a
machine that is busy with other things is so for all alike. Decoding alone, by the same threads, is the next limit.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from common import keep, photographs, show
from firstsight import fit
from firstsight.core.threads import computing_threads
from firstsight.data.ahead import ahead
from firstsight.data.synthetic import species, write_folder
from firstsight.discoverer import Discoverer
from firstsight.model.export import export_model
from firstsight.model.folder import load_model
from firstsight.model.model import Model

BASELINE = "torch fp32"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--weights", help="of that backbone, where they are not at hand")
    parser.add_argument("--image-size", type=int, default=224)
    parser.add_argument("--one-look", action="store_true", help="without the second look")
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--side", type=int, default=500, help="of the photographs, in pixels")
    parser.add_argument("--device", default="cpu", help="for what is kept with the figures")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        models = runtimes(folder, options)
        (folder / "photographs").mkdir()
        paths = photographs(folder / "photographs", options.images, options.side)
        figures: dict[str, Any] = {"backbone": options.backbone, "threads": computing_threads(), "side": options.side}
        figures["discover"] = compared("from files to answers", discovering(models, paths), len(paths), options.rounds)
        pixels = np.stack([models[BASELINE].prepare(path) for path in paths])
        figures["encoding"] = compared("encoding alone", encoding(models, pixels), len(pixels), options.rounds)
        keep(options.json, options.device, figures)


def runtimes(folder: Path, options: argparse.Namespace) -> dict[str, Model]:
    """The same model by all of them."""
    write_folder(folder / "moths", species(6), range(6), size=256)
    changes = {"backbone": options.backbone, "image_size": options.image_size, "weights": options.weights}
    fit(folder / "moths", folder / "m", device="torch", second_look=not options.one_look, **changes)
    model = load_model(folder / "m", "torch")
    support = sorted((folder / "moths").rglob("*.jpg"))
    for precision in ("fp32", "bf16", "int8"):
        export_model(model, folder / precision, precision, support if precision == "int8" else ())
    return {
        BASELINE: model,
        "onnxruntime fp32": load_model(folder / "fp32", "onnxruntime"),
        **{f"openvino {each}": load_model(folder / each, "openvino") for each in ("fp32", "bf16", "int8")},
    }


def discovering(models: dict[str, Model], paths: list[Path]) -> dict[str, Callable[[], Any]]:
    work: dict[str, Callable[[], Any]] = {
        name: lambda model=model: list(Discoverer(model).discover_many(paths))  # type: ignore[misc]
        for name, model in models.items()
    }
    return work | {"limit: decoding alone": lambda: list(ahead(models[BASELINE].prepare, paths, window=32))}


def encoding(models: dict[str, Model], pixels: np.ndarray[Any, Any]) -> dict[str, Callable[[], Any]]:
    return {name: lambda model=model: model.encode(pixels) for name, model in models.items()}  # type: ignore[misc]


def compared(title: str, work: dict[str, Callable[[], Any]], images: int, rounds: int) -> dict[str, Any]:
    """Images a second by each, and the median of its ratios to the baseline in the same round."""
    seconds: dict[str, list[float]] = {name: [] for name in work}
    for each in work.values():
        each()  # a first go that does not count
    for _ in range(rounds):
        for name, each in work.items():
            began = time.perf_counter()
            each()
            seconds[name].append(time.perf_counter() - began)
    figures = {
        name: {
            "images_a_second": images / median(taken),
            "ratio": median(base / own for base, own in zip(seconds[BASELINE], taken, strict=True)),
        }
        for name, taken in seconds.items()
    }
    lines = [[name, f"{each['images_a_second']:.0f}", f"{each['ratio']:.1f} x"] for name, each in figures.items()]
    show(title, ("what", "images/s", f"ratio to {BASELINE}"), lines)
    return figures


if __name__ == "__main__":
    main()
