"""Packages that not every installation has, and what to do where one is missing. `firstsight-core` has few."""

from __future__ import annotations

from importlib.util import find_spec

from firstsight.core.errors import MissingPackage

FULL = "pip install firstsight, which brings all of them"
FITTING = "pip install 'firstsight-core[fit]', or firstsight, which brings it"
HOW = {
    "torch": FULL,
    "torchvision": FULL,
    "timm": FULL,
    "huggingface_hub": FULL,
    "scipy": FITTING,
    "sklearn": FITTING,
    "openvino": "pip install 'firstsight[fast]'",
    "nncf": "pip install 'firstsight[export]'",
    "onnx": "pip install 'firstsight[export]'",
}
CALLED = {"sklearn": "scikit-learn", "scipy": "SciPy"}


def has(package: str) -> bool:
    """Whether it can be imported; it is not."""
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


def need(what: str, *packages: str) -> None:
    """MissingPackage where one of these is not installed, which `what` needs."""
    for package in packages:
        if not has(package):
            raise MissingPackage(f"{what} needs {CALLED.get(package, package)}, which is not installed", HOW[package])


def missing(error: ModuleNotFoundError) -> MissingPackage | None:
    """The same of an import that failed; None where no such package is ours to name."""
    package = (error.name or "").partition(".")[0]
    if package not in HOW:
        return None
    return MissingPackage(f"this needs {CALLED.get(package, package)}, which is not installed", HOW[package])
