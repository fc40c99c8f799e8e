"""A model for elsewhere: the same decision, its encoder as a graph that runs without torch. Making one needs torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from firstsight.core.errors import BadImages, ImageError, ModelError, SettingsError
from firstsight.core.packages import need
from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import ImageLike, Pixels
from firstsight.encode.graph import PRECISIONS, Graph, Precision
from firstsight.encode.graph_encoder import GraphEncoder
from firstsight.model.folder import save_model
from firstsight.model.model import Model

ALIKE = 1e-3  # of the largest value: how far a graph in fp32 may be from torch


class Exported(NamedTuple):
    """What an export came to."""

    model: Model
    apart: float  # how far features are from torch's, at most, as a part of the largest value
    images: int  # that int8 was made with


def export_model(
    model: Model, out: Path | str, precision: Precision = "fp32", support: Sequence[ImageLike] = ()
) -> Exported:
    """Write a model folder whose encoder is ONNX and OpenVINO's IR, with the constants of its preprocessing.

    int8 is made with images of the support set, some of which are taken evenly.
    """
    out = Path(out)
    if precision not in PRECISIONS:
        raise SettingsError(f"precision is {precision!r}; allowed: {', '.join(PRECISIONS)}")
    if out.exists():
        raise ModelError(f"{out} exists already", "choose another name with --out, or remove it first")
    need("an export", "torch", "openvino", "onnx")
    encoder = model.torch_encoder
    from firstsight.encode.backbones import is_transformer, whole_model
    from firstsight.encode.conversion import apart, as_onnx, converted

    graph = replace(converted(encoder), precision=precision)
    pixels: list[Pixels] = []
    if precision == "int8":
        from firstsight.encode.quantised import quantised

        pixels = _some(model, support)
        graph = quantised(graph, pixels, is_transformer(whole_model(encoder.trunk)))
    else:
        graph = replace(graph, onnx=as_onnx(encoder))
        far = apart(encoder, Graph(onnx=graph.onnx), "openvino")
        if not far <= ALIKE:
            raise ModelError(f"ONNX makes other features of this encoder, {far:.1%} apart")
    made = GraphEncoder(graph, encoder.preprocess, encoder.licence, encoder.fingerprint)
    examples = model.examples
    if examples is not None and encoder.learner.own_measure:  # which is torch's: there is nothing to compare with
        examples = replace(examples, points=None)
    exported = replace(model, encoder=made, examples=examples)
    save_model(exported, out)
    return Exported(exported, apart(encoder, graph, "openvino", np.stack(pixels[:8]) if pixels else None), len(pixels))


def _some(model: Model, support: Sequence[ImageLike]) -> list[Pixels]:
    """Images of the support set as the encoder sees them, evenly from all of it; those that cannot be read are told."""
    from firstsight.encode.quantised import FEWEST, MOST

    if len(support) < FEWEST:
        raise SettingsError(
            f"int8 is made with images of the support set, {FEWEST} or more; there are {len(support)}",
            "name the folder it was fitted on with --support DIR",
        )
    chosen = [support[i] for i in np.linspace(0, len(support) - 1, min(MOST, len(support))).astype(int).tolist()]
    found = list(islice(ahead(or_error(model.prepare), chosen, window=32), len(chosen)))
    if bad := [each for each in found if isinstance(each, ImageError)]:
        raise BadImages(bad)
    return [each for each in found if not isinstance(each, ImageError)]
