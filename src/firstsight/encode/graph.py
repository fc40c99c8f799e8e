"""An encoder as data: the graph from an image's pixels to its feature, which OpenVINO or ONNX Runtime runs.

Loads neither, and no torch. The constants of the preprocessing are part of the graph: what goes in is uint8.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Features

Precision: TypeAlias = Literal["fp32", "bf16", "int8"]
PRECISIONS: tuple[str, ...] = get_args(Precision)
Engine: TypeAlias = Literal["openvino", "onnxruntime"]
ENGINES: tuple[str, ...] = get_args(Engine)

PIXELS, FEATURES = "pixels", "features"  # what goes in and what comes out, by these names in the graph


@dataclass(frozen=True, repr=False)
class Graph:
    """One function in one or two notations: from crops (N, S, S, 3) of uint8 to features (N, D) of float32."""

    xml: bytes = b""  # OpenVINO's notation; its weights are in another file
    weights: bytes = b""
    onnx: bytes = b""  # the same for everybody else; empty where it is not written down
    precision: Precision = "fp32"

    def fingerprint(self, encoder: str) -> str:
        """That of the encoder it was made of, unless its weights are others: int8 rounds them."""
        if self.precision != "int8":
            return encoder
        return hashlib.sha256(b" ".join([encoder.encode(), self.xml, self.weights])).hexdigest()


class Runs(Protocol):
    """A graph made ready. Every image goes through alone, so that its feature is the same bits in any company."""

    name: str  # whose work it is
    precision: str  # that it computes in, here
    width: int  # values of a feature

    def __call__(self, crops: NDArray[np.uint8]) -> Features: ...


def check_inputs(kinds: list[str], shapes: list[list[int]], outputs: int, side: int) -> None:
    """ValueError where a graph is not one of ours: it takes images of this side, and makes one thing of each."""
    if len(shapes) != 1 or outputs != 1:
        raise ValueError(f"its graph has {len(shapes)} inputs and {outputs} outputs; expected one of each")
    if kinds != ["uint8"] or len(shapes[0]) != 4 or shapes[0][1:] != [side, side, 3]:
        raise ValueError(f"its graph takes {kinds[0]} of shape {shapes[0]}; expected uint8 (N, {side}, {side}, 3)")


def check_width(shape: Sequence[int]) -> int:
    """How many values a feature has, of what a graph makes of one image; ValueError where that is none."""
    if len(shape) != 2 or shape[0] != 1 or shape[1] < 1:
        raise ValueError(f"its graph makes {tuple(shape)} of an image; expected a feature, (1, D)")
    return shape[1]
