"""Firstsight: for every image the moment it arrives, a known category, one discovered earlier, or a new one.

The names below are loaded when first used, so that importing costs nothing.
"""

from __future__ import annotations

import logging
import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from firstsight._version import __version__

if TYPE_CHECKING:
    from firstsight.client.client import Client
    from firstsight.core.assignments import Assignment, Candidate
    from firstsight.core.errors import FirstsightError
    from firstsight.core.settings import Settings
    from firstsight.discoverer import Discoverer
    from firstsight.estimator import CategoryDiscoverer
    from firstsight.evidence.evidence import Evidence
    from firstsight.evidence.explain import explain
    from firstsight.methods.settings import settings
    from firstsight.model.folder import load_model as load
    from firstsight.model.model import Model
    from firstsight.register.codes import CodeRegister
    from firstsight.store.store import Store
    from firstsight.train.features import fit_features
    from firstsight.train.fitting import fit

# Before torch is loaded: its threads sleep while they wait for each other. Awake, they take the cores from those that
# have work, and from every other process.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# A library says nothing unless asked to: whoever wants to hear gives this logger a handler.
logging.getLogger(__name__).addHandler(logging.NullHandler())

_HOMES = {
    "Assignment": "core.assignments",
    "Candidate": "core.assignments",
    "CategoryDiscoverer": "estimator",
    "Client": "client.client",
    "CodeRegister": "register.codes",
    "Discoverer": "discoverer",
    "Evidence": "evidence.evidence",
    "FirstsightError": "core.errors",
    "Model": "model.model",
    "Settings": "core.settings",
    "Store": "store.store",
    "explain": "evidence.explain",
    "fit": "train.fitting",
    "load": "model.folder:load_model",
    "settings": "methods.settings",
    "fit_features": "train.features",
}

__all__ = [
    "Assignment",
    "Candidate",
    "CategoryDiscoverer",
    "Client",
    "CodeRegister",
    "Discoverer",
    "Evidence",
    "FirstsightError",
    "Model",
    "Settings",
    "Store",
    "__version__",
    "explain",
    "fit",
    "fit_features",
    "load",
    "settings",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'firstsight' has no attribute {name!r}")
    module, _, attribute = _HOMES[name].partition(":")
    return getattr(import_module(f"firstsight.{module}"), attribute or name)


def __dir__() -> list[str]:
    return __all__
