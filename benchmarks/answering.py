"""How fast images are answered, from files on disk: the plain loop, this project, and the limits, side by side.

    uv run --all-extras python benchmarks/answering.py [--backbone NAME] [--device NAME] [--images N] [--json FILE]

The baseline decodes and encodes in turn, batches of 16 in fp32, channels first, as a loop one would write first. The
limits are the decoders alone and the network alone on pixels that are there. A backbone whose weights are not at hand
gets random ones: they take the same time.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torchvision.transforms import v2

from common import groups, keep, model_of, photographs, rate, show, synchronise
from firstsight.data.ahead import ahead
from firstsight.data.images import decode
from firstsight.discoverer import Discoverer
from firstsight.methods.model import Model

BATCH = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--device", default="auto")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    model = model_of(options.backbone, options.device, blank=options.backbone != "efficientnet-lite2")
    with tempfile.TemporaryDirectory() as name:
        paths = photographs(Path(name), options.images)
        figures: dict[str, Any] = {"backbone": options.backbone, "images_a_second": {}}
        throughput(model, paths, options.seconds, figures)
        latency(model, paths, Path(name), figures)
        flips(model, paths, figures)
    keep(options.json, options.device, figures)


def throughput(model: Model, paths: list[Path], seconds: float, figures: dict[str, Any]) -> None:
    pixels = [model.prepare(path) for path in paths[: 8 * BATCH]]
    exact = model_of(model.settings.backbone, str(model.device), blank=model.settings.backbone != "efficientnet-lite2")
    exact.exact = True

    def plain() -> int:
        return plain_loop(model, paths[: 4 * BATCH])

    def ours(with_model: Model = model) -> int:
        return sum(1 for _ in Discoverer(with_model).discover_many(paths))

    def decoders() -> int:
        return sum(1 for _ in ahead(model.prepare, paths, window=64))

    def network() -> int:
        for some in groups(pixels, model.batch):
            model.rows(np.stack(some))
        return len(pixels)

    rates = {
        "the plain loop": rate(plain, seconds),
        "firstsight discover": rate(ours, seconds),
        "the same, --exact": rate(lambda: ours(exact), seconds),
        "limit: decoding alone": rate(decoders, seconds),
        "limit: encoding alone": rate(network, seconds),
    }
    figures["images_a_second"] = rates
    base = rates["the plain loop"]
    rows = [[name, f"{value:,.0f}", f"{value / base:.1f} x"] for name, value in rates.items()]
    show(
        f"{model.settings.backbone}, {model.device}, {model.provenance.precision}", ("what", "images/s", "ratio"), rows
    )


def plain_loop(model: Model, paths: list[Path]) -> int:
    p = model.preprocess
    transform = v2.Compose(
        [
            v2.Resize(p.resize, v2.InterpolationMode.BICUBIC),
            v2.CenterCrop(p.crop),
            v2.ToImage(),
            v2.ToDtype(torch.float32, scale=True),
            v2.Normalize(list(p.mean), list(p.std)),
        ]
    )
    register = model.register()
    for some in groups(paths, BATCH):
        images = torch.stack([transform(decode(path)).contiguous() for path in some]).to(model.device)
        with torch.no_grad():
            rows = model.network.rows(model.trunk(images))
        for row in register.rows_of(model.encoded(rows.float())):
            register.assign(row)
    return len(paths)


def latency(model: Model, paths: list[Path], folder: Path, figures: dict[str, Any], count: int = 100) -> None:
    """One image at a time, from file to durable answer, and what each stage takes."""
    stages: dict[str, list[float]] = {name: [] for name in ("whole", "read and decode", "encode", "decide and keep")}
    with Discoverer(model, store=folder / "one.db") as discoverer:
        for path in paths[:5]:
            discoverer.discover_one(path)
        for path in paths[5 : 5 + count]:
            began = time.perf_counter()
            discoverer.discover_one(path)
            stages["whole"].append(time.perf_counter() - began)
        for path in paths[5 : 5 + count]:
            began = time.perf_counter()
            prepared = discoverer._prepare(path, once=False)
            decoded = time.perf_counter()
            discoverer._rows([prepared])
            synchronise()
            stages["read and decode"].append(decoded - began)
            stages["encode"].append(time.perf_counter() - decoded)
    whole, decode_, encode = (float(np.median(stages[name])) for name in ("whole", "read and decode", "encode"))
    rows, kept = [], {}
    for name, times in stages.items():
        p50, p99 = np.percentile(times, [50, 99]) * 1e3 if times else (max(whole - decode_ - encode, 0) * 1e3, np.nan)
        kept[name] = {"p50_ms": float(p50), "p99_ms": None if np.isnan(p99) else float(p99)}
        rows.append([name, f"{p50:.1f}", "" if np.isnan(p99) else f"{p99:.1f}"])
    figures["latency"] = kept
    show("One image at a time, from file to durable answer", ("stage", "p50 ms", "p99 ms"), rows)


def flips(model: Model, paths: list[Path], figures: dict[str, Any], count: int = 96) -> None:
    """How many bits of a code depend on what else is in the batch, without --exact."""
    pixels = [model.prepare(path) for path in paths[:count]]
    alone = torch.cat([model.rows(each[None]) for each in pixels]).cpu().numpy()
    together = torch.cat([model.rows(np.stack(some)) for some in groups(pixels, model.batch)]).cpu().numpy()
    changed = (alone > 0) != (together > 0)
    figures["flips"] = {"bits": int(changed.size), "changed": int(changed.sum()), "codes": int(changed.any(1).sum())}
    codes = f"{changed.any(1).sum()} of {len(pixels)} codes"
    print(f"\n{changed.sum()} of {changed.size} bits, in {codes}, depend on what else is in the batch.")


if __name__ == "__main__":
    main()
