"""RankStat and WTA: which dimensions of an embedding are largest says which category an image is of.

As codes: a bit per dimension, set where it is among the chosen, so that equal choices are equal codes. Both papers
leave the supervised loss open; SupCon as in SMILE's baseline is our choice.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from firstsight.encode.learner import Learner, Terms, weighted
from firstsight.methods.baselines.contrastive import Projector, contrastive_loss
from firstsight.methods.decisions import ExactCode
from firstsight.methods.phe.heads import BOTTLENECK
from firstsight.methods.phe.settings import CodeSettings

TOP = 3
GROUPS = 3


class Indices(Learner):
    """An embedding learned by SupCon, of which some dimensions are chosen."""

    settings_type = CodeSettings
    decision = ExactCode
    views = 2
    dimensions: int

    def __init__(self, tail: nn.Module, inputs: int, categories: int, settings: CodeSettings) -> None:
        super().__init__(tail, inputs, categories, settings)
        self.projector = Projector(inputs, settings.hash_hidden)
        self.embedding = nn.Linear(BOTTLENECK, self.dimensions)

    def forward(self, stem: Tensor) -> Tensor:
        embeddings: Tensor = self.embedding(self.projector(self.tail(stem)))
        return embeddings

    def losses(self, outputs: Tensor, labels: Tensor, generator: torch.Generator | None = None) -> Terms:
        return weighted({"L_sup": contrastive_loss(outputs.float(), labels)})


class RankStat(Indices):
    """Ranking statistics (Han et al. 2020): the set of the top 3 of 32 dimensions, one of 4,960."""

    dimensions = 32

    def features(self, stem: Tensor) -> Tensor:
        embeddings = self(stem)
        chosen = embeddings.topk(TOP, dim=1).indices
        return torch.full_like(embeddings, -1).scatter(1, chosen, 1)


class WinnerTakesAll(Indices):
    """Winner-take-all (Jia et al. 2021): the largest of each of three groups of 16 dimensions, one of 4,096."""

    dimensions = 48

    def features(self, stem: Tensor) -> Tensor:
        embeddings = self(stem)
        groups = embeddings.view(len(embeddings), GROUPS, -1)
        chosen = groups.argmax(2, keepdim=True)
        return torch.full_like(groups, -1).scatter(2, chosen, 1).flatten(1)
