"""An encoder that is a graph: what torch made, run by OpenVINO or ONNX Runtime on a CPU. Loads no torch.

It may know the encoder in torch that it was made of, which a few things need: training, and where a model looked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import ModelError
from firstsight.core.protocols import Features
from firstsight.core.threads import computing_threads
from firstsight.data.images import ImageLike, Pixels, Preprocess, prepared
from firstsight.encode.graph import Engine, Graph, Runs
from firstsight.encode.runtimes import made_ready

if TYPE_CHECKING:
    from firstsight.encode.encoder import TorchEncoder
    from firstsight.encode.learner import Learner

AHEAD = 2  # images for every thread


@dataclass
class GraphEncoder:
    """Makes one feature of every image: `prepare` is per image and may run in threads, `encode` is per batch."""

    graph: Graph
    preprocess: Preprocess
    licence: str  # of the backbone's weights
    made_of: str  # the fingerprint of the encoder in torch
    engine: Engine = "openvino"
    in_torch: Callable[[], TorchEncoder] | None = field(default=None, repr=False)
    exact: bool = True  # by nature: every image goes through alone

    @property
    def prepare(self) -> Callable[[ImageLike], Pixels]:
        """The pixels of one image; a function that other processes can be told of."""
        return partial(prepared, preprocess=self.preprocess)

    def encode(self, images: Sequence[NDArray[np.uint8]] | Any) -> Features:
        """One feature per image, of prepared images or of a batch of crops."""
        features = self.ready(np.stack([np.asarray(image) for image in images]))
        if not np.isfinite(features).all():  # whose signs would still be a code
            raise ModelError(
                "the model makes values that are not numbers of an image",
                "its weights are damaged or too large for this precision: fit again, or export it in fp32",
            )
        return features

    @cached_property
    def ready(self) -> Runs:
        """What runs the graph; ValueError or RuntimeError where it is none."""
        return made_ready(self.graph, self.preprocess.crop, self.engine)

    @property
    def batch(self) -> int:
        """How many images are best encoded together."""
        return AHEAD * computing_threads()

    @property
    def device_name(self) -> str:
        return f"cpu, {self.engine}"

    @property
    def runs_on(self) -> str:
        """The device to ask for elsewhere to have the same."""
        return self.engine

    @property
    def precision(self) -> str:
        return self.ready.precision

    @property
    def fingerprint(self) -> str:
        """A SHA-256 of all that decides which feature an image has, to the precision that devices differ in."""
        return self.graph.fingerprint(self.made_of)

    @cached_property
    def torch(self) -> TorchEncoder:
        """The encoder in torch that this was made of."""
        if self.in_torch is None:
            raise ModelError(
                "this model was exported: it has no part in torch",
                "use the model that it was exported from",
            )
        return self.in_torch()

    @property
    def learner(self) -> Learner | None:
        """What learned, where torch is here to ask it."""
        return None if self.in_torch is None else self.torch.learner
