"""From torch to a graph: the encoder traced with one image, in OpenVINO's notation or as ONNX. Needs torch."""

from __future__ import annotations

import copy
import io
import logging
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from firstsight.core.errors import ModelError
from firstsight.core.protocols import Features
from firstsight.core.threads import one_thread
from firstsight.encode.encoder import Stem, TorchEncoder
from firstsight.encode.graph import FEATURES, PIXELS, Graph
from firstsight.encode.graph_encoder import GraphEncoder
from firstsight.encode.runtimes import made_ready, runtime

log = logging.getLogger(__name__)

ALIKE = 1e-3  # of the largest value: how far a graph's features may be from torch's
OPSET = 20  # of ONNX: the first whose GridSample is bicubic by that name


class Whole(nn.Module):
    """From uint8 crops (N, S, S, 3) to features (N, D), on a CPU in fp32."""

    def __init__(self, encoder: TorchEncoder) -> None:
        super().__init__()
        self.stem = Stem(copy.deepcopy(encoder.trunk), encoder.preprocess)
        self.learner = copy.deepcopy(encoder.learner)
        self.cpu().float().eval().requires_grad_(False)

    def forward(self, crops: Tensor) -> Tensor:
        return self.learner.features(self.stem(crops)).float()


@one_thread()
def converted(encoder: TorchEncoder) -> Graph:
    """The encoder in OpenVINO's notation; ModelError where it cannot be had so, or gives something else."""
    import openvino as ov

    graph = Graph(*written(_for_openvino(Whole(encoder), _example(encoder, 1))))
    difference = apart(encoder, graph, "openvino")
    if not difference <= ALIKE:
        raise ModelError(f"OpenVINO {ov.__version__} makes other features of this encoder, {difference:.1%} apart")
    return graph


def for_device(encoder: TorchEncoder, device: str) -> GraphEncoder | TorchEncoder:
    """The encoder as it answers on this device: by OpenVINO on a CPU, where that is there and can run it."""
    if encoder.device.type != "cpu" or runtime(device, None) != "openvino":
        return encoder
    try:
        graph = converted(encoder)
    except ModelError as error:
        log.warning("torch encodes: %s", error.what)
        return encoder
    return GraphEncoder(graph, encoder.preprocess, encoder.licence, encoder.fingerprint, in_torch=lambda: encoder)


@one_thread()
def as_onnx(encoder: TorchEncoder) -> bytes:
    """The encoder as ONNX with its weights inside, for any number of images."""
    made = io.BytesIO()
    with _quiet(), torch.no_grad():
        torch.onnx.export(
            Whole(encoder),
            (_example(encoder, 2),),
            made,  # type: ignore[arg-type]
            input_names=[PIXELS],
            output_names=[FEATURES],
            dynamic_axes={PIXELS: {0: "images"}, FEATURES: {0: "images"}},
            opset_version=OPSET,
            dynamo=False,
        )
    return made.getvalue()


def written(model: Any) -> tuple[bytes, bytes]:
    """An OpenVINO model as its two files."""
    import openvino as ov

    with tempfile.TemporaryDirectory(prefix="firstsight-graph-") as folder:
        file = Path(folder) / "graph.xml"
        ov.save_model(model, file, compress_to_fp16=False)
        return file.read_bytes(), file.with_suffix(".bin").read_bytes()


def apart(encoder: TorchEncoder, graph: Graph, engine: Any, crops: Any = None) -> float:
    """How far the features of a graph are from torch's, at most, as a part of the largest value."""
    crops = _example(encoder, 2).numpy() if crops is None else crops
    with torch.no_grad():
        expected: Features = Whole(encoder)(torch.from_numpy(crops)).numpy()
    found = made_ready(graph, encoder.preprocess.crop, engine)(crops)
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def _for_openvino(whole: Whole, example: Tensor) -> Any:
    """By the frontend itself: its wrapper, convert_model, reports its use to somewhere."""
    from openvino.frontend import FrontEndManager
    from openvino.frontend.pytorch.ts_decoder import TorchScriptPythonDecoder

    frontend = FrontEndManager().load_by_framework("pytorch")
    try:
        with _quiet(), torch.no_grad():
            traced = torch.jit.trace(whole, (example,), check_trace=False)  # type: ignore[no-untyped-call]
            decoder = TorchScriptPythonDecoder(traced, example_input=(example,))  # the frontend keeps none alive
            model = frontend.convert(frontend.load(decoder))
    except RuntimeError as error:  # which names every operation there is no rule for
        raise ModelError(f"OpenVINO cannot run this encoder: {str(error).strip().splitlines()[-1]}") from None
    model.input(0).set_names({PIXELS})
    model.output(0).set_names({FEATURES})
    side = example.shape[1]
    model.reshape([1, side, side, 3])
    return model


def _example(encoder: TorchEncoder, count: int) -> Tensor:
    """Images of nothing in particular, always the same, with something in them to look at twice."""
    side = encoder.preprocess.crop
    along = torch.linspace(-1, 1, side)
    images = []
    for i in range(count):
        blob = torch.exp(-8 * ((along[:, None] - 0.3 * i) ** 2 + (along[None] + 0.4) ** 2))
        wave = torch.sin(20 * along[:, None] * (i + 1)) * torch.cos(13 * along[None])
        images.append(torch.stack([blob, blob * (wave + 1) / 2, (wave + 1) / 4], dim=-1))
    return (torch.stack(images) * 255).byte()


@contextmanager
def _quiet() -> Iterator[None]:
    """What tracing says of itself: that it is the older way, and that shapes become constants, as is meant."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)
