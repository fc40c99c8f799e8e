"""The settings of PHE, and of the methods that share its codes.

Where the paper and the authors' released code differ, a setting has a value for each (docs/deviations.md).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from firstsight.core.bounds import MAX_BITS, Ball, DistanceRule
from firstsight.core.settings import Form, Rule, TrainingSettings, setting


@dataclass(frozen=True, kw_only=True)
class CodeSettings(TrainingSettings):
    """What every method of codes has."""

    hash_hidden: int = setting(2048, "width of H_h's hidden layers", 1, 65_536)
    rule: Rule = setting("nearest", "which category within the radius answers; `reference` is the released behaviour")


@dataclass(frozen=True, kw_only=True)
class HashSettings(CodeSettings):
    """Codes whose length can be chosen."""

    bits: int = setting(12, "length of a code, L", 1, MAX_BITS)


@dataclass(frozen=True, kw_only=True)
class PrototypeSettings(HashSettings):
    """The paper's model without the losses of its centres."""

    prototype_start: Literal["support", "random"] = setting(
        "support", "prototypes start at features of support images, or at random in [0, 1) as released"
    )
    feature_dim: int = setting(768, "output of the feature head H_f, and dimension of a prototype", 2, 8192)
    feature_head: Form = setting("paper", "H_f: linear (paper) or linear + GELU (released)")
    hash_head: Form = setting("released", "H_h: four linear layers (released) or three (paper)")
    hash_norm: Literal["images", "shared"] = setting(
        "images", "H_h's running statistics: from images only, or images and mean prototypes mixed as released"
    )
    similarity: Form = setting("released", "Eq. 1 on unit vectors, distance not squared (released), or as printed")
    gamma: float = setting(1.0, "weight of the prototype loss L_p in Eq. 10, where it has none", 0, 1e6)
    theta: float = setting(0.1, "share of prototype similarities masked in training, Eq. 2", 0, 0.99)
    distance_rule: DistanceRule = setting("released", "d_max by single binomials, or by Eq. 7 as printed")
    expected_categories: int | None = setting(
        None, "how many categories d_max must leave room for; twice the known ones if not given", 2, 1_000_000
    )
    ball: Ball = setting("touching", "radius floor(d_max/2), or floor((d_max-1)/2)")


@dataclass(frozen=True, kw_only=True)
class FixedSettings(PrototypeSettings):
    """Images are drawn to codes that are given."""

    beta: float = setting(3.0, "weight of the feature loss L_f in Eq. 10", 0, 1e6)
    feature_scale: float = setting(1.0, "multiplies the cosines of L_f, Eq. 3, which has none", 1e-3, 1e3)


@dataclass(frozen=True, kw_only=True)
class PheSettings(FixedSettings):
    """The paper's model with all its losses."""

    alpha: float = setting(0.1, "weight of the centre loss L_c in Eq. 10", 0, 1e6)
    tau: float = setting(3.0, "sharpness of the smooth sign, Eq. 4", 1e-6, 1e6)
    separation: Form = setting("released", "L_sep: mean over centres with 0.95 L (released) or double sum (paper)")
    quantisation: Form = setting("released", "L_q: mean over all bits (released) or sum (paper)")
    centres: Literal["final", "last-batch"] = setting(
        "final", "centres recomputed once after training in fp32, or those of the last batch as released"
    )
    repair: bool = setting(True, "train on where a tenth of the support images end nearer to another centre")


# The literal recipe: what the text, the equations and the algorithms say, where they say it (docs/deviations.md).
PAPER: dict[str, Any] = {
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
    "repair": False,
}
