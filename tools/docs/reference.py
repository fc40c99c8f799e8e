"""What the docs say of the code: commands with their options, and methods."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import typer

from firstsight.cli.main import app
from firstsight.cli.methods import HEADER, cells
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


def methods() -> str:
    return table(HEADER, [[f"`{name}`", *cells(method)[1:]] for name, method in METHODS.items()])


def table(header: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table in Markdown."""
    lines = [f"| {' | '.join(header)} |", "|" + "---|" * len(header)]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])
