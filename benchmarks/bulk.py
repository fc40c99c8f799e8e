"""Features in bulk: a local cluster of Ray against this process, and both against decoding and encoding alone.

    uv run --all-extras python benchmarks/bulk.py [--images 5000] [--workers 2] [--rounds 2] [--json FILE]

Alone means the one loop that decodes and encodes, without digests, parts or a cluster. The cluster is up before the
clock starts; its workers load the model while it runs. All take turns.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median

import ray

from common import keep, model_of, photographs, show
from firstsight.encode.many import encode_many
from firstsight.model.folder import load_model, save_model
from firstsight.model.model import Model
from firstsight.scale.cluster import encode_by_ray
from firstsight.scale.encoding import encode_here


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--images", type=int, default=5000)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--part", type=int, default=250)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        saved = folder / "model"
        save_model(model_of(options.backbone, "cpu", blank=options.backbone != "efficientnet-lite2"), saved)
        model = load_model(saved, "cpu")
        paths = photographs(folder / "images", options.images)
        rounds = [compared(model, saved, paths, folder / str(number), options) for number in range(options.rounds)]
    ray.shutdown()
    rates = {what: median(options.images / each[what] for each in rounds) for what in rounds[0]}
    alone = rates["decoding and encoding alone"]
    lines = [(what, f"{rate:.1f}", f"{rate / alone:.0%}") for what, rate in rates.items()]
    show(f"{options.images:,} images, {options.backbone}", ("how", "images a second", "of alone"), lines)
    keep(options.json, "cpu", {"images": options.images, "rounds": rounds})


def compared(
    model: Model, saved: Path, paths: list[Path], folder: Path, options: argparse.Namespace
) -> dict[str, float]:
    """Seconds that each takes for all images."""
    taken = {}
    began = time.perf_counter()
    encode_many(model.image_encoder, paths)
    taken["decoding and encoding alone"] = time.perf_counter() - began
    began = time.perf_counter()
    encode_here(model, paths, folder / "here", options.part)
    taken["in this process"] = time.perf_counter() - began
    encode_by_ray(saved, model, paths[: options.workers], folder / "ready", 1, workers=options.workers)
    began = time.perf_counter()
    encode_by_ray(saved, model, paths, folder / "ray", options.part, workers=options.workers)
    taken[f"Ray, {options.workers} workers"] = time.perf_counter() - began
    return taken


if __name__ == "__main__":
    main()
