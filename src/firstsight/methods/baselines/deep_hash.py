"""The deep-hashing rows: the paper's prototype model, with the targets and the loss of a hashing method for its codes.

Each loss is its own paper's, added to L_p with weight 1 (our choice: the PHE paper does not say). An image is of the
category whose code it has exactly, but for `MdshBall`.
"""

from __future__ import annotations

from math import log, sqrt
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from firstsight.methods.baselines.fixed import FixedCentres
from firstsight.methods.baselines.handcrafted import hadamard_codes
from firstsight.methods.decisions import CodeDecision, ExactCode, minimum_distance_for
from firstsight.methods.phe.settings import PrototypeSettings

POLARISATION_MARGIN = 1.0
COSINE_MARGIN = 0.2
QUANTISATION = 1e-4  # its weight in CSQ and MDSH


class DeepHash(FixedCentres):
    """Only the very same code is the same category."""

    settings_type = PrototypeSettings
    decision: ClassVar[type[CodeDecision]] = ExactCode

    @property
    def code_weight(self) -> float:
        return 1.0


class RandomTargets(DeepHash):
    """Every category's code is drawn at random, each bit by a coin, again where it is taken (ours)."""

    @classmethod
    def handcrafted(cls, categories: int, settings: Any) -> NDArray[np.int8]:
        minimum_distance_for(settings, categories)  # there is a code for each
        generator = np.random.default_rng(settings.seed)
        drawn: dict[bytes, NDArray[np.int8]] = {}
        while len(drawn) < categories:
            code = generator.choice(np.array([-1, 1], np.int8), settings.bits)
            drawn.setdefault(code.tobytes(), code)
        return np.stack(list(drawn.values()))


class Dpn(RandomTargets):
    """Deep Polarized Network (Fan et al., IJCAI 2020): every bit beyond a margin on its target's side."""

    def code_loss(self, features: Tensor, labels: Tensor) -> Tensor:
        return F.relu(POLARISATION_MARGIN - features * self.targets[labels]).mean(0).sum()


class OrthoHash(RandomTargets):
    """OrthoHash (Hoe et al., NeurIPS 2021): cross-entropy of cosines to the codes, with a margin for the right one."""

    def code_loss(self, features: Tensor, labels: Tensor) -> Tensor:
        cosines = _cosines(features, self.targets)
        margins = COSINE_MARGIN * F.one_hot(labels, self.categories)
        return F.cross_entropy(sqrt(2) * log(max(self.categories - 1, 2)) * (cosines - margins), labels)


class Csq(DeepHash):
    """Central Similarity Quantization (Yuan et al., CVPR 2020): binary cross-entropy to rows of a Hadamard matrix."""

    @classmethod
    def handcrafted(cls, categories: int, settings: Any) -> NDArray[np.int8]:
        return hadamard_codes(settings.bits, categories, settings.seed)

    def code_loss(self, features: Tensor, labels: Tensor) -> Tensor:
        soft = torch.tanh(features)
        targets = (self.targets[labels] + 1) / 2
        # (1 + tanh b) / 2 is the sigmoid of 2 b
        return F.binary_cross_entropy_with_logits(2 * features, targets) + QUANTISATION * _unbinary(soft)


class CsqSeparated(Csq):
    """CSQ-MC: the same with handcrafted codes d_max apart, which exist for any length."""

    @classmethod
    def handcrafted(cls, categories: int, settings: Any) -> NDArray[np.int8]:
        return FixedCentres.handcrafted(categories, settings)


class Mdsh(DeepHash):
    """Minimal-distance-separated centres (Wang et al., CVPR 2023): the likelihood of the right code and of no other.

    Summed over categories; its pair loss against a memory of earlier codes is left out (both ours).
    """

    def code_loss(self, features: Tensor, labels: Tensor) -> Tensor:
        chances = torch.softmax(sqrt(self.settings.bits) * _cosines(features, self.targets), dim=1).clamp(
            1e-6, 1 - 1e-6
        )
        right = F.one_hot(labels, self.categories).to(chances.dtype)
        likelihood = F.binary_cross_entropy(chances, right, reduction="none").sum(1).mean()
        return likelihood + QUANTISATION * _unbinary(torch.tanh(features))


class MdshBall(Mdsh):
    """MDSH decided by the Hamming ball."""

    decision = CodeDecision


def _cosines(features: Tensor, codes: Tensor) -> Tensor:
    return F.normalize(features, dim=-1) @ F.normalize(codes, dim=-1).T  # (N, C)


def _unbinary(soft: Tensor) -> Tensor:
    """How far soft bits are from -1 and +1, squared."""
    return (soft.abs() - 1).square().mean()
