"""What `firstsight --version` says: ours first, then what computes, and on what. Nothing large is loaded for it."""

from __future__ import annotations

import ctypes
import platform
import re
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from firstsight._version import __version__

ENGINES = ("torch", "openvino", "onnxruntime")
NAME_LENGTH = 128


def version_line() -> str:
    """Our version, those of what runs networks, and the device they would run on."""
    found = [f"{name} {there}" for name in ENGINES if (there := installed(name))]
    return f"{__version__} ({', '.join([*(found or ['no torch']), device()])})"


def installed(package: str) -> str | None:
    """The version of a package that is installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def device() -> str:
    """Where `--device auto` computes, asked of the driver: loading torch to ask it takes seconds."""
    if names := cuda_devices() if _built_for_cuda() else []:
        return f"cuda: {names[0]}" + (f" and {len(names) - 1} more" if len(names) > 1 else "")
    if installed("torch") and (platform.system(), platform.machine()) == ("Darwin", "arm64"):
        return "mps"
    return "cpu"


def cuda_devices() -> list[str]:
    """The names of the GPUs that the CUDA driver has, if there is one."""
    try:
        driver = ctypes.CDLL("nvcuda.dll" if platform.system() == "Windows" else "libcuda.so.1")
    except OSError:
        return []
    count, names = ctypes.c_int(), []
    if driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)):
        return []
    for number in range(count.value):
        name = ctypes.create_string_buffer(NAME_LENGTH)
        driver.cuDeviceGetName(name, NAME_LENGTH, number)
        names.append(name.value.decode(errors="replace"))
    return names


def _built_for_cuda() -> bool:
    """Whether the torch that is here can use CUDA, by what it says of itself in a file of one screen."""
    spec = find_spec("torch")
    if spec is None or spec.origin is None:
        return False
    try:
        said = (Path(spec.origin).parent / "version.py").read_text()
    except OSError:
        return False
    return re.search(r"^cuda\b.*=\s*['\"]", said, re.MULTILINE) is not None
