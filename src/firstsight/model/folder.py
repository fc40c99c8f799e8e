"""The model folder: safetensors, graphs and JSON with checksums, and a card for people. No pickle.

Written whole or not at all; read only if every file is as it was written. Loads torch only for an encoder in torch.
"""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from firstsight._version import __version__
from firstsight.core.errors import ModelError, SettingsError
from firstsight.core.files import digest, new_folder, read_json, write_file
from firstsight.methods.catalogue import decision_of, is_own, method
from firstsight.model.card import model_card
from firstsight.model.encoder_files import FILES, about, files_of, read_encoder
from firstsight.model.examples import Examples
from firstsight.model.hub import find
from firstsight.model.model import Category, Model

FORMAT = 4
DECISION, EXAMPLES = "decision.safetensors", "examples.safetensors"
CONFIG, CATEGORIES, CHECKSUMS = "config.json", "categories.json", "checksums.json"
ALWAYS = (DECISION, CONFIG, CATEGORIES)
SOMETIMES = (*FILES, EXAMPLES)  # where there is one; where support images are kept


def save_model(model: Model, path: Path, metrics: bytes = b"") -> None:
    """Write a model folder; it appears under its name only when complete."""
    with new_folder(path) as folder:
        for name, content in ({} if model.encoder is None else files_of(model.encoder)).items():
            write_file(folder / name, content)
        write_file(folder / DECISION, save(model.decision.arrays()))
        write_file(folder / CONFIG, _json(_config(model)))
        write_file(folder / CATEGORIES, _json([asdict(category) for category in model.categories]))
        if model.examples is not None:
            write_file(folder / EXAMPLES, model.examples.to_bytes())
        checked = [name for name in (*ALWAYS, *SOMETIMES) if (folder / name).is_file()]
        write_file(folder / CHECKSUMS, _json({name: digest(folder / name) for name in checked}))
        write_file(folder / "metrics.jsonl", metrics)
        write_file(folder / "README.md", model_card(model, path.name).encode())


def load_model(path: Path | str, device: str = "auto", exact: bool = False, trust: bool = False) -> Model:
    """Read a model folder, whichever machine wrote it, or `owner/name`, maybe with `@revision`, from the hub.

    With `exact` an image's feature has the same bits whatever images are encoded with it, at the price of fp32; by
    OpenVINO and ONNX Runtime it always has. `device` may name what encodes on a CPU: torch, openvino, onnxruntime. A
    model whose method is a module from elsewhere is refused without `trust`: loading it would run that module.
    """
    path, origin = find(path, (*ALWAYS, *SOMETIMES, CHECKSUMS))
    config = _read_config(path)
    listed = _verify(path)
    try:
        _check_trust(path, config, trust)
        settings = _settings(config)
        categories = _categories(read_json((path / CATEGORIES).read_bytes()))
        names = tuple(category.name for category in categories)
        arrays = load((path / DECISION).read_bytes())
        decision = decision_of(settings.method).of(names, arrays, config["decision"])
        encoder = None
        if any(name in listed for name in FILES):
            encoder = read_encoder(path, listed, config, settings, len(names), device, exact)
        model = Model(settings, categories, decision, encoder, dict(config["report"]), origin=origin)
        if EXAMPLES in listed:
            model.examples = Examples.of_bytes((path / EXAMPLES).read_bytes())
            model.examples.check(len(categories))
        _try_out(model)
    except (LookupError, TypeError, ValueError, ArithmeticError, SafetensorError, RuntimeError, SettingsError) as error:
        raise _unreadable(path, error) from None
    return model


def _try_out(model: Model) -> None:
    """ValueError where the parts of a decision do not fit together: one feature is decided."""
    try:
        model.register().match(model.transform(np.zeros((1, model.decision.width), dtype=np.float32))[0])
    except ModelError as error:
        raise ValueError(error.what) from None


def checked_files(path: Path) -> tuple[dict[str, Any], list[str]]:
    """What a model folder says of itself, and its files, each as it was written; nothing of it is loaded."""
    return _read_config(path), [*_verify(path), CHECKSUMS]


def settings_of(path: Path) -> dict[str, Any]:
    """What a model was fitted with, by name; nothing of it is loaded, and nothing checked."""
    try:
        return dict(_read_config(path)["settings"])
    except (KeyError, TypeError, ValueError) as error:
        raise _unreadable(path, error) from None


def is_model(path: Path) -> bool:
    """Whether a complete model lies there."""
    return (path / CHECKSUMS).is_file()


def _categories(entries: Any) -> tuple[Category, ...]:
    """The known categories; ValueError where two have one name, or one has none."""
    categories = tuple(Category(**entry) for entry in entries)
    names = [category.name for category in categories]
    if not all(isinstance(name, str) and name for name in names) or len(set(names)) < len(names):
        raise ValueError(f"{CATEGORIES}: every category has a name of its own")
    if not all(type(category.support) is int and category.support >= 0 for category in categories):
        raise ValueError(f"{CATEGORIES}: every category has a number of support images")
    return categories


def _check_trust(path: Path, config: dict[str, Any], trust: bool) -> None:
    name = config["settings"]["method"]
    if not isinstance(name, str):
        raise ValueError(f"method is {name!r}")
    if is_own(name) and not trust:
        raise ModelError(
            f"{path}: its method is {name!r}, a module from elsewhere, which loading it would run",
            "if you know that module, say so with --trust, in Python load(..., trust=True)",
        )


def _settings(config: dict[str, Any]) -> Any:
    given = config["settings"]
    return method(given["method"]).settings_type(**given)


def _unreadable(path: Path, error: Exception) -> ModelError:
    return ModelError(f"{path}: is no model this release can read: {error}")


def _config(model: Model) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "firstsight": __version__,
        "settings": model.settings.as_dict(),
        "decision": model.decision.values(),
        "report": model.report,
        **({} if model.encoder is None else about(model.encoder)),
    }


def _read_config(path: Path) -> dict[str, Any]:
    if not path.is_dir():
        raise ModelError(f"{path}: there is no model folder", "make one with: firstsight fit FOLDER --out MODEL")
    try:
        config = read_json((path / CONFIG).read_bytes())
        version = int(config["format"])
    except FileNotFoundError:
        raise ModelError(f"{path}: {CONFIG} is missing; this is no complete model folder") from None
    except OSError as error:
        raise ModelError(f"{path}: {CONFIG} cannot be read: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise ModelError(f"{path}: {CONFIG} is damaged") from None
    if version != FORMAT:
        raise ModelError(
            f"{path}: has model format {version}; this release reads {FORMAT}",
            f"it was written by firstsight {config.get('firstsight', 'of another release')}: use that, or fit again",
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
    listed = [*ALWAYS, *(name for name in SOMETIMES if name in expected)]
    for name in listed:
        if not (path / name).is_file():
            raise ModelError(f"{path}: {name} is missing", "copy the whole folder again, or fit again")
        if digest(path / name) != expected.get(name):
            raise ModelError(f"{path}: {name} is not as it was written", "copy the whole folder again, or fit again")
    return listed


def _json(content: Any) -> bytes:
    return (json.dumps(content, indent=2, ensure_ascii=False) + "\n").encode()
