"""What the reference says of the code: commands with their options, settings, methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill
from typing import Any

import typer

from firstsight.cli.main import app
from firstsight.cli.methods import HEADER, cells
from firstsight.core.settings import Settings, Spec, specs_of
from firstsight.methods.catalogue import METHODS
from firstsight.methods.settings import all_specs

COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]
TAKE_SETTINGS = ("fit", "benchmark", "reproduce")


def all_commands() -> list[tuple[str, Any]]:
    """Every command by its full name, those inside groups included."""
    inner = [
        (f"{name} {sub}", c) for name, group in COMMANDS.items() for sub, c in getattr(group, "commands", {}).items()
    ]
    return [*COMMANDS.items(), *inner]


def options() -> str:
    """Every option that is not a setting."""
    rows = []
    for name, command in all_commands():
        for parameter in command.params:
            a_setting = name in TAKE_SETTINGS and parameter.name in all_specs()
            if parameter.param_type_name == "option" and not a_setting and "--help" not in parameter.opts:
                rows.append([f"`{name}`", f"`{', '.join(parameter.opts)}`", parameter.help])
    return table(["command", "option", "what it does"], rows)


def settings() -> str:
    """A table for every class of settings: what it adds to those it is made of, and which methods have that."""
    made_of = [reversed(each.settings_type.mro()) for each in METHODS.values()]
    kinds = dict.fromkeys(kind for kinds in made_of for kind in kinds if issubclass(kind, Settings))
    meaning = "A method has the settings of the tables that name it. Any other is refused, wherever it comes from."
    return "\n\n".join([meaning, *map(settings_table, kinds)])


def settings_table(kind: type[Settings]) -> str:
    base = kind.mro()[1]
    shared = specs_of(base) if issubclass(base, Settings) else {}
    added = [spec for name, spec in specs_of(kind).items() if spec != shared.get(name)]
    rows = [[f"`{s.name}`", default_of(s), s.allowed, s.help] for s in added]
    title = fill(f"**{kind.__name__}.** {kind.__doc__} Methods: {methods_with(kind)}.", 118, break_on_hyphens=False)
    return f"{title}\n\n{table(['setting', 'default', 'allowed', 'what it is'], rows)}"


def methods_with(kind: type[Settings]) -> str:
    """By name, or where nearly all have these settings, those that do not."""
    having = [f"`{name}`" for name, each in METHODS.items() if issubclass(each.settings_type, kind)]
    lacking = [f"`{name}`" for name, each in METHODS.items() if not issubclass(each.settings_type, kind)]
    if not lacking:
        return "all"
    return f"all but {', '.join(lacking)}" if len(lacking) <= 3 else ", ".join(having)


def default_of(spec: Spec) -> str:
    if spec.default is None:
        return "not given"
    return str(spec.default).lower() if spec.kind is bool else str(spec.default)


def methods() -> str:
    return table(HEADER, [[f"`{name}`", *cells(method)[1:]] for name, method in METHODS.items()])


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])
