"""Every method by name. A new one is a file with its encoder's part, its decision and its settings, and a line here.

Listing them loads neither torch nor NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from firstsight.core.errors import SettingsError
from firstsight.core.settings import ImageSettings, Settings, TrainingSettings, specs_of
from firstsight.methods.firstsight.settings import FirstsightSettings
from firstsight.methods.phe.settings import (
    PAPER,
    CodeSettings,
    FixedSettings,
    HashSettings,
    PheSettings,
    PrototypeSettings,
)

if TYPE_CHECKING:
    from firstsight.core.decision import Decides, Decision
    from firstsight.encode.learner import Learner


@dataclass(frozen=True)
class Method:
    """A method: where it is, its settings, and how its features are decided.

    The implementation is a learner, which names its decision, or a decision of a backbone's features as they come.
    `changes` make it a variant: PHE, with settings. `bits` says which code lengths it has, if any. `paper` is the table
    and the row of the paper that it is.
    """

    name: str
    implementation: str  # module:class
    settings_type: type[Settings]
    decides: Decides
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    bits: Literal["any", "none", "powers of two"] = "any"
    paper: tuple[str, str] | None = None

    @property
    def on_the_fly(self) -> bool:
        return self.decides != "offline"

    @property
    def fitted_as(self) -> str:
        """The method of a model that this is a variant of; most are themselves."""
        return (
            next(each.name for each in _ALL if each.implementation == self.implementation)
            if self.changes
            else self.name
        )

    def lengths(self, bits: Sequence[int]) -> list[int | None]:
        """Those of these code lengths that it has; one None where they mean nothing to it."""
        if self.bits == "none":
            return [None]
        return [length for length in bits if self.bits == "any" or length & (length - 1) == 0]

    def has(self, setting: str) -> bool:
        """Whether a setting means something to it."""
        return setting in specs_of(self.settings_type)


HERE = "firstsight.methods"
BASELINES, LATER = f"{HERE}.baselines", f"{HERE}.later"  # what the paper compares with; what was published after it
PHE, HASH = f"{HERE}.phe.model:PHE", f"{BASELINES}.deep_hash"
MAIN, HASHES = "tab:method-comparison", "tab:results-hash"
LOSSES, STRATEGIES, FEATURES = "tab:ablation1", "tab:ablation2", "tab:feature-learning-methods"
EXACT: Decides = "exact code"
NEVER: Decides = "never discovers"
POSTERIOR: Decides = "posterior"

_ALL = (
    Method(
        "firstsight",
        f"{HERE}.firstsight.decision:Firstsight",
        FirstsightSettings,
        "posterior",
        "statistics of features, adapted where that pays",
        bits="none",
    ),
    Method(
        "firstsight-frozen",
        f"{HERE}.firstsight.decision:Firstsight",
        FirstsightSettings,
        "posterior",
        "the same, of a backbone as it came",
        {"adapt": "never"},
        bits="none",
    ),
    Method("phe", PHE, PheSettings, "ball", "Prototypical Hash Encoding", paper=(MAIN, "PHE")),
    Method(
        "phe-paper",
        PHE,
        PheSettings,
        "ball",
        "PHE to the letter; told how many categories come",
        PAPER,
        "any",
        (MAIN, "PHE"),
    ),
    Method(
        "smile",
        f"{BASELINES}.smile:Smile",
        HashSettings,
        EXACT,
        "sign and magnitude by SupCon",
        paper=(MAIN, "SMILE"),
    ),
    Method(
        "hash-baseline",
        f"{BASELINES}.smile:HashBaseline",
        HashSettings,
        EXACT,
        "SMILE's baseline: SupCon on hash features",
    ),
    Method("closed-set", f"{BASELINES}.classifier:ClosedSet", PheSettings, NEVER, "PHE, nearest known category"),
    Method(
        "closed-set-ce", f"{BASELINES}.classifier:Classifier", TrainingSettings, NEVER, "linear classifier", bits="none"
    ),
    Method(
        "ncm",
        f"{BASELINES}.leader:ClassMeans",
        ImageSettings,
        "distance",
        "nearest class mean, frozen features",
        bits="none",
    ),
    Method(
        "slc",
        f"{BASELINES}.slc:LeaderClustering",
        TrainingSettings,
        "distance",
        "sequential leader clustering",
        bits="none",
        paper=(MAIN, "SLC"),
    ),
    Method(
        "rankstat",
        f"{BASELINES}.indices:RankStat",
        CodeSettings,
        EXACT,
        "top 3 of 32 dimensions",
        bits="none",
        paper=(MAIN, "RankStat"),
    ),
    Method(
        "wta",
        f"{BASELINES}.indices:WinnerTakesAll",
        CodeSettings,
        EXACT,
        "winners of 3 groups of 16",
        bits="none",
        paper=(MAIN, "WTA"),
    ),
    Method("dpn", f"{HASH}:Dpn", PrototypeSettings, EXACT, "Deep Polarized Network", paper=(HASHES, "DPN")),
    Method(
        "orthohash",
        f"{HASH}:OrthoHash",
        PrototypeSettings,
        EXACT,
        "cosine with a margin to random codes",
        paper=(HASHES, "OrthoHash"),
    ),
    Method(
        "csq",
        f"{HASH}:Csq",
        PrototypeSettings,
        EXACT,
        "Central Similarity Quantization, Hadamard centres",
        bits="powers of two",
        paper=(HASHES, "CSQ"),
    ),
    Method(
        "csq-mc",
        f"{HASH}:CsqSeparated",
        PrototypeSettings,
        EXACT,
        "CSQ with handcrafted centres",
        paper=(HASHES, "CSQ-MC"),
    ),
    Method(
        "mdsh", f"{HASH}:Mdsh", PrototypeSettings, EXACT, "minimal-distance-separated centres", paper=(HASHES, "MDSH")
    ),
    Method(
        "mdsh-ball",
        f"{HASH}:MdshBall",
        PrototypeSettings,
        "ball",
        "MDSH decided by the Hamming ball",
        paper=(HASHES, "MDSH+Hamming Ball"),
    ),
    Method(
        "simgcd",
        f"{BASELINES}.simgcd:SimGcd",
        PheSettings,
        "ball",
        "SimGCD's prototypes as centres",
        paper=(FEATURES, "SimGCD"),
    ),
    Method(
        "simgcd-mc",
        f"{BASELINES}.simgcd:SimGcdFixed",
        FixedSettings,
        "ball",
        "SimGCD with handcrafted centres",
        paper=(FEATURES, "SimGCD-MC"),
    ),
    Method(
        "phe-fixed-h",
        f"{BASELINES}.fixed:FixedCentres",
        FixedSettings,
        "ball",
        "PHE with handcrafted centres",
        paper=(STRATEGIES, "Fixed-h"),
    ),
    Method(
        "linear-cls",
        f"{BASELINES}.fixed:LinearFeatures",
        FixedSettings,
        "ball",
        "that, on a linear classifier's features",
        paper=(STRATEGIES, "Linear Cls"),
    ),
    Method(
        "supcon-cls",
        f"{BASELINES}.fixed:ContrastiveFeatures",
        FixedSettings,
        "ball",
        "that, on SupCon's features",
        paper=(STRATEGIES, "Supcon Cls"),
    ),
    Method(
        "phe-no-lp",
        PHE,
        PheSettings,
        "ball",
        "PHE without L_p",
        {"gamma": 0.0, "prototype_start": "random"},
        paper=(LOSSES, "without L_p"),
    ),
    Method(
        "phe-no-lc",
        PHE,
        PheSettings,
        "ball",
        "PHE without L_c",
        {"alpha": 0.0},
        paper=(LOSSES, "without L_c"),
    ),
    Method(
        "phe-no-lf",
        PHE,
        PheSettings,
        "ball",
        "PHE without L_f",
        {"beta": 0.0},
        paper=(LOSSES, "without L_f"),
    ),
    Method(
        "dp-boa",
        f"{LATER}.dp_boa:DpBoa",
        TrainingSettings,
        POSTERIOR,
        "DP-BOA: Gaussians under a Dirichlet process",
        bits="none",
    ),
    Method(
        "age",
        f"{LATER}.age:Age",
        TrainingSettings,
        POSTERIOR,
        "AGE: Gaussians where a classifier is not sure",
        bits="none",
    ),
    Method(
        "talon",
        f"{LATER}.talon:Talon",
        TrainingSettings,
        "distance",
        "TALON: prototypes at rest, margin features",
        bits="none",
    ),
    Method(
        "talon-p",
        f"{LATER}.talon:TalonUpdated",
        TrainingSettings,
        "distance",
        "TALON: prototypes that move",
        bits="none",
    ),
    Method(
        "sync",
        f"{LATER}.sync:Sync",
        TrainingSettings,
        "distance",
        "SynC without text: a threshold per category",
        bits="none",
    ),
    Method(
        "online-clustering",
        f"{LATER}.online_clustering:OnlineClustering",
        TrainingSettings,
        "distance",
        "DiffGRE's leaders, without its images",
        bits="none",
    ),
    Method(
        "offline-kmeans",
        f"{BASELINES}.leader:ClassMeans",
        ImageSettings,
        "offline",
        "k-means of the whole stream, told the number",
        bits="none",
    ),
)
METHODS = {method.name: method for method in _ALL}


def method(name: str) -> Method:
    """A method by its name, or one of your own by where it is: package.module:Class."""
    if name in METHODS:
        return METHODS[name]
    if is_own(name):
        return _found(name)
    near = get_close_matches(name, METHODS, n=1)
    raise SettingsError(
        f"there is no method {name!r}", f"did you mean {near[0]}?" if near else f"there are: {', '.join(METHODS)}"
    )


def is_own(name: str) -> bool:
    """Whether a method is a module from elsewhere, whose code runs as soon as it is looked up."""
    return ":" in name and name not in METHODS


def parts_of(name: str) -> tuple[type[Learner], type[Decision]]:
    """The learner and the decision of a method; loads torch."""
    from firstsight.encode.learner import FrozenFeatures

    found = _load(name, *method(name).implementation.split(":", 1))
    return (found, found.decision) if hasattr(found, "decision") else (FrozenFeatures, found)


def decision_of(name: str) -> type[Decision]:
    """The decision of a method; loads torch only where the method trains."""
    found = _load(name, *method(name).implementation.split(":", 1))
    decision: type[Decision] = getattr(found, "decision", found)
    return decision


def _found(name: str) -> Method:
    """A method from elsewhere, described by its class."""
    found = _load(name, *name.split(":", 1))
    decision = getattr(found, "decision", found)
    bits: Literal["any", "none"] = "any" if "bits" in specs_of(found.settings_type) else "none"
    decides = decision.decides if decision.discovers else NEVER
    return Method(name, name, found.settings_type, decides, "a method from elsewhere", bits=bits)


def _load(name: str, module: str, attribute: str) -> type[Any]:
    try:
        found: type[Any] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(f"method {name!r} cannot be loaded: {error}") from None
    if not hasattr(found, "settings_type") or not (hasattr(found, "decision") or hasattr(found, "fit")):
        raise SettingsError(f"method {name!r} is neither a decision nor a learner that names its decision and settings")
    return found
