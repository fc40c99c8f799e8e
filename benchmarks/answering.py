"""How fast images are answered, from files on disk: the plain loop, this project, and the limits, side by side.

    uv run --all-extras python benchmarks/answering.py [--backbone NAME | --model DIR] [--device NAME] [--images N]

The baseline decodes and encodes in turn, batches of 16 in fp32, channels first, as a loop one would write first. The
limits are decoders alone, a process for every core, and the encoder alone on pixels that are there: as it runs here,
and on a GPU compiled too. A backbone whose weights are not at hand gets random ones: they take the same time.
`--model` takes a trained model instead.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torchvision.transforms import v2

from common import groups, keep, model_of, photographs, rate, show, size_of, synchronise
from firstsight.data.helper import Helper
from firstsight.data.images import decode, resized
from firstsight.discoverer import Discoverer
from firstsight.model.folder import load_model
from firstsight.model.model import Model

BATCH = 16


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--model", type=Path)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--images", type=int, default=256)
    parser.add_argument("--seconds", type=float, default=5.0)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    model, exact = (the_model(options, exact=exact) for exact in (False, True))
    with tempfile.TemporaryDirectory() as name:
        paths = photographs(Path(name), options.images)
        figures: dict[str, Any] = {"backbone": model.settings.backbone, "trained": options.model is not None}
        throughput(model, exact, paths, options.seconds, figures)
        latency(model, paths, Path(name), figures)
        flips(model, exact, paths, figures)
        keep(options.json, options.device, figures)


def the_model(options: argparse.Namespace, exact: bool) -> Model:
    if options.model is not None:
        return load_model(options.model, options.device, exact)
    model = model_of(options.backbone, options.device, blank=options.backbone != "efficientnet-lite2")
    model.torch_encoder.exact = exact
    return model


def throughput(model: Model, exact: Model, paths: list[Path], seconds: float, figures: dict[str, Any]) -> None:
    pixels = np.stack([model.prepare(path) for path in paths[: 8 * BATCH]])

    def plain() -> int:
        return plain_loop(model, paths[: 4 * BATCH])

    def ours(with_model: Model = model) -> int:
        return sum(1 for _ in Discoverer(with_model).discover_many(paths))

    def encoding() -> int:
        model.torch_encoder.features(pixels)
        return len(pixels)

    rates = {
        "the plain loop": rate(plain, seconds),
        "firstsight discover": rate(ours, seconds),
        "the same, --exact": rate(lambda: ours(exact), seconds),
        "limit: decoding alone": decoding_alone(model, paths, seconds),
        "limit: encoding alone": rate(encoding, seconds),
    }
    if model.torch_encoder.device.type == "cuda":
        rates["limit: encoding alone, compiled"] = compiled_alone(model, pixels, seconds)
    figures["images_a_second"] = rates
    base = rates["the plain loop"]
    rows = [[name, f"{value:,.0f}", f"{value / base:.1f} x"] for name, value in rates.items()]
    title = f"{model.settings.backbone}, {model.torch_encoder.device}, {model.torch_encoder.precision}"
    show(title, ("what", "images/s", "ratio"), rows)


def decoding_alone(model: Model, paths: list[Path], seconds: float) -> float:
    """A process for every core, which decodes its share and says only how large the pictures are."""
    cores = os.cpu_count() or 1
    helpers = [Helper() for _ in range(cores)]
    shares = [paths[core::cores][:64] for core in range(cores)]
    function = partial(resized, preprocess=model.torch_encoder.preprocess)
    with ThreadPoolExecutor(cores) as pool:

        def work() -> int:
            done = pool.map(lambda helper, share: helper.map(partial(size_of, function), share), helpers, shares)
            return sum(map(len, done))

        result = rate(work, seconds)
    for helper in helpers:
        helper.stop()
    return result


def compiled_alone(model: Model, pixels: np.ndarray[Any, Any], seconds: float) -> float:
    """The whole encoder compiled, bf16, on a batch that is on the device already."""
    encoder = model.torch_encoder
    batch = torch.from_numpy(pixels[: encoder.batch]).to(encoder.device)
    stem, learner = encoder.ready_stem, encoder._ready
    run = torch.compile(lambda crops: learner.features(stem(crops)), dynamic=False)

    def work() -> int:
        with torch.inference_mode(), torch.autocast("cuda", dtype=torch.bfloat16):
            for _ in range(20):
                run(batch)
        synchronise()
        return 20 * len(batch)

    return rate(work, seconds)


def plain_loop(model: Model, paths: list[Path]) -> int:
    encoder, p = model.torch_encoder, model.torch_encoder.preprocess
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
        images = torch.stack([transform(decode(path)).contiguous() for path in some]).to(encoder.device)
        with torch.no_grad():
            features = encoder.learner.features(encoder.trunk(images)).float().cpu().numpy()
        for each in model.transform(features):
            register.assign(each)
    return len(paths)


def latency(model: Model, paths: list[Path], folder: Path, figures: dict[str, Any], count: int = 100) -> None:
    """One image at a time, from file to durable answer, and what each stage takes."""
    names = ("read and decode", "encode", "decide and keep", "whole")
    stages: dict[str, list[float]] = {name: [] for name in names}
    with Discoverer(model, store=folder / "one.db") as discoverer:
        for number, path in enumerate(paths[: 5 + count]):
            times = [time.perf_counter()]
            prepared = discoverer._preparing(once=False)(path)
            times.append(time.perf_counter())
            group = discoverer._with_feature(prepared)
            times.append(time.perf_counter())
            discoverer.decide(group)
            times.append(time.perf_counter())
            if number >= 5:
                for name, took in zip(names, [*np.diff(times), times[-1] - times[0]], strict=True):
                    stages[name].append(took)
    rows = []
    figures["latency"] = {}
    for name, each in stages.items():
        p50, p99 = (float(value) * 1e3 for value in np.percentile(each, [50, 99]))
        figures["latency"][name] = {"p50_ms": p50, "p99_ms": p99}
        rows.append([name, f"{p50:.1f}", f"{p99:.1f}"])
    show("One image at a time, from file to durable answer", ("stage", "p50 ms", "p99 ms"), rows)


def flips(model: Model, exact: Model, paths: list[Path], figures: dict[str, Any], count: int = 480) -> None:
    """How many bits of a code are others without --exact, and how many depend on what else is in the batch."""
    pixels = np.stack([model.prepare(path) for path in paths[:count]])
    as_it_is, one_by_one = model.encode(pixels), np.concatenate([model.encode(each[None]) for each in pixels])
    figures["flips"] = {}
    rows = []
    for what, other in (("with --exact", exact.encode(pixels)), ("alone, not among others", one_by_one)):
        changed = (as_it_is > 0) != (other > 0)
        counts = {"bits": changed.size, "changed": int(changed.sum()), "codes": int(changed.any(1).sum())}
        figures["flips"][what] = counts
        rows.append([what, f"{counts['changed']} of {changed.size:,}", f"{counts['codes']} of {len(pixels)}"])
    show("Bits and codes that would be others", ("", "bits", "codes"), rows)


if __name__ == "__main__":
    main()
