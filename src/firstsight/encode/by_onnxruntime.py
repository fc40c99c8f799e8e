"""A graph run by ONNX Runtime, where OpenVINO is not to be had: slower, and in fp32 alone."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cached_property

import numpy as np
import onnxruntime as ort
from numpy.typing import NDArray

from firstsight.core.protocols import Features
from firstsight.core.threads import computing_threads
from firstsight.encode.graph import Graph, check_inputs, check_width
from firstsight.encode.onnx_files import check_whole


class ByOnnxRuntime:
    """As many images at a time as there are threads, one on each."""

    name, precision = "onnxruntime", "fp32"

    def __init__(self, graph: Graph, side: int) -> None:
        check_whole(graph.onnx)
        options = ort.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = 3
        self._session = ort.InferenceSession(graph.onnx, options, providers=["CPUExecutionProvider"])
        inputs = self._session.get_inputs()
        kinds = [each.type.removeprefix("tensor(").removesuffix(")") for each in inputs]
        shapes = [[side if isinstance(side, int) else -1 for side in each.shape] for each in inputs]
        check_inputs(kinds, shapes, len(self._session.get_outputs()), side)
        self._input = inputs[0].name
        self.width = check_width(self._one(np.zeros((1, side, side, 3), np.uint8)).shape)

    def __call__(self, crops: NDArray[np.uint8]) -> Features:
        return np.concatenate(list(self._threads.map(self._one, (crops[i : i + 1] for i in range(len(crops))))))

    def _one(self, crop: NDArray[np.uint8]) -> Features:
        (features,) = self._session.run(None, {self._input: crop})
        return np.asarray(features)

    @cached_property
    def _threads(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(computing_threads(), "firstsight-encode")
