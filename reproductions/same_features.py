"""Other rules with as much of the backbone learning as `firstsight` has, and every rule on the features of the others.

    python reproductions/same_features.py cub cub.tar --out whole --methods phe,online-clustering,age,talon-p
    python reproductions/same_features.py cub cub.tar --out whole --methods firstsight,firstsight-frozen --seeds 0,1,2

A method is trained by the recipe of adaptation: the later half of the blocks, its rates, batches, views and image size,
but by its own losses. Its own rule is scored as `benchmark` does, into DATA.runs.jsonl. Then the register of
`firstsight` decides on what the backbone has become, calibrated as always by two more trainings on half of the
categories each. On the features of `firstsight` itself, other rules decide. Those go into registers.jsonl, a line each.
Every line is a look at a query stream: add it to the ledger.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from firstsight.core.accuracy import matched
from firstsight.core.decision import Decision
from firstsight.core.protocols import CONFIRMED, Features, HeldOut, Silent, SupportFeatures
from firstsight.core.threads import one_thread
from firstsight.data.benchmarks import open_data, split_of
from firstsight.encode.encoder import TorchEncoder
from firstsight.encode.learner import FrozenFeatures
from firstsight.evaluate.orders import RANDOM_ORDERS, random_orders
from firstsight.evaluate.processes import spread
from firstsight.evaluate.scores import without_nan
from firstsight.evaluate.stream import passes
from firstsight.methods.adaptation import RECIPE
from firstsight.methods.catalogue import decision_of, method
from firstsight.methods.firstsight.crossfit import halves
from firstsight.methods.settings import settings
from firstsight.model.assemble import assemble
from firstsight.reproduce.execute import result_of
from firstsight.reproduce.run_files import RunFile
from firstsight.reproduce.runs import Run
from firstsight.reproduce.task import Task, crops_of, prepare
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.fit import fit_images
from firstsight.train.loop import train
from firstsight.train.support import Support

OTHERS = ("online-clustering", "talon-p", "dp-boa")  # rules that ask for nothing but features
TAKEN = (
    "epochs", "batch_size", "lr_backbone", "lr", "weight_decay_features", "weight_decay", "warmup_epochs",
    "schedule_lag", "vary",
)  # fmt: skip
BINS = 15


def whole(name: str, seed: int, stages: int, image_size: int) -> Any:
    """The settings of a method under the recipe of adaptation; as many views as that has."""
    looks = {"backbone": "efficientnet-lite2", "image_size": image_size, "seed": seed}
    if name.startswith("firstsight"):
        return settings(name, **looks)
    own = {key: getattr(RECIPE, key) for key in TAKEN}
    if name == "phe":
        own["epochs"] *= 2  # of one view, where the others take two
    return settings(name, **looks, **own, train_stages=stages)


def backbone_of(encoder: TorchEncoder) -> TorchEncoder:
    """The same backbone, whose feature is what it makes of an image."""
    learner = encoder.learner
    bare = FrozenFeatures(learner.tail, 0, learner.categories, learner.settings)
    return TorchEncoder(encoder.trunk, bare, encoder.preprocess, encoder.licence, encoder.device, exact=True)


def trained_on(task: Task, chosen: Any, taught: NDArray[np.int64], device: torch.device) -> TorchEncoder:
    """An encoder that learned some images alone, by a method's losses."""
    categories, own = np.unique(np.asarray(task.support.labels)[taught], return_inverse=True)
    numbers = np.full(len(task.support.labels), -1)
    numbers[taught] = own
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(chosen.seed)
        encoder = assemble(chosen, len(categories), device, blank=False)
    support = Support(numbers.tolist(), task.pixels, encoder, Silent(), taught=taught)
    train(encoder.learner, support, Checkpoint(None, {}, 0), lambda epoch, means: None)
    return encoder


def encoded(encoder: TorchEncoder, pixels: Any) -> Features:
    return np.concatenate([encoder.encode(crops) for crops in crops_of(pixels, encoder.device)])


def unit(features: Features) -> Features:
    return np.asarray(features / np.linalg.norm(features, axis=1, keepdims=True), dtype=np.float32)


def decided(task: Task, decision: Decision, stream: Features, **about: Any) -> dict[str, Any]:
    """What a rule comes to on a stream, in random, fixed and bursty orders."""
    rows = passes(partial(decision.register, None, None), decision.transform(stream), task.truth, RANDOM_ORDERS)
    made = asdict(task.made_by)
    return {
        **about,
        "rows": [without_nan(asdict(row)) for row in rows],
        "made_by": made,
        "made_of": asdict(task.made_of),
    }


def closely(decision: Decision, stream: Features, truth: tuple[str, ...]) -> list[dict[str, float]]:
    """By random order: All, confirmed and found categories, and the calibration error of the confidence."""
    true, known = np.unique(truth, return_inverse=True)[1], np.isin(truth, decision.names)
    given = (decision, decision.transform(stream), true, known)
    return spread(_in_order, given, list(random_orders(len(truth), RANDOM_ORDERS)))


@one_thread()
def _in_order(
    given: tuple[Decision, NDArray[Any], NDArray[np.int64], NDArray[np.bool_]], order: NDArray[np.int64]
) -> dict[str, float]:
    decision, compared, true, known = given
    answers: Any = decision.register().assign_many(compared[order])
    right, sure, known = matched(true[order], answers.category), np.asarray(answers.confidence), known[order]
    sizes = np.bincount(answers.category)
    return {
        "all": float(right.mean()),
        "confirmed": int((sizes >= CONFIRMED).sum()),
        "found": int((sizes > 0).sum()),
        "error": _calibration_error(sure, right),
        "error of known": _calibration_error(sure[known], right[known]),
        "error of new": _calibration_error(sure[~known], right[~known]),
    }


def _calibration_error(sure: NDArray[Any], right: NDArray[Any]) -> float:
    parts = np.array_split(np.argsort(sure, kind="stable"), BINS)
    return float(sum(len(part) * abs(sure[part].mean() - right[part].mean()) for part in parts) / len(sure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("root", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--methods", default="phe,online-clustering,age,talon-p")
    parser.add_argument("--seeds", default="0")
    parser.add_argument("--stages", type=int, default=4, help="the later half of EfficientNet-Lite2")
    parser.add_argument("--image-size", type=int, default=260)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    of, images = open_data(options.data, options.root)
    parts = split_of(of, images).apply(images)
    names = options.methods.split(",")
    first = whole(names[0], 0, options.stages, options.image_size)
    task = prepare(parts, first, RANDOM_ORDERS, options.device, Silent())
    for seed in map(int, options.seeds.split(",")):
        for name in names:
            chosen = whole(name, seed, options.stages, options.image_size)
            compare(task, options.data, name, chosen, options.out)


def compare(task: Task, data: str, name: str, chosen: Any, out: Path) -> None:
    """Train a method, score its own rule, and let others decide on its features."""
    began = time.monotonic()
    model = fit_images(task.support, chosen, task.device, Silent(), task.pixels)
    trained = time.monotonic() - began
    bits = chosen.bits if method(name).bits != "none" else None
    result = result_of(task, Run(data, name, bits, chosen.seed), model, trained, {}, Silent())
    RunFile(out, data).append(result)
    _say(data, name, "own rule", asdict(result.headline), trained)
    labels = np.asarray(task.support.labels)
    about = {"data": data, "features": name, "seed": chosen.seed, "training": round(trained, 1)}
    encoder = backbone_of(model.torch_encoder)
    found = SupportFeatures(encoded(encoder, task.pixels), labels, tuple(task.support.categories))
    stream = encoded(encoder, task.stream)
    lines = []
    if name.startswith("firstsight"):
        lines.append({**about, "rule": name, "closely": closely(model.decision, stream, task.truth)})
        for rule in OTHERS if chosen.seed == 0 else ():
            other = decision_of(rule).fit(replace(found, features=unit(found.features)), settings(rule))
            lines.append(decided(task, other, unit(stream), **about, rule=rule))
    else:
        taught = halves(labels, chosen.seed)
        held = [backbone_of(trained_on(task, chosen, own, model.torch_encoder.device)) for own in taught]
        held_out = tuple(HeldOut(encoded(each, task.pixels), own) for each, own in zip(held, taught, strict=True))
        ours = decision_of("firstsight").fit(
            replace(found, held_out=held_out), settings("firstsight", seed=chosen.seed)
        )
        lines.append(decided(task, ours, stream, **about, rule="firstsight"))
    with (out / "registers.jsonl").open("a") as file:
        for line in lines:
            file.write(json.dumps(line) + "\n")
            if "rows" in line:
                _say(data, name, line["rule"], line["rows"][0], time.monotonic() - began)


def _say(data: str, name: str, rule: str, row: dict[str, Any], seconds: float) -> None:
    figures = "/".join(f"{100 * row['accuracy'][key]:.1f}" for key in ("all", "old", "new"))
    print(f"{data}, {name}, {rule}: {figures}, {row['categories']:.0f} found, {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main()
