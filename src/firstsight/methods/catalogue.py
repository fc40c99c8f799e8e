"""Every method by name. A new one is a file with its network and a line here; listing them loads no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from firstsight.core.errors import SettingsError
from firstsight.core.settings import PRESETS, Settings

if TYPE_CHECKING:
    from firstsight.methods.networks import Network

Decides: TypeAlias = Literal["ball", "exact code", "distance", "posterior", "never discovers", "offline"]


@dataclass(frozen=True)
class Method:
    """A method: where its network is and how its rows are decided.

    `changes` make it a variant: PHE, with settings. `bits` says which code lengths it has, if any. `paper` is the table
    and the row of the paper that it is.
    """

    name: str
    network: str  # module:class
    decides: Decides
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    bits: Literal["any", "none", "powers of two"] = "any"
    paper: tuple[str, str] | None = None

    @property
    def on_the_fly(self) -> bool:
        return self.decides != "offline"

    def lengths(self, bits: Sequence[int]) -> list[int | None]:
        """Those of these code lengths that it has; one None where they mean nothing to it."""
        if self.bits == "none":
            return [None]
        return [length for length in bits if self.bits == "any" or length & (length - 1) == 0]

    def settings(self, **changes: Any) -> Settings:
        """Its settings with changes on top."""
        return Settings.of({"method": "phe" if self.changes else self.name, **self.changes, **changes})


MAIN, HASHES = "tab:method-comparison", "tab:results-hash"
LOSSES, STRATEGIES, FEATURES = "tab:ablation1", "tab:ablation2", "tab:feature-learning-methods"
BASELINES = "firstsight.methods.baselines"
PHE, HASH = "firstsight.methods.phe.model:PHE", f"{BASELINES}.deep_hash"
EXACT: Decides = "exact code"
NEVER: Decides = "never discovers"
POSTERIOR: Decides = "posterior"
LATER = "firstsight.methods.later"  # rules published after the paper

_ALL = (
    Method(
        "firstsight",
        "firstsight.methods.firstsight.method:Firstsight",
        "posterior",
        "statistics of frozen features",
        bits="none",
    ),
    Method("phe", PHE, "ball", "Prototypical Hash Encoding", paper=(MAIN, "PHE")),
    Method(
        "phe-paper",
        PHE,
        "ball",
        "PHE to the letter; told how many categories come",
        PRESETS["paper"],
        "any",
        (MAIN, "PHE"),
    ),
    Method(
        "smile",
        f"{BASELINES}.smile:Smile",
        EXACT,
        "sign and magnitude by SupCon",
        paper=(MAIN, "SMILE"),
    ),
    Method(
        "hash-baseline",
        f"{BASELINES}.smile:HashBaseline",
        EXACT,
        "SMILE's baseline: SupCon on hash features",
    ),
    Method("closed-set", f"{BASELINES}.classifier:ClosedSet", NEVER, "PHE, nearest known category"),
    Method("closed-set-ce", f"{BASELINES}.classifier:Classifier", NEVER, "linear classifier", bits="none"),
    Method(
        "ncm",
        f"{BASELINES}.leader:ClassMeans",
        "distance",
        "nearest class mean, frozen features",
        bits="none",
    ),
    Method(
        "slc",
        f"{BASELINES}.leader:LeaderClustering",
        "distance",
        "sequential leader clustering",
        bits="none",
        paper=(MAIN, "SLC"),
    ),
    Method(
        "rankstat",
        f"{BASELINES}.indices:RankStat",
        EXACT,
        "top 3 of 32 dimensions",
        bits="none",
        paper=(MAIN, "RankStat"),
    ),
    Method(
        "wta",
        f"{BASELINES}.indices:WinnerTakesAll",
        EXACT,
        "winners of 3 groups of 16",
        bits="none",
        paper=(MAIN, "WTA"),
    ),
    Method("dpn", f"{HASH}:Dpn", EXACT, "Deep Polarized Network", paper=(HASHES, "DPN")),
    Method(
        "orthohash", f"{HASH}:OrthoHash", EXACT, "cosine with a margin to random codes", paper=(HASHES, "OrthoHash")
    ),
    Method(
        "csq",
        f"{HASH}:Csq",
        EXACT,
        "Central Similarity Quantization, Hadamard centres",
        bits="powers of two",
        paper=(HASHES, "CSQ"),
    ),
    Method("csq-mc", f"{HASH}:CsqSeparated", EXACT, "CSQ with handcrafted centres", paper=(HASHES, "CSQ-MC")),
    Method("mdsh", f"{HASH}:Mdsh", EXACT, "minimal-distance-separated centres", paper=(HASHES, "MDSH")),
    Method(
        "mdsh-ball", f"{HASH}:MdshBall", "ball", "MDSH decided by the Hamming ball", paper=(HASHES, "MDSH+Hamming Ball")
    ),
    Method(
        "simgcd",
        f"{BASELINES}.simgcd:SimGcd",
        "ball",
        "SimGCD's prototypes as centres",
        paper=(FEATURES, "SimGCD"),
    ),
    Method(
        "simgcd-mc",
        f"{BASELINES}.simgcd:SimGcdFixed",
        "ball",
        "SimGCD with handcrafted centres",
        paper=(FEATURES, "SimGCD-MC"),
    ),
    Method(
        "phe-fixed-h",
        f"{BASELINES}.fixed:FixedCentres",
        "ball",
        "PHE with handcrafted centres",
        paper=(STRATEGIES, "Fixed-h"),
    ),
    Method(
        "linear-cls",
        f"{BASELINES}.fixed:LinearFeatures",
        "ball",
        "that, on a linear classifier's features",
        paper=(STRATEGIES, "Linear Cls"),
    ),
    Method(
        "supcon-cls",
        f"{BASELINES}.fixed:ContrastiveFeatures",
        "ball",
        "that, on SupCon's features",
        paper=(STRATEGIES, "Supcon Cls"),
    ),
    Method(
        "phe-no-lp",
        PHE,
        "ball",
        "PHE without L_p",
        {"gamma": 0.0, "prototype_start": "random"},
        paper=(LOSSES, "without L_p"),
    ),
    Method("phe-no-lc", PHE, "ball", "PHE without L_c", {"alpha": 0.0}, paper=(LOSSES, "without L_c")),
    Method("phe-no-lf", PHE, "ball", "PHE without L_f", {"beta": 0.0}, paper=(LOSSES, "without L_f")),
    Method("dp-boa", f"{LATER}.dp_boa:DpBoa", POSTERIOR, "DP-BOA: Gaussians under a Dirichlet process", bits="none"),
    Method("age", f"{LATER}.age:Age", POSTERIOR, "AGE: Gaussians where a classifier is not sure", bits="none"),
    Method("talon", f"{LATER}.talon:Talon", "distance", "TALON: prototypes at rest, margin features", bits="none"),
    Method("talon-p", f"{LATER}.talon:TalonUpdated", "distance", "TALON: prototypes that move", bits="none"),
    Method("sync", f"{LATER}.sync:Sync", "distance", "SynC without text: a threshold per category", bits="none"),
    Method(
        "online-clustering",
        f"{LATER}.online_clustering:OnlineClustering",
        "distance",
        "DiffGRE's leaders, without its images",
        bits="none",
    ),
    Method(
        "offline-kmeans",
        f"{BASELINES}.leader:ClassMeans",
        "offline",
        "k-means of the whole stream, told the number",
        bits="none",
    ),
)
METHODS = {method.name: method for method in _ALL}


def method(name: str) -> Method:
    """A method by its name, or one of your own by where its network is: package.module:Class."""
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


def named(settings: Settings) -> Settings:
    """What `fit` trains when a variant is asked for by name: PHE with its settings. Others stay as they are."""
    found = method(settings.method)
    if not found.on_the_fly:
        raise SettingsError(f"{found.name} answers no stream, so there is nothing to fit", "benchmark has its figures")
    if not found.changes:
        return settings
    if found.changes == PRESETS["paper"]:
        return Settings.preset("paper", **{**settings.as_dict(), **found.changes, "method": "phe"})
    return settings.changed(method="phe", **found.changes)


def network_of(name: str) -> type[Network]:
    """The class of a method's network."""
    module, _, attribute = method(name).network.partition(":")
    return _load(name, module, attribute)


def _found(name: str) -> Method:
    """A network from elsewhere, described by its class."""
    from firstsight.methods.networks import HashNetwork

    network = _load(name, *name.split(":", 1))
    decides: Decides = "distance"
    if issubclass(network, HashNetwork):
        decides = "ball" if network.ball else EXACT
    bits: Literal["any", "none"] = "none" if decides == "distance" else "any"
    return Method(name, name, decides if network.discovers else NEVER, "a network from elsewhere", bits=bits)


def _load(name: str, module: str, attribute: str) -> type[Network]:
    try:
        network: type[Network] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise SettingsError(f"method {name!r} cannot be loaded: {error}") from None
    return network
