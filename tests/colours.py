"""A model one can follow by hand: images are colours, and so are prototypes."""

from __future__ import annotations

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.data.images import Preprocess
from firstsight.encode.encoder import TorchEncoder
from firstsight.methods.decisions import CodeDecision
from firstsight.methods.phe.model import PHE
from firstsight.methods.phe.settings import PheSettings
from firstsight.model.model import Category, Model

SIDE = 8
RED, BLUE, PURPLE = (255, 0, 0), (0, 0, 255), (153, 0, 140)


class MeanColour(nn.Module):
    def forward(self, images: Tensor) -> Tensor:
        return images.mean((2, 3))


def colour_model() -> Model:
    """Two categories of three prototypes. The bits: more than half red, green, blue, and more red than blue."""
    settings = PheSettings(method="phe", bits=4, feature_dim=3, prototypes=3, similarity="paper")
    learner = PHE(nn.Identity(), 3, 2, settings)
    learner.feature_head = nn.Identity()  # type: ignore[assignment]
    bits = nn.Linear(3, 4)
    learner.hash_head = bits  # type: ignore[assignment]
    with torch.no_grad():
        bits.weight.copy_(torch.tensor([[1.0, 0, 0], [0, 1, 0], [0, 0, 1], [1, 0, -1]]))
        bits.bias.copy_(torch.tensor([-0.5, -0.5, -0.5, 0.0]))
        red = [[1.0, 0, 0], [1, 0.5, 0], [1, 0, 1]]
        learner.points.copy_(torch.tensor([*red, [0, 0, 1], [0, 0.5, 1], [1, 0, 1]]))
    plain = Preprocess(resize=SIDE, crop=SIDE, mean=(0.0, 0.0, 0.0), std=(1.0, 1.0, 1.0))
    decision = CodeDecision(
        names=("red", "blue"),
        centres=np.array([[1, -1, -1, 1], [-1, -1, 1, -1]], dtype=np.float32),
        minimum_distance=2,
        reach=1,
        rule="nearest",
    )
    encoder = TorchEncoder(MeanColour(), learner, plain, "none", torch.device("cpu"))
    return Model(settings, (Category("red", 1), Category("blue", 1)), decision, encoder)


def painted(colour: tuple[int, int, int]) -> NDArray[np.uint8]:
    return np.full((SIDE, SIDE, 3), colour, dtype=np.uint8)
