"""Plain colours, and a model that tells them apart by far: what it answers is the same on every machine.

A tiny learner that was trained for a second has hash features so close to zero that rounding decides its codes. Here
every colour has a code chosen by hand, and the last layer is solved for it: hash features are -1 or 1.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor

import firstsight
from firstsight.methods.decisions import CodeDecision
from firstsight.methods.phe.model import PHE
from firstsight.model.folder import save_model
from firstsight.model.model import Model

LOW, HIGH = 25, 230
# corners of the colour cube; the codes of the known ones are six bits apart, red is one bit from magenta
COLOURS = {
    "black": ((LOW, LOW, LOW), "000000 000000"),
    "blue": ((LOW, LOW, HIGH), "000000 111111"),
    "cyan": ((LOW, HIGH, HIGH), "111111 000000"),
    "green": ((LOW, HIGH, LOW), "111111 111111"),
    "magenta": ((HIGH, LOW, HIGH), "000111 000111"),
    "red": ((HIGH, LOW, LOW), "000111 000110"),
    "white": ((HIGH, HIGH, HIGH), "111000 111000"),
    "yellow": ((HIGH, HIGH, LOW), "110110 110110"),
}
KNOWN = list(COLOURS)[:4]


def write_swatches(folder: Path, names: Mapping[str, str], shades: Iterable[int], size: int = 80) -> None:
    """`folder/<name>/<shade>.jpg` for colours by the names their folders get; every shade is another image."""
    for colour, name in names.items():
        (folder / name).mkdir(parents=True)
        for shade in shades:
            pixels = np.array(COLOURS[colour][0]) + shade
            Image.fromarray(np.full((size, size, 3), pixels, np.uint8)).save(folder / name / f"{shade}.jpg")


def sure_model(support: Path, settings: dict[str, Any], out: Path) -> Path:
    """A model folder in which every colour has its code."""
    model = firstsight.fit(support, device="cpu", **{**settings, "epochs": 1, "bits": 12})
    learner = model.torch_encoder.learner
    assert isinstance(learner, PHE)
    codes = torch.tensor([[2.0 * int(bit) - 1 for bit in code.replace(" ", "")] for _, code in COLOURS.values()])
    with torch.no_grad():
        weights: Tensor = torch.linalg.lstsq(_before_the_last_layer(model), codes).solution.T
        learner.hash_head.last.weight.copy_(weights)
    known = codes[: len(KNOWN)].numpy()
    assert isinstance(model.decision, CodeDecision)
    save_model(replace(model, decision=replace(model.decision, centres=known)), out)
    return out


def new_model(folder: Path) -> Path:
    """The same from nothing, for whoever has no fixtures: with random weights that are always the same."""
    torch.manual_seed(7)
    backbone = timm.create_model("test_vit", num_classes=0, img_size=64)
    for parameter in backbone.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=parameter[0].numel() ** -0.5)
    save_file(backbone.state_dict(), folder / "tiny.safetensors")
    write_swatches(folder / "support", {name: name for name in KNOWN}, range(6))
    tiny = {"image_size": 64, "feature_dim": 32, "prototypes": 3, "hash_hidden": 64, "batch_size": 8, "method": "phe"}
    settings = {"backbone": "test_vit", "weights": str(folder / "tiny.safetensors"), **tiny}
    return sure_model(folder / "support", settings, folder / "sure.model")


def _before_the_last_layer(model: Model) -> Tensor:
    """What the hash head makes of each colour, up to its last layer (8, 256)."""
    seen: list[Tensor] = []
    encoder = model.torch_encoder
    hook = encoder.learner.get_submodule("hash_head.last").register_forward_pre_hook(
        lambda _, given: seen.append(given[0])
    )
    size = encoder.preprocess.crop
    plain = [np.full((size, size, 3), colour, np.uint8) for colour, _ in COLOURS.values()]
    encoder.learner.eval().features(encoder.stem(np.stack(plain)))
    hook.remove()
    return seen[0]
