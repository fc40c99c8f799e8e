"""Backbones made ready to answer: BatchNorm that no longer learns becomes part of the convolution before it."""

from __future__ import annotations

import copy
from itertools import pairwise
from math import isfinite

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval


def folded(module: nn.Module) -> nn.Module:
    """A copy for answering, its convolutions laid out for channels last; the module itself stays as it was."""
    ready = copy.deepcopy(module).eval().requires_grad_(False)
    for parent in ready.modules():
        for (first, conv), (second, norm) in pairwise(list(parent.named_children())):
            if isinstance(conv, nn.Conv2d) and isinstance(norm, nn.BatchNorm2d) and _belong(conv, norm):
                setattr(parent, first, fuse_conv_bn_eval(conv, norm))
                setattr(parent, second, _what_else(norm))
    return ready.to(memory_format=torch.channels_last)


def safely_folded(module: nn.Module, example: Tensor) -> nn.Module:
    """The folded copy, if it gives what the module gives: neighbours in a list need not follow in a forward."""
    ready = folded(module)
    with torch.inference_mode():
        expected, found = module.eval()(example), ready(example)
    largest = float(expected.abs().max())
    alike = isfinite(largest) and torch.allclose(expected, found, rtol=1e-3, atol=1e-3 * largest)
    return ready if alike else copy.deepcopy(module).eval()


def _belong(conv: nn.Conv2d, norm: nn.BatchNorm2d) -> bool:
    return norm.num_features == conv.out_channels and norm.track_running_stats


def _what_else(norm: nn.BatchNorm2d) -> nn.Module:
    """timm's BatchNorm brings its activation along; that stays."""
    return nn.Sequential(*(getattr(norm, part) for part in ("drop", "act") if hasattr(norm, part)))
