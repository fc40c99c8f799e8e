"""Prototypical Hash Encoding: the model of the paper, and what one training step computes (Algorithm 2).

The backbone's frozen trunk stays outside: this holds what learns, and nothing here reads images or files.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from firstsight.core.settings import Settings
from firstsight.methods.networks import HashNetwork
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


class Outputs(NamedTuple):
    """What one batch gives: N images, C categories, D dimensions, L bits."""

    features: Tensor  # z, (N, D)
    hash_features: Tensor  # b, (N, L)
    centres: Tensor  # h, (C, L)


class PHE(HashNetwork):
    """The paper's model for C known categories; `tail` is the part of the backbone that learns."""

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: Settings) -> None:
        super().__init__(tail, inputs, categories, settings)
        s = settings
        self.feature_head = FeatureHead(inputs, s.feature_dim, s.feature_head)
        self.prototypes = nn.Parameter(torch.rand(categories * s.prototypes, s.feature_dim))
        self.hash_head = HashHead(s.feature_dim, s.bits, s.hash_head, s.hash_norm, s.hash_hidden)

    @torch.no_grad()
    def start(self, stems: Iterable[Tensor], labels: Tensor) -> None:
        """Let prototypes start at features of their category's support images, if asked (the paper: at random)."""
        if self.settings.prototype_start == "support":
            self.eval()
            features = torch.cat([self.features(stem) for stem in stems]).float()
            self.prototypes.copy_(support_prototypes(features, labels, self.categories, self.settings.prototypes))

    def features(self, stem: Tensor) -> Tensor:
        """z = H_f(E(x)), from the trunk's output."""
        features: Tensor = self.feature_head(self.tail(stem))
        return features

    def points(self) -> Tensor | None:
        """The prototypes (Sec. 4.4), unless no image was ever compared with them in training."""
        return self.prototypes if self.settings.gamma else None

    def similarity(self, features: Tensor, points: Tensor) -> Tensor:
        return prototype_similarity(features, points, self.settings.similarity)  # Eq. 1

    def rows(self, stem: Tensor) -> Tensor:
        """b = H_h(z): its signs are the image's code."""
        features: Tensor = self.hash_head(self.features(stem))
        return features

    def hash_centres(self) -> Tensor:
        """h = H_h(mean prototype), one row per known category."""
        return self.hash_head.centres(category_means(self.prototypes, self.settings.prototypes))

    def forward(self, stem: Tensor) -> Outputs:
        z = self.features(stem)
        return Outputs(z, self.hash_head(z), self.hash_centres())

    def losses(self, outputs: Outputs, labels: Tensor, generator: torch.Generator | None = None) -> dict[str, Tensor]:
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
            self.centres.copy_(h.detach())
        return terms

    def representation_loss(self, features: Tensor, labels: Tensor, generator: torch.Generator | None) -> Tensor:
        """L_p: images are classified by how alike they are to every category's prototypes."""
        similarities = self.similarity(features, self.prototypes)  # Eq. 1
        return prototype_loss(similarities, labels, self.settings.prototypes, self.settings.theta, generator)  # Eq. 2

    @torch.no_grad()
    def finish(self, rows: Tensor, labels: Tensor) -> None:
        """Recompute the centres of the trained model once, in fp32 (deviation 3)."""
        if self.settings.centres == "final":
            self.centres.copy_(self.hash_centres())
