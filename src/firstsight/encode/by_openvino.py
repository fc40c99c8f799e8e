"""A graph run by OpenVINO, on a CPU: one image at a time on each of its threads."""

from __future__ import annotations

from threading import Lock
from typing import Any

import numpy as np
import openvino as ov
from numpy.typing import NDArray

from firstsight.core.protocols import Features
from firstsight.core.threads import computing_threads
from firstsight.encode.graph import Graph, check_inputs, check_width

HINTS = {"fp32": "f32", "int8": "bf16", "bf16": "bf16"}  # what int8 leaves as it is takes the next faster one


class ByOpenVino:
    """As many images at a time as there are threads, one on each: they share no work, and wait for none."""

    name = "openvino"

    def __init__(self, graph: Graph, side: int) -> None:
        model = read(graph)
        check_function(model, side)
        model.reshape([1, side, side, 3])
        compiled = ov.Core().compile_model(model, "CPU", _settings(graph))
        self.width = check_width(_shape(model.output(0).get_partial_shape()))
        # a CPU that has no bf16 computes in fp32, and says so
        asked = str(compiled.get_property("INFERENCE_PRECISION_HINT"))
        self.precision = "int8" if graph.precision == "int8" else "bf16" if "bf" in asked else "fp32"
        self._turn = Lock()
        self._made: dict[int, NDArray[np.float32]] = {}
        self._queue: Any = ov.AsyncInferQueue(compiled, computing_threads())
        self._queue.set_callback(self._keep)

    def __call__(self, crops: NDArray[np.uint8]) -> Features:
        with self._turn:
            self._made.clear()
            for i in range(len(crops)):
                self._queue.start_async({0: crops[i : i + 1]}, i, share_inputs=True)
            self._queue.wait_all()
            return np.concatenate([self._made[i] for i in range(len(crops))])

    def _keep(self, request: Any, number: int) -> None:
        self._made[number] = request.get_output_tensor(0).data.copy()


def read(graph: Graph) -> Any:
    """The graph as OpenVINO has it, read from memory: a file could name others."""
    if graph.xml:
        return ov.Core().read_model(graph.xml, graph.weights)
    return ov.Core().read_model(graph.onnx)


def check_function(model: Any, side: int) -> None:
    """ValueError where it takes something else than images of this side."""
    kinds = [("uint8" if each.get_element_type() == ov.Type.u8 else "others") for each in model.inputs]
    check_inputs(kinds, [_shape(each.get_partial_shape()) for each in model.inputs], len(model.outputs), side)


def _shape(shape: Any) -> list[int]:
    """Its sides; -1 where one is free."""
    return [side.get_length() if side.is_static else -1 for side in shape]


def _settings(graph: Graph) -> dict[str, Any]:
    """By itself it would take all cores there are, pin threads to them, and bf16 where a CPU has it."""
    threads = computing_threads()
    return {
        "INFERENCE_PRECISION_HINT": HINTS[graph.precision],
        "PERFORMANCE_HINT": "THROUGHPUT",
        "NUM_STREAMS": threads,
        "INFERENCE_NUM_THREADS": threads,
        "ENABLE_CPU_PINNING": False,
    }
