"""Adaptation: how far a backbone should learn on the support set, and that much learned.

What it has learned can be taken in part: weights between those it came with and those it was trained to make a backbone
too, whose features keep more of what it knew. How far to go is decided by discovery simulated with categories that
were kept from training; nothing of a query stream is needed.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from firstsight.core.protocols import Features, HeldOut, Progress, Silent
from firstsight.core.threads import one_thread
from firstsight.encode.backbones import feature_width, whole_model
from firstsight.encode.encoder import TorchEncoder
from firstsight.methods.adaptation import RECIPE, Adapting
from firstsight.methods.firstsight.calibration import TEACHING
from firstsight.methods.firstsight.crossfit import CrossFit, as_far_as_it_pays, halves
from firstsight.methods.firstsight.decision import crossed
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.loop import train
from firstsight.train.pixels import PixelCache
from firstsight.train.processes import same
from firstsight.train.support import Support

STRENGTHS = (0.0, 0.5, 1.0)  # how far to go: of the way from the weights as they came to those that were trained


@dataclass(frozen=True)
class Adaptation:
    """An encoder that learned as far as it pays, and what was tried."""

    encoder: TorchEncoder
    strength: float
    held_out: tuple[HeldOut, ...]
    tried: dict[float, CrossFit]

    def report(self) -> dict[str, float]:
        """For the model's card and file: what simulated discovery came to by strength, and the gain over the first."""
        first, found = next(iter(self.tried.values())), {"adaptation_strength": self.strength}
        for strength, each in self.tried.items():
            gain, error = each.gain_over(first)
            found |= {
                f"simulated_at_{strength:g}": each.accuracy,
                f"gain_at_{strength:g}": gain,
                f"error_at_{strength:g}": error,
            }
        return {name: round(value, 4) for name, value in found.items()}

    def line(self) -> str:
        found = ", ".join(f"{each.accuracy:.1%} at {strength:g}" for strength, each in self.tried.items())
        what = (
            f"the backbone was adapted, at strength {self.strength:g}"
            if self.strength
            else "the backbone stays as it came"
        )
        return f"{what}; right in simulated discovery: {found}"


def adapt(
    encoder: TorchEncoder,
    pixels: PixelCache,
    labels: NDArray[np.int64],
    frozen: Features,
    seed: int,
    progress: Progress,
    strengths: Sequence[float] = STRENGTHS,
) -> Adaptation:
    """Train two encoders on half of the categories each, choose a strength by what they tell, and train the whole.

    `frozen` are the features of the support set as the encoder makes them now.
    """
    taught = halves(labels, seed)
    steps = RECIPE.epochs * (len(taught) + 1)
    with progress.task("adapting", steps) as advance:
        trained = [_trained(encoder, pixels, labels, own, seed, advance) for own in taught]
        held_out = {
            strength: tuple(
                HeldOut(_features(between(encoder, model, strength), pixels, labels) if strength else frozen, own)
                for model, own in zip(trained, taught, strict=True)
            )
            for strength in strengths
        }
        with one_thread():  # its products are small
            tried = same(lambda: {strength: crossed(held, labels, seed) for strength, held in held_out.items()})
        strength = as_far_as_it_pays(tried)
        if not strength:
            return Adaptation(encoder, strength, (), tried)
        everything = _trained(encoder, pixels, labels, np.arange(len(labels)), seed, advance)
    return Adaptation(between(encoder, everything, strength), strength, held_out[strength], tried)


def views_to_train(images: int) -> float:
    """How many random views of an image adaptation trains on in all, of so many support images."""
    return RECIPE.epochs * Adapting.views * images * (1 + TEACHING)


def _trained(
    encoder: TorchEncoder,
    pixels: PixelCache,
    labels: NDArray[np.int64],
    taught: NDArray[np.int64],
    seed: int,
    advance: Callable[[], None],
) -> nn.Module:
    """The backbone after training on some images, all of it, in the precision of the device."""
    categories, own = np.unique(labels[taught], return_inverse=True)
    numbers = np.zeros(len(labels), dtype=np.int64)
    numbers[taught] = own
    model = copy.deepcopy(whole_model(encoder.trunk))
    settings = RECIPE.changed(seed=seed, image_size=encoder.preprocess.crop)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        learner = Adapting(model, feature_width(model), len(categories), settings)
    learner = learner.to(encoder.device).to(memory_format=torch.channels_last)
    learning = TorchEncoder(nn.Identity(), learner, encoder.preprocess, encoder.licence, encoder.device)
    support = Support(numbers.tolist(), pixels, learning, Silent(), taught=taught)
    train(learner, support, Checkpoint(None, {}, 0), lambda epoch, means: advance())
    return model.requires_grad_(False).eval()


def between(encoder: TorchEncoder, model: nn.Module, strength: float) -> TorchEncoder:
    """The encoder with weights so far on the way to the trained model's."""
    trunk = copy.deepcopy(encoder.trunk)
    last = model.state_dict()
    weights = {
        name: value + strength * (last[name] - value) if value.is_floating_point() else value
        for name, value in whole_model(trunk).state_dict().items()
    }
    whole_model(trunk).load_state_dict(weights)
    return replace(encoder, trunk=trunk)


def _features(encoder: TorchEncoder, pixels: PixelCache, labels: NDArray[np.int64]) -> Features:
    support = Support(labels.tolist(), pixels, encoder, Silent())
    return np.concatenate([stem.float().cpu().numpy() for stem in support.central()])
