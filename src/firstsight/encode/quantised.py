"""A graph in int8: weights and what passes between layers rounded to 256 steps, as wide as images of yours need. NNCF.

Needs the `export` extra. What is seen of the images is how large values become, and nothing else.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from firstsight.core.errors import ModelError
from firstsight.data.images import Pixels
from firstsight.encode.graph import Graph

FEWEST = 16  # images that tell how large values become
MOST = 300  # more tell little more
# of a CNN, what takes the time; a second look placed by 256 steps, or depthwise filters, would be far off
ROUNDED = {"Convolution", "MatMul", "Clamp", "Convert", "Constant", "Parameter", "Result"}


def quantised(graph: Graph, images: Sequence[Pixels], transformer: bool) -> Graph:
    """The graph in int8, made with these images; without the other notation, which would be another function."""
    try:
        import nncf
    except ModuleNotFoundError:
        raise ModelError("int8 needs NNCF, which is not installed", "pip install 'firstsight[export]'") from None
    from firstsight.encode.by_openvino import read
    from firstsight.encode.conversion import written

    logging.getLogger("nncf").setLevel(logging.ERROR)
    data, model = nncf.Dataset([np.asarray(image)[None] for image in images]), read(graph)
    others = sorted({each.get_type_name() for each in model.get_ordered_ops()} - ROUNDED)
    model = nncf.quantize(
        model,
        data,
        subset_size=len(images),
        model_type=nncf.ModelType.TRANSFORMER if transformer else None,
        preset=nncf.QuantizationPreset.MIXED,
        ignored_scope=None if transformer else nncf.IgnoredScope(types=others, validate=False),
    )
    xml, weights = written(model)
    return replace(graph, xml=xml, weights=weights, onnx=b"", precision="int8")
