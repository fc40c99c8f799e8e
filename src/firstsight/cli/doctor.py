"""`firstsight doctor`: what is installed, which devices are here, which backbones' weights are at hand."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from firstsight._version import __version__
from firstsight.cli.console import out

PACKAGES = ("torch", "torchvision", "timm", "openvino", "onnxruntime", "numpy", "scipy", "pillow", "safetensors")


def doctor() -> None:
    """Print versions, devices, and which backbones' weights are at hand."""
    from firstsight.core.packages import has
    from firstsight.core.threads import computing_threads
    from firstsight.encode.runtimes import runtime

    out.print(f"firstsight {__version__}, Python {platform.python_version()}, {platform.platform(terse=True)}")
    out.print(", ".join(f"{package} {_installed(package)}" for package in PACKAGES))
    out.print(f"a CPU encodes by {runtime('cpu', None)}")
    if not has("torch"):
        out.print(f"devices: cpu ({computing_threads()} threads); exported models only, since there is no torch")
        return
    import torch

    from firstsight.encode.backbones import SHORTCUTS

    cuda = (
        [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())] if torch.cuda.is_available() else []
    )
    mps = "yes" if torch.backends.mps.is_available() else "no"
    out.print(f"devices: cpu ({computing_threads()} threads); CUDA: {', '.join(cuda) or 'none'}; MPS: {mps}")
    out.print("backbones:")
    for name, shortcut in SHORTCUTS.items():
        out.print(f"  {name:<20}{_weights(name):<26}{shortcut.about} ({shortcut.licence})", markup=False)
    out.print("Any other timm model works by its name; local weights are loaded with --weights FILE.")


def _weights(name: str) -> str:
    from firstsight.encode.backbones import cached_weights, lite2_weights

    if name == "efficientnet-lite2":
        return "installed" if lite2_weights() else "missing: the lite2 extra"
    return "downloaded" if cached_weights(name) else "downloaded on first use"


def _installed(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"
