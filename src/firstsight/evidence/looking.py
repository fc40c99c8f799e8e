"""Where a model looked: the attention of a transformer's last block, or where a CNN found what makes images similar."""

from __future__ import annotations

from math import isqrt
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F
from torch.overrides import TorchFunctionMode

from firstsight.data.images import Pixels
from firstsight.encode.second_look import enlarged, square
from firstsight.evidence.evidence import Square
from firstsight.evidence.points import TOP, Look, Points, top


class Watch(TorchFunctionMode):
    """Remembers what passes by in this thread: the last queries and keys, and the last feature map."""

    def __init__(self) -> None:
        super().__init__()
        self.attending: tuple[Tensor, Tensor, float | None] | None = None
        self.map: Tensor | None = None
        self.closer: Square | None = None  # where the second look goes; what passes by from then on is of a part only

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if func is F.scaled_dot_product_attention and len(args[0]) == 1:  # of the whole image, not of windows
            self.attending = args[0], args[1], (kwargs or {}).get("scale")
        if func is enlarged:
            across, down, half = (float(each[0]) for each in square(args[1].detach()))
            self.closer = (1 + across - half) / 2, (1 + down - half) / 2, half
        if isinstance(result, Tensor) and self.closer is None and _is_map(result):
            self.map = result
        return result


def _is_map(result: Tensor) -> bool:
    """Whether these are features by place; crops are square, and so are their maps, which other things are not."""
    return result.ndim == 4 and result.shape[2] == result.shape[3] > 1


def look(points: Points, pixels: Pixels) -> Look:
    """Look at one image. Of a CNN it is told where in it that was found which makes it like the points it is like."""
    encoder, crops = points.model.torch_encoder, torch.from_numpy(pixels.copy())[None]
    with Watch() as watch, torch.enable_grad():
        stem = encoder.stem(crops).detach().requires_grad_()
        learner = encoder.learner.eval()
        shown = learner.shown(stem)
    if watch.attending is not None:
        return Look(shown.detach().cpu().numpy(), _scaled(_attention(*watch.attending)), watch.closer)
    total = _liking(points, shown)
    with torch.no_grad():
        channels = learner.tail(stem).shape[1]
    if watch.map is None or total is None or watch.map.shape[1] != channels:
        return Look(shown.detach().cpu().numpy(), None, watch.closer)
    # a map the frozen trunk made is not part of the graph; what was pooled of it is
    (gradient,) = torch.autograd.grad(total, watch.map if watch.map.requires_grad else stem)
    weights = gradient[0].reshape(channels, -1).mean(1)
    places = _scaled(torch.einsum("c,chw->hw", weights, watch.map[0].detach()).clamp_min(0))
    return Look(shown.detach().cpu().numpy(), places, watch.closer)


def _liking(points: Points, shown: Tensor) -> Tensor | None:
    """How much one image is like the points most like it, with a gradient."""
    if not len(points):
        return None
    if points.by_learner:
        learned = points.model.torch_encoder.learner.similarity(shown, torch.from_numpy(points.points).to(shown.device))
        return learned.topk(min(TOP, len(points))).values.sum()
    feature, decision = shown[0].detach().cpu().numpy(), points.model.decision
    most = top(decision.similarity(feature[None], points.points))[0]
    slope = np.asarray(decision.slope(feature, points.points[most]), dtype=np.float32)
    return (shown[0] * torch.from_numpy(slope).to(shown.device)).sum()


def _attention(queries: Tensor, keys: Tensor, scale: float | None) -> Tensor:
    """How the class token's attention falls on the patches, mean of all heads; of all tokens where there is none."""
    tokens = queries.shape[2]
    side = isqrt(tokens)
    has_class_token = side * side != tokens
    side = isqrt(tokens - 1) if has_class_token else side
    asked = queries[0, :, :1] if has_class_token else queries[0]
    scores = asked @ keys[0].transpose(-1, -2) * (asked.shape[-1] ** -0.5 if scale is None else scale)
    mean = scores.softmax(-1).mean((0, 1)).detach()  # (tokens,)
    return mean[-side * side :].reshape(side, side)  # registers and the class token come first


def _scaled(values: Tensor) -> NDArray[np.float32] | None:
    """From 0 to 1; None where there is nothing to see."""
    grid: NDArray[np.float32] = values.float().cpu().numpy()
    span = float(np.ptp(grid))
    return (grid - grid.min()) / np.float32(span) if np.isfinite(span) and span > 0 else None
