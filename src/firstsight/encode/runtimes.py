"""Which runtime encodes: torch, or on a CPU OpenVINO or ONNX Runtime where a graph is at hand. Loads none of them."""

from __future__ import annotations

import ctypes
import sys
from typing import Literal, TypeAlias

from firstsight.core.errors import DeviceError
from firstsight.core.packages import has
from firstsight.encode.graph import Engine, Graph, Runs

Runtime: TypeAlias = Literal["torch", "openvino", "onnxruntime"]
EXTRA = {
    "torch": "pip install firstsight, which brings it",
    "openvino": "pip install 'firstsight[fast]'",
    "onnxruntime": "pip install 'firstsight[export]', or onnxruntime alone",
}

DRIVERS = ("libcuda.so.1", "nvcuda.dll", "libamdhip64.so")  # of GPUs that torch may know


def runtime(device: str, graph: Graph | None, torch: bool = True) -> Runtime:
    """What encodes on this device, for a model that has this graph; `torch` is whether it has weights for torch.

    A CPU takes OpenVINO, then ONNX Runtime where the graph is written for it, then torch.
    """
    if device in EXTRA:
        if not has(device):
            raise DeviceError(f"--device {device} was asked for, which is not installed", EXTRA[device])
        return device  # type: ignore[return-value]
    if device not in ("auto", "cpu") and not torch:
        raise DeviceError(f"device {device!r}: a model that was exported runs on a CPU", "use --device cpu")
    torch = torch and has("torch")
    if device != "cpu" and torch and (device != "auto" or accelerated()):
        return "torch"
    if has("openvino"):
        return "openvino"
    if not torch and has("onnxruntime") and graph is not None and graph.onnx:
        return "onnxruntime"
    return "torch"


def accelerated() -> bool:
    """Whether there may be something faster than a CPU here; torch, which takes seconds to load, is asked only then."""
    if sys.platform != "darwin" and not any(map(_loads, DRIVERS)):
        return False
    import torch

    return bool(torch.cuda.is_available() or torch.backends.mps.is_available())


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def made_ready(graph: Graph, side: int, engine: Engine) -> Runs:
    """The graph, ready to encode images of this side."""
    if engine == "openvino":
        from firstsight.encode.by_openvino import ByOpenVino

        return ByOpenVino(graph, side)
    from firstsight.encode.by_onnxruntime import ByOnnxRuntime

    return ByOnnxRuntime(graph, side)
