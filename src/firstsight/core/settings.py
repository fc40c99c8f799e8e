"""Every setting: its name, default, range and help, once; the command line, the environment and files read this.

Frozen, checked when made, saved beside every model. Where the paper and the authors' released code differ, the
setting has a value for each (docs/deviations.md). Nothing here imports torch.
"""

from __future__ import annotations

import os
import tomllib
import types
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from firstsight.core.bounds import MAX_BITS
from firstsight.core.errors import SettingsError

Form = Literal["released", "paper"]
Rule = Literal["nearest", "first", "reference"]

ENVIRONMENT_PREFIX = "FIRSTSIGHT_"
NOT_SETTINGS = {"device"}  # read from the environment by the command line: how to run, not what to make


def _setting(default: Any, help: str, low: float | None = None, high: float | None = None) -> Any:
    return field(default=default, metadata={"help": help, "low": low, "high": high})


@dataclass(frozen=True, kw_only=True)
class Settings:
    """How a model is built, trained and used. `Settings.preset("paper")` is the recipe as printed."""

    method: str = _setting("firstsight", "which method learns; see `firstsight methods`")

    # what looks at the images
    backbone: str = _setting("dino-vitb16", "a shortcut (see `firstsight doctor`) or any timm model name")
    weights: str | None = _setting(None, "local weights of that architecture: .safetensors, .pth or .pt")
    image_size: int = _setting(224, "side of the square crop in pixels; the resize before it is 8/7 of that", 16, 2048)
    train_stages: int = _setting(1, "how many of the backbone's last blocks learn; 0 freezes it", 0, 99)

    second_look: bool = _setting(
        True, "encode what stands out a second time, enlarged, at twice the time (firstsight with a CNN)"
    )

    # the paper's model
    bits: int = _setting(12, "length of a code, L", 1, MAX_BITS)
    prototypes: int = _setting(10, "prototypes per known category, k", 1, 1000)
    prototype_start: Literal["support", "random"] = _setting(
        "support", "prototypes start at features of support images, or at random in [0, 1) as released"
    )
    feature_dim: int = _setting(768, "output of the feature head H_f, and dimension of a prototype", 2, 8192)
    feature_head: Form = _setting("paper", "H_f: linear (paper) or linear + GELU (released)")
    hash_head: Form = _setting("released", "H_h: four linear layers (released) or three (paper)")
    hash_hidden: int = _setting(2048, "width of H_h's hidden layers", 1, 65_536)
    hash_norm: Literal["images", "shared"] = _setting(
        "images", "H_h's running statistics: from images only, or images and mean prototypes mixed as released"
    )
    similarity: Form = _setting("released", "Eq. 1 on unit vectors, distance not squared (released), or as printed")

    # the losses
    gamma: float = _setting(1.0, "weight of the prototype loss L_p in Eq. 10, where it has none", 0, 1e6)
    alpha: float = _setting(0.1, "weight of the centre loss L_c in Eq. 10", 0, 1e6)
    beta: float = _setting(3.0, "weight of the feature loss L_f in Eq. 10", 0, 1e6)
    feature_scale: float = _setting(1.0, "multiplies the cosines of L_f, Eq. 3, which has none", 1e-3, 1e3)
    tau: float = _setting(3.0, "sharpness of the smooth sign, Eq. 4", 1e-6, 1e6)
    theta: float = _setting(0.1, "share of prototype similarities masked in training, Eq. 2", 0, 0.99)
    separation: Form = _setting(
        "released", "L_sep: mean over centres with 0.95 L (released) or plain double sum (paper)"
    )
    quantisation: Form = _setting("released", "L_q: mean over all bits (released) or sum (paper)")

    # how far apart categories are
    distance_rule: Literal["released", "eq7"] = _setting(
        "released", "d_max by single binomials, or by Eq. 7 as printed"
    )
    expected_categories: int | None = _setting(
        None, "how many categories d_max must leave room for; twice the known ones if not given", 2, 1_000_000
    )
    ball: Literal["touching", "disjoint"] = _setting("touching", "radius floor(d_max/2), or floor((d_max-1)/2)")
    rule: Rule = _setting("nearest", "which category within the radius answers; `reference` is the released behaviour")
    centres: Literal["final", "last-batch"] = _setting(
        "final", "centres recomputed once after training in fp32, or those of the last batch as released"
    )

    # training
    epochs: int = _setting(200, "passes over the support set", 1, 100_000)
    batch_size: int = _setting(128, "images per step", 1, 65_536)
    lr_backbone: float = _setting(1e-4, "learning rate of the backbone", 0, 10)
    lr: float = _setting(1e-3, "learning rate of heads and prototypes", 0, 10)
    weight_decay_features: float = _setting(1e-3, "weight decay of backbone and H_f", 0, 10)
    weight_decay: float = _setting(0.05, "weight decay of H_h and prototypes", 0, 10)
    warmup_epochs: int = _setting(5, "epochs of linear warm-up", 0, 100_000)
    schedule_lag: bool = _setting(True, "the schedule lags one epoch behind, as in the released code")
    ema: float = _setting(0.0, "decay of the averaged weights used for answering; 0 is off", 0, 0.999999)
    clip: float = _setting(0.0, "clip the gradient to this norm; 0 is off", 0, 1e6)
    cache_trunk: int = _setting(
        0, "store the frozen trunk's output for N views per image and train on it; 0 is off", 0, 1000
    )
    precision: Literal["auto", "fp32", "bf16"] = _setting("auto", "auto is bf16 on CUDA and fp32 elsewhere")
    seed: int = _setting(0, "seed of weights, order, crops and masks", 0, 2**31 - 1)

    def __post_init__(self) -> None:
        for name, spec in SPECS.items():
            value = getattr(self, name)
            if spec.kind is float and type(value) is int:
                value = float(value)
                object.__setattr__(self, name, value)
            spec.check(value)

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Settings:
        """A preset with changes on top."""
        if not isinstance(name, str) or name not in PRESETS:
            raise SettingsError(f"no preset is called {name!r}", f"there are: {', '.join(PRESETS)}")
        if name == "paper" and changes.get("expected_categories") is None:
            raise SettingsError(
                "the paper preset computes d_max for the number of categories in the query stream, as the paper does",
                "give that number with --expected-categories, or use --preset default, which needs none",
            )
        return cls.of({**PRESETS[name], **changes})

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Settings:
        """Settings from names and values; an unknown name is refused with the nearest known one."""
        for name in values:
            _spec(name, "setting")
        return cls(**values)

    def changed(self, **changes: Any) -> Settings:
        """A copy with some settings changed."""
        return replace(self, **changes)

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


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


def _specs() -> dict[str, Spec]:
    hints = get_type_hints(Settings)
    specs = {}
    for f in fields(Settings):
        hint, optional = hints[f.name], False
        if get_origin(hint) is types.UnionType:
            hint, optional = get_args(hint)[0], True
        choices = get_args(hint) if get_origin(hint) is Literal else ()
        kind = str if choices else hint
        specs[f.name] = Spec(f.name, kind, choices, optional, default=f.default, **f.metadata)
    return specs


SPECS = _specs()

# The literal recipe: what the text, the equations and the algorithms say, where they say it (docs/deviations.md).
PRESETS: dict[str, dict[str, Any]] = {
    "default": {},
    "paper": {
        "method": "phe",
        "feature_head": "paper",
        "prototype_start": "random",
        "hash_head": "paper",
        "similarity": "paper",
        "separation": "paper",
        "quantisation": "paper",
        "weight_decay_features": 0.05,
        "schedule_lag": False,
        "ema": 0.999,
        "rule": "first",
    },
}


def resolve(
    flags: Mapping[str, Any],
    preset: str | None = None,
    config_file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    trust: bool = False,
) -> Settings:
    """The settings in force: flag over FIRSTSIGHT_* over file over preset over default. None means not given.

    A method that is a module from elsewhere runs, so a file may name one only with `trust`.
    """
    typed = from_environment(environment) | {name: value for name, value in flags.items() if value is not None}
    values = (_read_toml(config_file) if config_file is not None else {}) | typed
    method = values.get("method")
    if isinstance(method, str) and ":" in method and "method" not in typed and not trust:
        raise SettingsError(
            f"{config_file}: its method is {method!r}, a module from elsewhere, which fitting would run",
            "if you know that module, say so with --trust, or name it yourself with --method",
        )
    chosen = values.pop("preset", "default")
    return Settings.preset(preset or chosen, **values)


def from_environment(environment: Mapping[str, str] = os.environ) -> dict[str, Any]:
    """Settings, and a `preset`, from FIRSTSIGHT_* variables; one that is no setting is refused."""
    values: dict[str, Any] = {}
    for key, text in environment.items():
        name = key.removeprefix(ENVIRONMENT_PREFIX).lower()
        if key.startswith(ENVIRONMENT_PREFIX) and name not in NOT_SETTINGS:
            parsed = text if name == "preset" else _spec(name, "environment variable", key).parse(text, key)
            values[name] = parsed
    return values


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"{path}: is not TOML: {error}") from None
    return {name.replace("-", "_"): value for name, value in values.items()}


def _spec(name: str, what: str, shown: str | None = None) -> Spec:
    if name not in SPECS:
        near = get_close_matches(name, SPECS, n=1)
        raise SettingsError(
            f"{shown or name} is no {what} of Firstsight",
            f"did you mean {near[0]}?" if near else f"there are: {', '.join(SPECS)}",
        )
    return SPECS[name]


def _plain(number: float | None) -> str:
    return f"{number:g}" if number is not None and abs(number) < 1e6 else f"{number:,.0f}"
