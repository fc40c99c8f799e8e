"""One step of every method that trains: what several processes, and one, make of the same batch.

`torchrun tests/train/together.py SUPPORT EIGHT TINY.json OUT.safetensors` is that of several.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from firstsight.core.errors import ModelError
from firstsight.core.protocols import Silent
from firstsight.core.settings import TrainingSettings
from firstsight.data.folder import LabelledImages, read_folder
from firstsight.encode.backbones import feature_width, whole_model
from firstsight.encode.encoder import TorchEncoder
from firstsight.encode.learner import FrozenFeatures
from firstsight.methods.adaptation import RECIPE, Adapting
from firstsight.methods.catalogue import METHODS, parts_of
from firstsight.methods.settings import settings as settings_of
from firstsight.train import adapt
from firstsight.train.fit import untrained
from firstsight.train.fitting import fit
from firstsight.train.optim import make_optimiser
from firstsight.train.pixels import PixelCache, pixels_of
from firstsight.train.processes import group, joined
from firstsight.train.sharing import alike, whole_batch
from firstsight.train.step import Step
from firstsight.train.support import Support

WAYS = ("forward", "losses", "representation_loss", "code_loss", "classification")  # what a step is made of
UNEVEN = 7  # images in a batch, which two processes cannot share alike; of 24 the last batch has 3


def steps(data: LabelledImages, tiny: dict[str, Any]) -> dict[str, Tensor]:
    """Loss terms, gradients and statistics of a step on the first batch, and of one on the last.

    Nothing is learned in between: AdamW makes whole steps of gradients that are nothing but rounding, as those of a
    bias before BatchNorm are.
    """
    found: dict[str, Tensor] = {}
    pixels: PixelCache | None = None
    for name, encoder in learning(data, tiny):
        learner = encoder.learner
        alike(learner)
        pixels = pixels or pixels_of(data.images, encoder.preprocess, Silent())
        support = Support(data.labels, pixels, encoder, Silent())
        learner.start(support.central(), support.labels)
        optimiser = make_optimiser(learner.parameter_groups(), learner.settings)
        for part in optimiser.param_groups:
            part["lr"] = 0.0
        step = Step(learner, support, optimiser)
        for which, batch in {"first": 0, "last": -1}.items():
            step.begin(0)
            step(*list(support.batches(0))[batch])
            values = {f"loss {term}": value for term, value in step.sums.items()}
            values |= {f"gradient {n}": p.grad for n, p in learner.named_parameters() if p.grad is not None}
            values |= {f"statistic {n}": b for n, b in learner.named_buffers() if "running" in n}
            found |= {f"{name}, {which} batch: {key}": value.detach().clone() for key, value in values.items()}
    return found


def learning(data: LabelledImages, tiny: dict[str, Any]) -> Iterator[tuple[str, TorchEncoder]]:
    """The encoder of every method with losses of its own, and that of adaptation."""
    kinds = {name: parts_of(name)[0] for name in reversed(METHODS)}
    own_ways = {tuple(getattr(kind, part, None) for part in WAYS): name for name, kind in kinds.items() if kind.learns}
    for name in sorted(own_ways.values()):
        own = {**tiny, "method": name, "batch_size": UNEVEN, "bits": 16}
        own = {key: value for key, value in own.items() if key == "method" or METHODS[name].has(key)}
        yield name, untrained(settings_of(**own), data, "cpu")
        if name == "phe":
            for change in ({"cache_trunk": 2}, {"vary": True, "clip": 1.0}, {"train_stages": 0}, {"batch_size": 1}):
                yield f"phe {change}", untrained(settings_of(**{**own, **change}), data, "cpu")
    frozen = untrained(settings_of("ncm", **{n: tiny[n] for n in ("backbone", "weights", "image_size")}), data, "cpu")
    model = whole_model(frozen.trunk)
    torch.manual_seed(0)
    learner = Adapting(model, feature_width(model), len(data.categories), RECIPE.changed(batch_size=UNEVEN))
    yield "adaptation", TorchEncoder(nn.Identity(), learner, frozen.preprocess, "", frozen.device)


def adapted(folder: Path, tiny: dict[str, Any]) -> dict[str, Tensor]:
    """Features by a backbone that learned on eight species, as far as simulated discovery said."""
    own = {name: tiny[name] for name in ("backbone", "weights", "image_size")}
    with patch.object(adapt, "RECIPE", RECIPE.changed(epochs=1, batch_size=UNEVEN)):
        model = fit(folder, device="cpu", adapt="always", **own)
    strength = torch.tensor(model.report["adaptation_strength"])
    features = model.encode([model.prepare(path) for path in sorted(folder.rglob("*.jpg"))])
    return {"adapted: strength": strength, "adapted: features": torch.from_numpy(features)}


def twice_through_the_tail_is_refused() -> bool:
    learner = FrozenFeatures(nn.Identity(), 2, 2, TrainingSettings())
    try:
        with whole_batch(learner, 2):
            learner.tail(learner.tail(torch.ones(1, 2)))
    except ModelError:
        return True
    return False


if __name__ == "__main__":
    support, eight, given, out = sys.argv[1:]
    tiny = json.loads(Path(given).read_text())
    with joined("cpu"):
        assert group().count > 1
        assert twice_through_the_tail_is_refused()
        found = steps(read_folder(Path(support)), tiny)
    found |= adapted(Path(eight), tiny)
    if os.environ["RANK"] == "0":
        save_file({name: value.contiguous() for name, value in found.items()}, out)
