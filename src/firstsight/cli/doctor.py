"""`firstsight doctor`: what is installed, which devices are here, which backbones' weights are at hand."""

from __future__ import annotations

import platform
from typing import Any

from firstsight._version import __version__
from firstsight.cli.console import Json, out, print_json
from firstsight.cli.versions import installed

PACKAGES = ("torch", "torchvision", "timm", "openvino", "onnxruntime", "numpy", "scipy", "pillow", "safetensors")


def doctor(as_json: Json = False) -> None:
    """Print versions, devices, and which backbones' weights are at hand."""
    found = _found()
    if as_json:
        return print_json(found)
    devices = found["devices"]
    out.print(f"firstsight {__version__}, Python {found['python']}, {found['platform']}")
    out.print(", ".join(f"{package} {there or 'missing'}" for package, there in found["packages"].items()))
    out.print(f"a CPU encodes by {found['runtime']}")
    if not found["packages"]["torch"]:
        out.print(f"devices: cpu ({devices['cpu_threads']} threads); exported models only, since there is no torch")
        return None
    cuda, mps = ", ".join(devices["cuda"]) or "none", "yes" if devices["mps"] else "no"
    out.print(f"devices: cpu ({devices['cpu_threads']} threads); CUDA: {cuda}; MPS: {mps}")
    out.print("backbones:")
    for each in found["backbones"]:
        line = f"  {each['name']:<20}{each['weights']:<26}{each['about']} ({each['licence']})"
        out.print(line, markup=False)
    out.print("Any other timm model works by its name; local weights are loaded with --weights FILE.")
    return None


def _found() -> dict[str, Any]:
    """Everything there is to say, by name."""
    from firstsight.core.threads import computing_threads
    from firstsight.encode.runtimes import runtime

    found: dict[str, Any] = {
        "firstsight": __version__,
        "python": platform.python_version(),
        "platform": platform.platform(terse=True),
        "packages": {package: installed(package) for package in PACKAGES},
        "runtime": runtime("cpu", None),
        "devices": {"cpu_threads": computing_threads(), "cuda": [], "mps": False},
        "backbones": [],
    }
    return found | _by_torch(found["devices"]) if found["packages"]["torch"] else found


def _by_torch(devices: dict[str, Any]) -> dict[str, Any]:
    """What only torch can tell: its devices, and the backbones that can be had."""
    import torch

    from firstsight.encode.backbones import SHORTCUTS

    count = torch.cuda.device_count() if torch.cuda.is_available() else 0
    own = {"cuda": [torch.cuda.get_device_name(i) for i in range(count)], "mps": torch.backends.mps.is_available()}
    backbones = [
        {"name": name, "weights": _weights(name), "about": shortcut.about, "licence": shortcut.licence}
        for name, shortcut in SHORTCUTS.items()
    ]
    return {"devices": devices | own, "backbones": backbones}


def _weights(name: str) -> str:
    from firstsight.encode.backbones import cached_weights, lite2_weights

    if name == "efficientnet-lite2":
        return "installed" if lite2_weights() else "missing: the lite2 extra"
    return "downloaded" if cached_weights(name) else "downloaded on first use"
