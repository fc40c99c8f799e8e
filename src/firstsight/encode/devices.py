"""Which device to run on, and in which precision."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

from firstsight.core.errors import DeviceError
from firstsight.core.threads import computing_threads

RUNTIMES = ("torch", "openvino", "onnxruntime")
ALLOWED = "auto, cpu, cuda, cuda:N, mps; torch, openvino or onnxruntime for a CPU by that"


def pick_device(name: str = "auto") -> torch.device:
    """The device of that name; `auto` takes CUDA, then Apple's MPS, then the CPU, which is meant by any runtime's name.

    From here on torch has no more threads than there are cores for it: by itself it knows of no container's quota.
    """
    if torch.get_num_threads() > computing_threads():
        torch.set_num_threads(computing_threads())
    if name == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    if name in RUNTIMES:
        return torch.device("cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise DeviceError(f"device {name!r} is unknown; allowed: {ALLOWED}") from None
    if device.type == "cuda" and (not torch.cuda.is_available() or (device.index or 0) >= torch.cuda.device_count()):
        found = torch.cuda.device_count() if torch.cuda.is_available() else 0
        raise DeviceError(f"device {name!r} was asked for; {found} CUDA devices are here", "use --device cpu")
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise DeviceError("device 'mps' was asked for and is not here", "use --device cpu")
    if device.type not in ("cpu", "cuda", "mps"):
        raise DeviceError(f"device {name!r} is not supported; allowed: {ALLOWED}")
    return device


@contextlib.contextmanager
def plain_precision() -> Iterator[None]:
    """fp32 without shortcuts: no TF32 in products or convolutions, no trying which algorithm is fastest."""
    matmul, cudnn = torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.flags
    torch.backends.cuda.matmul.allow_tf32 = False
    try:
        with cudnn(enabled=True, benchmark=False, deterministic=True, allow_tf32=False):
            yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = matmul


def mixed_precision(device: torch.device, precision: str) -> contextlib.AbstractContextManager[None]:
    """bf16 where asked for, or on CUDA by `auto`; otherwise plain fp32."""
    if precision == "bf16" or (precision == "auto" and device.type == "cuda"):
        return torch.autocast(device.type, dtype=torch.bfloat16)
    return contextlib.nullcontext()
