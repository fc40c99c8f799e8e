"""An encoder in a model folder: weights for torch, a graph for the other runtimes, or both. Loads what it needs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from firstsight.core.errors import ModelError
from firstsight.core.packages import has
from firstsight.data.images import Preprocess
from firstsight.encode.graph import PRECISIONS, Graph
from firstsight.encode.graph_encoder import GraphEncoder
from firstsight.encode.runtimes import runtime

if TYPE_CHECKING:
    from firstsight.encode.encoder import TorchEncoder

WEIGHTS = "encoder.safetensors"
XML, BIN, ONNX = "encoder.xml", "encoder.bin", "encoder.onnx"
FILES = (WEIGHTS, XML, BIN, ONNX)

AnyEncoder: TypeAlias = "TorchEncoder | GraphEncoder"


def files_of(encoder: AnyEncoder) -> dict[str, bytes]:
    """What of an encoder is kept, by file: those that hold nothing are left out."""
    if not isinstance(encoder, GraphEncoder):
        return {WEIGHTS: _weights(encoder)}
    graph = encoder.graph
    weights = b"" if encoder.in_torch is None else _weights(encoder.torch)
    files = {WEIGHTS: weights, XML: graph.xml, BIN: graph.weights, ONNX: graph.onnx}
    return {name: content for name, content in files.items() if content}


def about(encoder: AnyEncoder) -> dict[str, Any]:
    """What the files do not say."""
    told = {"preprocess": encoder.preprocess.as_dict(), "licence": encoder.licence}
    if isinstance(encoder, GraphEncoder):
        told["graph"] = {"precision": encoder.graph.precision, "made_of": encoder.made_of}
    return told


def read_encoder(
    path: Path, listed: list[str], config: dict[str, Any], settings: Any, categories: int, device: str, exact: bool
) -> AnyEncoder:
    """The encoder of a model folder, run by what suits this device."""
    preprocess, licence = Preprocess.of(config["preprocess"]), str(config["licence"])
    if preprocess.crop != settings.image_size:
        raise ValueError(f"crop is {preprocess.crop} and image_size {settings.image_size}")
    graph = _graph(path, listed, config.get("graph"))
    in_torch = partial(_in_torch, path, preprocess, licence, settings, categories) if WEIGHTS in listed else None
    by = runtime(device, graph, torch=in_torch is not None)
    if by == "torch" or graph is None:
        _check_torch(path, in_torch is not None)
        assert in_torch is not None
        encoder: TorchEncoder = in_torch(device)
        encoder.exact = exact
        if by != "openvino":
            return encoder
        from firstsight.encode.conversion import for_device

        return for_device(encoder, device)
    return _with_graph(path, graph, preprocess, licence, str(config["graph"]["made_of"]), by, in_torch)


def _with_graph(
    path: Path,
    graph: Graph,
    preprocess: Preprocess,
    licence: str,
    made_of: str,
    by: Any,
    in_torch: Callable[[str], TorchEncoder] | None,
) -> GraphEncoder:
    if by == "onnxruntime" and not graph.onnx:
        raise ModelError(
            f"{path} has no {ONNX}, which ONNX Runtime needs", "install openvino, or export it in fp32 or bf16"
        )
    there = None if in_torch is None or not has("torch") else partial(in_torch, "cpu")
    encoder = GraphEncoder(graph, preprocess, licence, made_of, by, there)
    encoder.ready  # noqa: B018 - a graph that cannot be run is refused now
    return encoder


def _check_torch(path: Path, weights: bool) -> None:
    """ModelError where an encoder would have to be torch's, and cannot be."""
    if not weights:
        raise ModelError(
            f"{path} was exported: it has a graph, and no weights for torch",
            "run it on a CPU by OpenVINO: pip install 'firstsight[fast]', and --device cpu",
        )
    if not has("torch"):
        raise ModelError(
            f"{path}: its encoder is torch's, which is not installed",
            "export it where torch is, with firstsight export MODEL --out DIR, or pip install firstsight",
        )


def _graph(path: Path, listed: list[str], told: Any) -> Graph | None:
    if XML not in listed:
        return None
    if told["precision"] not in PRECISIONS:
        raise ValueError(f"its graph's precision is {told['precision']!r}; allowed: {', '.join(PRECISIONS)}")
    xml, weights, onnx = ((path / name).read_bytes() if name in listed else b"" for name in (XML, BIN, ONNX))
    return Graph(xml, weights, onnx, told["precision"])


def _weights(encoder: TorchEncoder) -> bytes:
    from safetensors.torch import save

    content: bytes = save({name: t.detach().cpu().contiguous() for name, t in encoder.tensors().items()})
    return content


def _in_torch(
    path: Path, preprocess: Preprocess, licence: str, settings: Any, categories: int, device: str
) -> TorchEncoder:
    from safetensors.torch import load

    from firstsight.encode.devices import pick_device
    from firstsight.model.assemble import assemble

    encoder = assemble(settings, categories, pick_device(device), blank=True)
    encoder.preprocess, encoder.licence = preprocess, licence
    encoder.fill(load((path / WEIGHTS).read_bytes()))
    for name, tensor in encoder.tensors().items():
        if tensor.is_floating_point() and not tensor.isfinite().all():
            raise ModelError(f"{path}: {WEIGHTS}: {name} holds values that are not numbers", "fit again")
    return encoder
