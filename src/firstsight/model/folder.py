"""The model folder: safetensors and JSON with checksums, and a card for people. No pickle.

Written whole or not at all; read only if every file is as it was written.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from firstsight._version import __version__
from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.files import digest, new_folder, read_json, write_file
from firstsight.core.settings import Settings
from firstsight.data.images import Preprocess
from firstsight.encode.devices import pick_device
from firstsight.methods.catalogue import is_own
from firstsight.methods.networks import HashNetwork
from firstsight.model.card import model_card
from firstsight.model.examples import Examples
from firstsight.model.model import Category, Model

FORMAT = 1
WEIGHTS, CONFIG, CATEGORIES, CHECKSUMS = "model.safetensors", "config.json", "categories.json", "checksums.json"
EXAMPLES = "examples.safetensors"  # not in folders of earlier releases
CHECKED = (WEIGHTS, CONFIG, CATEGORIES)


def save_model(model: Model, path: Path, metrics: bytes = b"") -> None:
    """Write a model folder; it appears under its name only when complete."""
    tensors = {f"trunk.{name}": t for name, t in model.trunk.state_dict().items()}
    tensors |= {f"network.{name}": t for name, t in model.network.state_dict().items()}
    with new_folder(path) as folder:
        write_file(folder / WEIGHTS, save({name: t.detach().cpu().contiguous() for name, t in tensors.items()}))
        write_file(folder / CONFIG, _json(_config(model)))
        write_file(folder / CATEGORIES, _json([asdict(category) for category in model.categories]))
        if model.examples is not None:
            write_file(folder / EXAMPLES, model.examples.to_bytes())
        checked = [name for name in (*CHECKED, EXAMPLES) if (folder / name).is_file()]
        write_file(folder / CHECKSUMS, _json({name: digest(folder / name) for name in checked}))
        write_file(folder / "metrics.jsonl", metrics)
        write_file(folder / "README.md", model_card(model, path.name).encode())


def load_model(path: Path | str, device: str = "auto", exact: bool = False, trust: bool = False) -> Model:
    """Read a model folder, whichever machine wrote it.

    With `exact` an image's row has the same bits whatever images are encoded with it, at the price of fp32. A model
    whose method is a module from elsewhere is refused without `trust`: loading it would run that module.
    """
    path = Path(path)
    config = _read_config(path)
    listed = _verify(path)
    where = pick_device(device)
    try:
        settings = _settings(config)
        if is_own(settings.method) and not trust:
            raise ModelError(
                f"{path}: its method is {settings.method!r}, a module from elsewhere, which loading it would run",
                "if you know that module, say so with --trust, in Python load(..., trust=True)",
            )
        categories = _categories(read_json((path / CATEGORIES).read_bytes()))
        model = Model.assemble(settings, categories, where, blank=True)
        model.exact = exact
        model.preprocess = Preprocess.of(config["preprocess"])
        if model.preprocess.crop != settings.image_size:
            raise ValueError(f"crop is {model.preprocess.crop} and image_size {settings.image_size}")
        if isinstance(model.network, HashNetwork):  # as it was then, whatever rule this release has
            model.network.minimum_distance = int(config["minimum_distance"])
        model.licence, model.report = str(config["licence"]), dict(config["report"])
        _fill(model, load((path / WEIGHTS).read_bytes()))
        if EXAMPLES in listed:
            model.examples = Examples.of_bytes((path / EXAMPLES).read_bytes())
            model.examples.check(len(categories))
        _check_numbers(model, path)
        model.register()
    except (LookupError, TypeError, ValueError, ArithmeticError, SafetensorError, RuntimeError, SettingsError) as error:
        raise _unreadable(path, error) from None
    return model


def settings_of(path: Path) -> Settings:
    """What a model was fitted with; nothing of it is loaded."""
    try:
        return _settings(_read_config(path))
    except (KeyError, TypeError, SettingsError) as error:
        raise _unreadable(path, error) from None


def is_model(path: Path) -> bool:
    """Whether a complete model lies there."""
    return (path / CHECKSUMS).is_file()


def _categories(entries: Any) -> list[Category]:
    """The known categories; ValueError where two have one name, or one has none."""
    categories = [Category(**entry) for entry in entries]
    names = [category.name for category in categories]
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise ValueError(f"{CATEGORIES}: every category has a name of its own")
    if not all(type(category.support) is int and category.support >= 0 for category in categories):
        raise ValueError(f"{CATEGORIES}: every category has a number of support images")
    return categories


def _check_numbers(model: Model, path: Path) -> None:
    for module in (model.trunk, model.network):
        for name, tensor in module.state_dict().items():
            if tensor.is_floating_point() and not tensor.isfinite().all():
                raise ModelError(f"{path}: {WEIGHTS}: {name} holds values that are not numbers", "fit again")


def _settings(config: dict[str, Any]) -> Settings:
    return Settings.of({"second_look": False, **config["settings"]})  # earlier releases looked once


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(f"{path}: is no model this release can read: {error}")


def _config(model: Model) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "method": model.settings.method,
        "firstsight": __version__,
        "torch": torch.__version__.split("+")[0],
        "settings": model.settings.as_dict(),
        "preprocess": model.preprocess.as_dict(),
        "minimum_distance": getattr(model.network, "minimum_distance", None),
        "licence": model.licence,
        "report": model.report,
    }


def _read_config(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise ModelError(f"{path}: there is no model folder", "make one with: firstsight fit FOLDER --out MODEL")
    try:
        config = read_json((path / CONFIG).read_bytes())
        version = int(config["format"])
    except FileNotFoundError:
        raise ModelError(f"{path}: {CONFIG} is missing; this is no complete model folder") from None
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{path}: {CONFIG} is damaged") from None
    if version > FORMAT:
        raise ModelError(
            f"{path}: has model format {version}; this release reads up to {FORMAT}",
            f"it was written by firstsight {config.get('firstsight', 'of a later release')}: upgrade to that or later",
        )
    return dict(config)


def _verify(path: Path) -> list[str]:
    """The files that are as they were written: all that must be there, and those of the others that are listed."""
    try:
        expected = dict(read_json((path / CHECKSUMS).read_bytes()))
    except FileNotFoundError:
        raise ModelError(f"{path}: {CHECKSUMS} is missing; this is no complete model folder") from None
    except (ValueError, TypeError):
        raise ModelError(f"{path}: {CHECKSUMS} is damaged") from None
    listed = [*CHECKED, *([EXAMPLES] if EXAMPLES in expected else [])]
    for name in listed:
        if not (path / name).is_file():
            raise ModelError(f"{path}: {name} is missing", "copy the whole folder again, or fit again")
        if digest(path / name) != expected.get(name):
            raise ModelError(f"{path}: {name} is not as it was written", "copy the whole folder again, or fit again")
    return listed


def _fill(model: Model, tensors: dict[str, torch.Tensor]) -> None:
    for part, module in (("trunk.", model.trunk), ("network.", model.network)):
        module.load_state_dict({n.removeprefix(part): t for n, t in tensors.items() if n.startswith(part)})


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
