"""What the reference says of settings: a table for every class of them, with the methods that have it."""

from __future__ import annotations

from textwrap import fill

from firstsight.core.settings import Settings, Spec, specs_of
from firstsight.methods.catalogue import METHODS
from tools.docs.reference import table

MEANING = "A method has the settings of the tables that name it. Any other is refused, wherever it comes from."


def settings() -> str:
    """What each class adds to those it is made of."""
    made_of = [reversed(each.settings_type.mro()) for each in METHODS.values()]
    kinds = dict.fromkeys(kind for kinds in made_of for kind in kinds if issubclass(kind, Settings))
    return "\n\n".join([MEANING, *map(_added_by, kinds)])


def _added_by(kind: type[Settings]) -> str:
    base = kind.mro()[1]
    shared = specs_of(base) if issubclass(base, Settings) else {}
    added = [spec for name, spec in specs_of(kind).items() if spec != shared.get(name)]
    title = fill(f"**{kind.__name__}.** {kind.__doc__} Methods: {_methods_with(kind)}.", 118, break_on_hyphens=False)
    rows = [[f"`{each.name}`", _default_of(each), each.allowed, each.help] for each in added]
    return f"{title}\n\n{table(['setting', 'default', 'allowed', 'what it is'], rows)}"


def _methods_with(kind: type[Settings]) -> str:
    """By name, or where nearly all have these settings, those that do not."""
    having = [f"`{name}`" for name, each in METHODS.items() if issubclass(each.settings_type, kind)]
    lacking = [f"`{name}`" for name, each in METHODS.items() if not issubclass(each.settings_type, kind)]
    if not lacking:
        return "all"
    return f"all but {', '.join(lacking)}" if len(lacking) <= 3 else ", ".join(having)


def _default_of(spec: Spec) -> str:
    if spec.default is None:
        return "not given"
    return str(spec.default).lower() if spec.kind is bool else str(spec.default)
