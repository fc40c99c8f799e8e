"""Prototypical Hash Encoding: the model of the paper, and what one training step computes (Algorithm 2).

The backbone's frozen trunk stays outside: this holds what learns, and nothing here reads images or files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from firstsight.encode.learner import Learner, Terms
from firstsight.methods.decisions import CodeDecision, minimum_distance_for
from firstsight.methods.phe.heads import FeatureHead, HashHead
from firstsight.methods.phe.losses import (
    centre_loss,
    feature_loss,
    prototype_loss,
    quantisation_loss,
    separation_loss,
    smooth_sign,
    total_loss,
)
from firstsight.methods.phe.prototypes import category_means, prototype_similarity, support_prototypes
from firstsight.methods.phe.settings import PheSettings, PrototypeSettings

HARDER = 10.0  # times the weight of L_c, which leaves no two centres close (reproductions/LOG.md)
LEAST_BATCH = 32


class Outputs(NamedTuple):
    """What one batch gives: N images, C categories, D dimensions, L bits."""

    shown: Tensor  # z, (N, D)
    features: Tensor  # b, (N, L)
    centres: Tensor  # h, (C, L)


class PrototypeLearner(Learner):
    """E, H_f, P and H_h: the paper's model for C known categories, whatever losses train it."""

    settings_type = PrototypeSettings
    decision = CodeDecision
    own_measure = True

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: PrototypeSettings) -> None:
        super().__init__(tail, inputs, categories, settings)
        s = settings
        self.minimum_distance = minimum_distance_for(s, categories)  # d_max
        self.feature_head = FeatureHead(inputs, s.feature_dim, s.feature_head)
        self.points = nn.Parameter(torch.rand(categories * s.prototypes, s.feature_dim))  # P
        self.hash_head = HashHead(s.feature_dim, s.bits, s.hash_head, s.hash_norm, s.hash_hidden)

    @torch.no_grad()
    def start(self, stems: Iterable[Tensor], labels: Tensor) -> None:
        """Let prototypes start at features of their category's support images, if asked (the paper: at random)."""
        if self.settings.prototype_start == "support":
            self.eval()
            shown = torch.cat([self.shown(stem) for stem in stems]).float()
            self.points.copy_(support_prototypes(shown, labels, self.categories, self.settings.prototypes))

    def shown(self, stem: Tensor) -> Tensor:
        """z = H_f(E(x)), from the trunk's output: what prototypes are compared with."""
        z: Tensor = self.feature_head(self.tail(stem))
        return z

    def features(self, stem: Tensor) -> Tensor:
        """b = H_h(z): its signs are the image's code."""
        b: Tensor = self.hash_head(self.shown(stem))
        return b

    def prototypes(self) -> Tensor | None:
        """P (Sec. 4.4), unless no image was ever compared with them in training."""
        return self.points if self.settings.gamma else None

    def similarity(self, shown: Tensor, points: Tensor) -> Tensor:
        return prototype_similarity(shown, points, self.settings.similarity)  # Eq. 1

    def hash_centres(self) -> Tensor:
        """h = H_h(mean prototype), one for every known category."""
        return self.hash_head.centres(category_means(self.points, self.settings.prototypes))

    def forward(self, stem: Tensor) -> Outputs:
        z = self.shown(stem)
        return Outputs(z, self.hash_head(z), self.hash_centres())

    def representation_loss(self, shown: Tensor, labels: Tensor, generator: torch.Generator | None) -> Tensor:
        """L_p: images are classified by how alike they are to every category's prototypes."""
        similarities = self.similarity(shown, self.points)  # Eq. 1
        return prototype_loss(similarities, labels, self.settings.prototypes, self.settings.theta, generator)  # Eq. 2


class PHE(PrototypeLearner):
    """The paper's losses, and hash centres made of the prototypes."""

    settings_type = PheSettings
    last_centres: Tensor

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Any) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.register_buffer("last_centres", torch.zeros(categories, settings.bits))

    def losses(self, outputs: Outputs, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        """The losses of Algorithm 2 for one batch: every term of Eq. 10 by name, and their `total`."""
        s = self.settings
        z, b, h = (values.float() for values in outputs)
        terms = {"L_p": self.representation_loss(z, labels, generator)}  # Eq. 1, 2
        terms["L_f"] = feature_loss(b, h, labels, s.feature_scale)  # Eq. 3
        soft_codes = smooth_sign(h, s.tau)  # Eq. 4
        terms["L_sep"] = separation_loss(soft_codes, self.minimum_distance, s.separation)  # Eq. 5
        terms["L_q"] = quantisation_loss(soft_codes, s.quantisation)  # Eq. 8
        terms["L_c"] = centre_loss(terms["L_sep"], terms["L_q"])  # Eq. 9
        terms["total"] = total_loss(s.gamma * terms["L_p"], terms["L_c"], terms["L_f"], s.alpha, s.beta)  # Eq. 10
        if s.centres == "last-batch":
            self.last_centres.copy_(h.detach())
        return terms

    @torch.no_grad()
    def centres(self) -> Tensor:
        """The centres of the trained model, computed once in fp32 (deviation 3), or those of the last batch."""
        return self.hash_centres() if self.settings.centres == "final" else self.last_centres

    @torch.no_grad()
    def apart(self, features: Tensor, labels: Tensor) -> float:
        """The share of images whose code is nearer to their own centre's than to any other's, which may be the same."""
        alike = torch.sign(features) @ torch.sign(self.centres().float()).T  # (N, C)
        own = alike.gather(1, labels[:, None])
        others = alike.scatter(1, labels[:, None], -torch.inf).amax(dim=1, keepdim=True)
        return float((own > others).float().mean())

    def harder(self) -> PheSettings | None:
        """Centres pushed apart harder, in batches that BatchNorm can do with, for half as many steps.

        Where a loss is switched off, what comes of that is to be seen.
        """
        s: PheSettings = self.settings
        if not (s.repair and s.alpha and s.beta and s.gamma):
            return None
        batch = max(LEAST_BATCH, s.batch_size)
        epochs = max(1, round(s.epochs / 2 * batch / s.batch_size))
        return s.changed(alpha=HARDER * s.alpha, batch_size=batch, epochs=epochs)
