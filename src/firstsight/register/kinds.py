"""Every kind of register there is, by the name a file gives it; and where to add one.

A kind of your own is a class with a `kind` and a way back from its header, `of`. Say so where it is defined:

    @register_kind
    class MyRegister(LearningRegister): ...

A kind may also be called after where it is defined, `module:Class`. A file that names one is opened only by whoever
trusts that module, since opening it runs the module.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any, TypeVar

from firstsight.core.errors import Incompatible, SettingsError
from firstsight.core.protocols import Register

Kind = TypeVar("Kind", bound=type[Any])

KINDS: dict[str, str | type[Any]] = {  # a class, or where it is
    "codes": "firstsight.register.codes:CodeRegister",
    "features": "firstsight.register.features:FeatureRegister",
    "statistics": "firstsight.register.statistics:StatisticsRegister",
    "niw": "firstsight.register.niw:NiwRegister",
    "marks": "firstsight.register.prototypes:PrototypeRegister",
    "gated": "firstsight.register.prototypes:GatedRegister",
    "leaders": "firstsight.register.prototypes:LeaderRegister",
    "windows": "firstsight.register.windows:WindowRegister",
}


def register_kind(kind: Kind) -> Kind:
    """Make a class of registers known by its `kind`; as a decorator."""
    missing = [name for name in ("kind", "of") if not hasattr(kind, name)]
    if missing:
        raise SettingsError(f"{kind.__name__} has no {' and no '.join(missing)}", "a kind has both")
    held = KINDS.setdefault(kind.kind, kind)
    if held is not kind and held != f"{kind.__module__}:{kind.__qualname__}":
        raise SettingsError(f"there is a kind of register called {kind.kind!r} already", "choose another name")
    return kind


def of_header(header: Mapping[str, Any], trust: bool = False) -> Register:
    """The register a header describes, holding its known categories."""
    register: Register = _kind(header["kind"], trust).of(header)
    return register


def _kind(name: str, trust: bool) -> type[Any]:
    found = KINDS.get(name)
    if found is None and ":" in name:
        if not trust:
            raise Incompatible(
                f"its register is of kind {name}: to use it is to run that module",
                "if you know that module, say so: trust=True",
                hint="trust",
            )
        found = name
    if found is None:
        raise Incompatible(
            f"its register is of kind {name!r}; there are {', '.join(KINDS)}",
            "upgrade Firstsight, or import the module that makes this kind known first",
        )
    if isinstance(found, str):
        found = _loaded(found)
    return found


def _loaded(where: str) -> type[Any]:
    module, _, name = where.partition(":")
    try:
        kind: type[Any] = getattr(import_module(module), name)
    except (ImportError, AttributeError) as error:
        raise Incompatible(f"its register is of kind {where}, which is not there: {error}", "install it") from None
    return kind
