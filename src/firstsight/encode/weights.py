"""Reading weights files: safetensors or a plain state dict, never a pickle that runs code.

Knows the wrappings people publish weights in; says which tensors do not fit rather than loading half.
"""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from firstsight.core.errors import ModelError
from firstsight.encode.compiler import compiler_when_called

with compiler_when_called():
    from timm.models.vision_transformer import VisionTransformer, checkpoint_filter_fn

WRAPPERS = ("state_dict", "model", "teacher", "student")
PREFIXES = ("module.", "backbone.")
HEADS = ("head.", "fc.", "classifier.")


def read_weights(path: Path) -> dict[str, Tensor]:
    """The tensors of a .safetensors file or of a .pth state dict, unwrapped, in their order."""
    if not path.is_file():
        raise ModelError(f"{path}: there is no such weights file")
    try:
        if path.suffix == ".safetensors":
            return dict(load_file(path))
        content = torch.load(path, map_location="cpu", weights_only=True)
    except (
        SafetensorError,
        pickle.UnpicklingError,
        zipfile.BadZipFile,
        RuntimeError,
        EOFError,
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        ArithmeticError,
    ) as error:
        raise ModelError(
            f"{path}: cannot be read as weights: {_reason(error)}",
            "expected a .safetensors file or a .pth holding a state dict of tensors only",
        ) from None
    return _unwrap(content, path)


def _reason(error: Exception) -> str:
    """In one line, without torch's advice on how to read a file that could run code."""
    first = (str(error).strip() or type(error).__name__).splitlines()[0]
    return "it holds more than tensors, or is no such file" if "Weights only load failed" in first else first


def load_weights(model: nn.Module, tensors: dict[str, Tensor], source: str) -> None:
    """Fill a backbone; every one of its tensors must be there with its shape. Classifier heads are ignored."""
    if isinstance(model, VisionTransformer):
        tensors = checkpoint_filter_fn(dict(tensors), model)  # other names, other grid of positions
    wanted = model.state_dict()
    missing = [name for name in wanted if name not in tensors]
    misfits = [name for name in wanted if name in tensors and tensors[name].shape != wanted[name].shape]
    surplus = [name for name in tensors if name not in wanted and not name.startswith(HEADS)]
    if missing or misfits or surplus:
        examples = (
            [f"{name} is missing" for name in missing[:2]]
            + [f"{n} is {tuple(tensors[n].shape)}, not {tuple(wanted[n].shape)}" for n in misfits[:2]]
            + [f"{name} has no place" for name in surplus[:2]]
        )
        count = len(missing) + len(misfits) + len(surplus)
        raise ModelError(
            f"{source}: weights of another architecture ({count} tensors do not fit: {'; '.join(examples)})",
            "name the architecture they belong to with --backbone",
        )
    for name in wanted:
        if not tensors[name].isfinite().all():
            raise ModelError(f"{source}: {name} holds values that are not numbers", "download or save the file again")
    model.load_state_dict({name: tensors[name] for name in wanted})


def _unwrap(content: object, path: Path) -> dict[str, Tensor]:
    while isinstance(content, dict):
        inner = next((content[key] for key in WRAPPERS if isinstance(content.get(key), dict)), None)
        if inner is None:
            break
        content = inner
    if not isinstance(content, dict) or not content or not all(isinstance(v, Tensor) for v in content.values()):
        raise ModelError(f"{path}: holds no state dict of tensors")
    for prefix in PREFIXES:
        if any(str(name).startswith(prefix) for name in content):
            content = {str(n).removeprefix(prefix): v for n, v in content.items() if str(n).startswith(prefix)}
    return {str(name): value for name, value in content.items()}
