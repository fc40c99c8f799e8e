"""Every method by name. A new one is a file with its network and a line here; listing them loads no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from typing import TYPE_CHECKING, Any, Literal

from firstsight.config import PRESETS, Settings
from firstsight.errors import SettingsError

if TYPE_CHECKING:
    from firstsight.networks import Network

Decides = Literal["ball", "exact code", "distance", "never discovers", "offline"]


@dataclass(frozen=True)
class Method:
    """A method: where its network is, how its rows are decided, and the settings it starts from.

    `bits` is False where code lengths mean nothing to it. `paper` says which row of which of the paper's tables it is.
    """

    name: str
    network: str  # module:class
    decides: Decides
    about: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    bits: bool = True
    paper: tuple[str, str] | None = None

    @property
    def on_the_fly(self) -> bool:
        return self.decides != "offline"

    def settings(self, **changes: Any) -> Settings:
        """Its settings with changes on top."""
        return Settings.of({"method": self.name, **self.changes, **changes})


MAIN = "tab:method-comparison"
METHODS = {
    method.name: method
    for method in (
        Method("phe", "firstsight.phe.model:PHE", "ball", "Prototypical Hash Encoding", paper=(MAIN, "PHE")),
        Method(
            "phe-paper",
            "firstsight.phe.model:PHE",
            "ball",
            "PHE to the letter of the paper; told how many categories come",
            PRESETS["paper"],
            paper=(MAIN, "PHE"),
        ),
        Method(
            "closed-set", "firstsight.methods.classifier:ClosedSet", "never discovers", "PHE, known categories only"
        ),
        Method(
            "closed-set-ce",
            "firstsight.methods.classifier:Classifier",
            "never discovers",
            "linear classifier, cross-entropy",
            bits=False,
        ),
        Method(
            "offline-kmeans",
            "firstsight.methods.leader:ClassMeans",
            "offline",
            "k-means over the whole stream, told the number of categories; frozen features",
            bits=False,
        ),
    )
}


def method(name: str) -> Method:
    """A method by its name, or one of your own by where its network is: package.module:Class."""
    if name in METHODS:
        return METHODS[name]
    if ":" in name:
        return Method(name, name, "ball", "a network from elsewhere")
    near = get_close_matches(name, METHODS, n=1)
    raise SettingsError(
        f"there is no method {name!r}", f"did you mean {near[0]}?" if near else f"there are: {', '.join(METHODS)}"
    )


def network_of(name: str) -> type[Network]:
    """The class of a method's network."""
    module, _, attribute = method(name).network.partition(":")
    try:
        found: type[Network] = getattr(import_module(module), attribute)
    except (ImportError, AttributeError) as error:
        raise SettingsError(f"method {name!r} cannot be loaded: {error}") from None
    return found
