"""Networks whose rows, once trained, are a linear map of the features that is found on the support set."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from firstsight.core.settings import Settings
from firstsight.methods.networks import FeatureNetwork


class Projected(FeatureNetwork):
    """Mixed into a network of features: `project` after training, and every row from then on is (x - origin) basis."""

    origin: Tensor
    basis: Tensor
    projecting: Tensor

    def __init__(
        self, tail: nn.Module, inputs: int, categories: int, settings: Settings, dimensions: int | None = None
    ) -> None:
        dimensions = min(inputs, dimensions or inputs)
        super().__init__(tail, inputs, categories, settings, dimensions)
        self.dimensions = dimensions
        self.register_buffer("origin", torch.zeros(inputs))
        self.register_buffer("basis", torch.zeros(inputs, dimensions))
        self.register_buffer("projecting", torch.zeros((), dtype=torch.bool))

    def features(self, stem: Tensor) -> Tensor:
        """Support images are shown by the backbone's features, which are the same before and after."""
        features: Tensor = self.tail(stem)
        return features

    def projected(self, features: Tensor) -> Tensor:
        """The features as they are while training, from then on their projection: each image's by itself."""
        with torch.autocast(features.device.type, enabled=False):
            if not self.projecting:
                return features.float()
            off = features.float() - self.origin
            return torch.bmm(off[:, None], self.basis.expand(len(off), -1, -1))[:, 0]

    def project(self, origin: NDArray[Any], basis: NDArray[Any]) -> None:
        self.origin.copy_(torch.from_numpy(origin))
        self.basis.copy_(torch.from_numpy(basis))
        self.projecting.fill_(True)

    def report(self, rows: NDArray[np.float32], labels: NDArray[np.int64]) -> dict[str, Any]:
        """As for any network of features, on the rows as they are now; given are those of before."""
        return super().report(self.renewed(torch.from_numpy(rows).to(self.origin.device)).cpu().numpy(), labels)

    def renewed(self, rows: Tensor) -> Tensor:
        """Rows from before there was a projection as they are now."""
        return self.projected(rows)


def principal(rows: NDArray[np.float64], dimensions: int) -> NDArray[np.float64]:
    """The directions rows vary most in, one per column, each with its largest entry positive."""
    _, directions = np.linalg.eigh(np.cov(rows.T, bias=True))
    kept = directions[:, ::-1][:, :dimensions]
    largest = np.abs(kept).argmax(axis=0)
    return np.asarray(kept * np.sign(kept[largest, np.arange(kept.shape[1])]))
