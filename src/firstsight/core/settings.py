"""Settings: each its name, default, range and help, once; the command line, the environment and files read this.

Every method has a class of its own, with what means something to it and nothing else: the shared ones are here, the
others beside their methods. Frozen, checked when made, saved with every model. Nothing here imports torch or NumPy.
"""

from __future__ import annotations

import os
import tomllib
import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, Self, get_args, get_origin, get_type_hints

from firstsight.core.errors import SettingsError

Form = Literal["released", "paper"]
Rule = Literal["nearest", "first", "reference"]

ENVIRONMENT_PREFIX = "FIRSTSIGHT_"
NOT_SETTINGS = {"device", "by"}  # read from the environment by the command line: how to run, not what to make


def setting(default: Any, help: str, low: float | None = None, high: float | None = None) -> Any:
    """A setting as a field of its class; numbers have a range."""
    return field(default=default, metadata={"help": help, "low": low, "high": high})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What every method has, of whatever its features are made."""

    method: str = setting("firstsight", "which method learns; see `firstsight methods`")
    seed: int = setting(0, "seed of everything that is drawn", 0, 2**31 - 1)

    def __post_init__(self) -> None:
        for name, spec in specs_of(type(self)).items():
            value = getattr(self, name)
            if spec.kind is float and type(value) is int:
                value = float(value)
                object.__setattr__(self, name, value)
            spec.check(value)

    def changed(self, **changes: Any) -> Self:
        """A copy with some settings changed."""
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, kw_only=True)
class ImageSettings(Settings):
    """What looks at the images: all that a method has whose backbone stays as it is."""

    backbone: str = setting("dino-vitb16", "a shortcut (see `firstsight doctor`) or any timm model name")
    weights: str | None = setting(
        None, "local weights of that architecture: .safetensors, .pth or .pt, or an exported model"
    )
    image_size: int = setting(224, "side of the square crop in pixels; the resize before it is 8/7 of that", 16, 2048)
    prototypes: int = setting(
        10, "prototypes per known category, k; support images that stand for it where none are learned", 1, 1000
    )


@dataclass(frozen=True, kw_only=True)
class TrainingSettings(ImageSettings):
    """How a backbone's last blocks and what stands on them are trained."""

    train_stages: int = setting(1, "how many of the backbone's last blocks learn; 0 freezes it", 0, 99)
    epochs: int = setting(200, "passes over the support set", 1, 100_000)
    batch_size: int = setting(128, "images per step", 1, 65_536)
    lr_backbone: float = setting(1e-4, "learning rate of the backbone", 0, 10)
    lr: float = setting(1e-3, "learning rate of heads and prototypes", 0, 10)
    weight_decay_features: float = setting(1e-3, "weight decay of backbone and H_f", 0, 10)
    weight_decay: float = setting(0.05, "weight decay of H_h and prototypes", 0, 10)
    warmup_epochs: int = setting(5, "epochs of linear warm-up", 0, 100_000)
    schedule_lag: bool = setting(True, "the schedule lags one epoch behind, as in the released code")
    ema: float = setting(0.0, "decay of the averaged weights used for answering; 0 is off", 0, 0.999999)
    clip: float = setting(0.0, "clip the gradient to this norm; 0 is off", 0, 1e6)
    cache_trunk: int = setting(
        0, "store the frozen trunk's output for N views per image and train on it; 0 is off", 0, 1000
    )
    vary: bool = setting(False, "train on random parts of the crops in slightly other colours, as adaptation does")
    precision: Literal["auto", "fp32", "bf16"] = setting("auto", "auto is bf16 on CUDA and fp32 elsewhere")


@dataclass(frozen=True)
class Spec:
    """One setting: what it may be and how a text becomes one."""

    name: str
    kind: type  # the type of a value that is not None
    choices: tuple[Any, ...]
    optional: bool
    help: str
    low: float | None
    high: float | None
    default: Any

    @property
    def allowed(self) -> str:
        if self.choices:
            return "one of " + ", ".join(map(str, self.choices))
        if self.low is not None:
            return f"{_plain(self.low)} to {_plain(self.high)}"
        return {"str": "text", "bool": "true or false"}.get(self.kind.__name__, self.kind.__name__)

    def check(self, value: Any) -> None:
        if value is None and self.optional:
            return
        good = isinstance(value, self.kind) and (self.kind is bool or not isinstance(value, bool))
        good = good and (not self.choices or value in self.choices)
        if good and self.low is not None and self.high is not None:
            good = self.low <= value <= self.high  # also refuses NaN
        if not good:
            raise SettingsError(f"{self.name} is {value!r}; allowed: {self.allowed}", self.help)

    def parse(self, text: str, where: str) -> Any:
        """A value from text, as the environment gives it."""
        try:
            if self.kind is bool:
                return {"1": True, "true": True, "yes": True, "0": False, "false": False, "no": False}[text.lower()]
            return self.kind(text)
        except (KeyError, ValueError):
            raise SettingsError(f"{where} is {text!r}; allowed: {self.allowed}", self.help) from None


def specs_of(kind: type[Settings]) -> dict[str, Spec]:
    """Every setting of a class by name, those it shares with others first."""
    if kind not in _specs:
        _specs[kind] = _read(kind)
    return _specs[kind]


_specs: dict[type[Settings], dict[str, Spec]] = {}


def _read(kind: type[Settings]) -> dict[str, Spec]:
    hints = get_type_hints(kind)
    specs = {}
    for f in fields(kind):
        hint, optional = hints[f.name], False
        if get_origin(hint) is types.UnionType:
            hint, optional = get_args(hint)[0], True
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        kind_of_value = str if choices else hint
        specs[f.name] = Spec(f.name, kind_of_value, choices, optional, default=f.default, **f.metadata)
    return specs


def from_environment(specs: Mapping[str, Spec], environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """What FIRSTSIGHT_* variables say of these settings, and of the preset; SettingsError where one is neither."""
    values: dict[str, Any] = {}
    for key, text in environment.items():
        name = key.removeprefix(ENVIRONMENT_PREFIX).lower()
        if not key.startswith(ENVIRONMENT_PREFIX) or name in NOT_SETTINGS:
            continue
        if name not in specs and name != "preset":
            raise unknown_setting(key, name, specs)
        values[name] = specs[name].parse(text, key) if name in specs else text
    return values


def unknown_setting(shown: str, name: str, specs: Mapping[str, Spec]) -> SettingsError:
    """That there is none of this name, with the nearest there is."""
    near = get_close_matches(name, specs, n=1)
    return SettingsError(
        f"{shown} is no setting of Firstsight",
        f"did you mean {near[0]}?" if near else f"there are: {', '.join(specs)}",
    )


def from_file(path: Path) -> dict[str, Any]:
    """What a TOML file says."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: is not TOML: {error}") from None
    return {name.replace("-", "_"): value for name, value in values.items()}


def _plain(number: float | None) -> str:
    return f"{number:g}" if number is not None and abs(number) < 1e6 else f"{number:,.0f}"
