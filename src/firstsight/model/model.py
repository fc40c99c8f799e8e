"""A model: an encoder and a decision with what is known of how they were made.

This is what `firstsight.fit` returns and `firstsight.load` reads. Loads no torch where features are given.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.decision import Decision
from firstsight.core.errors import ImageError, ModelError
from firstsight.core.protocols import Features, Provenance, Register
from firstsight.core.settings import Rule
from firstsight.model.examples import Examples

if TYPE_CHECKING:
    from firstsight.data.images import ImageLike, Pixels
    from firstsight.encode.encoder import TorchEncoder
    from firstsight.encode.graph_encoder import GraphEncoder
    from firstsight.encode.learner import Learner


@dataclass(frozen=True)
class Category:
    """A known category: its name and how many support images taught it."""

    name: str
    support: int


@dataclass(repr=False)
class Model:
    """A fitted method. Without an encoder it answers features, such as those it was fitted on."""

    settings: Any  # of its method
    categories: tuple[Category, ...]
    decision: Decision
    encoder: TorchEncoder | GraphEncoder | None = None
    report: dict[str, Any] = field(default_factory=dict)
    # the support images that stand for what it learned, if it was fitted with them
    examples: Examples | None = None
    origin: str = ""  # owner/name@commit, where it came from the hub

    def __repr__(self) -> str:
        """In one line: what it is made of, not what is in it."""
        images = sum(category.support for category in self.categories)
        sees = f"features of {self.decision.width}" if self.encoder is None else self.settings.backbone
        return f"<Model: {self.settings.method} with {sees}, {len(self.categories)} categories, {images} images>"

    @property
    def names(self) -> list[str]:
        return [category.name for category in self.categories]

    @property
    def image_encoder(self) -> TorchEncoder | GraphEncoder:
        """The encoder, or an error where there is none."""
        if self.encoder is None:
            raise ModelError(
                "this model was fitted on features and has no encoder",
                "give it features, made as those it was fitted on",
            )
        return self.encoder

    @property
    def torch_encoder(self) -> TorchEncoder:
        """The encoder in torch, for what only that can do; an error where the model came without."""
        return self.image_encoder.torch

    @property
    def learner(self) -> Learner | None:
        """What of the encoder learned; None where there is no encoder, or no torch to ask it with."""
        return None if self.encoder is None else self.encoder.learner

    @property
    def batch(self) -> int:
        """How many images are best encoded together."""
        return 1 if self.encoder is None else self.encoder.batch

    @property
    def prepare(self) -> Callable[[ImageLike], Pixels]:
        """Makes the pixels of one image, as `encode` takes them; a function that other processes can be told of."""
        return _refused if self.encoder is None else self.encoder.prepare

    def encode(self, images: Any) -> Features:
        """One feature per prepared image."""
        return self.image_encoder.encode(images)

    def transform(self, features: Features) -> NDArray[Any]:
        """Features as the register compares them."""
        expected = self.decision.width
        if np.ndim(features) != 2 or np.shape(features)[1] != expected:
            raise ModelError(
                f"features of shape {np.shape(features)} are not what this model was fitted on",
                f"give one per line, {expected} values each",
            )
        return self.decision.transform(np.asarray(features, dtype=np.float32))

    def register(self, radius: float | None = None, rule: Rule | None = None) -> Register:
        """A register holding the known categories: the start of a stream."""
        return self.decision.register(radius, rule)

    def closed_set(self) -> Register:
        """A register that never discovers: the row every accuracy is printed beside."""
        return self.decision.closed_set()

    @property
    def radius(self) -> float:
        """The radius its register starts with."""
        return self.decision.radius

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of all that decides what is compared: the weights, the image path, and what was fitted."""
        parts = ["features" if self.encoder is None else self.encoder.fingerprint, self.decision.fingerprint]
        return hashlib.sha256(" ".join(parts).encode()).hexdigest()

    @property
    def provenance(self) -> Provenance:
        """What a log says about the features this makes."""
        if self.encoder is None:
            return Provenance(self.fingerprint, 0, "none", "as given", self.origin)
        encoder = self.encoder
        how = encoder.preprocess.version, encoder.device_name, encoder.precision
        return Provenance(self.fingerprint, *how, self.origin)


def _refused(image: ImageLike) -> Pixels:
    from firstsight.data.images import describe  # loads Pillow, which features do without

    raise ImageError(
        describe(image), "is an image, and this model answers features", "give features made as those it was fitted on"
    )
