"""Settings as command-line options, made from their one description beside each method.

A command takes every setting there is and refuses those that mean nothing to the method. Its help shows the settings
of the method that is named, or of the default one.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperOption

from firstsight.cli import completion
from firstsight.cli.console import a_number
from firstsight.core.errors import SettingsError
from firstsight.core.settings import ENVIRONMENT_PREFIX, Rule, Spec, from_environment, specs_of
from firstsight.methods.catalogue import is_own, method
from firstsight.methods.settings import DEFAULT, all_specs

ModelName = Annotated[
    Path,
    typer.Argument(
        help="A model folder made by fit, or OWNER/NAME on the hub.", metavar="MODEL", autocompletion=completion.models
    ),
]
Radius = Annotated[
    float | None,
    typer.Option(
        "--radius",
        help="How far a category reaches: in bits, or as a distance; for firstsight below 0 splits, above 0 merges.",
    ),
]
Below = Annotated[float, typer.Option(help="Answers less probable than this.", min=0, max=1, callback=a_number)]
Trust = Annotated[
    bool, typer.Option("--trust", help="Run the module from elsewhere that a file names as its method, module:Class.")
]
MatchRule = Annotated[
    str | None, typer.Option("--rule", help="nearest, first or reference; the model's own if not given.")
]
Label = Annotated[
    str | None,
    typer.Option(
        "--label", help="The column of a table of features that says the category, or an array of .npz.", metavar="NAME"
    ),
]


OF_RUNS = ("method", "bits", "seed")  # what runs of one command differ in: it has options of its own for that


def check_rule(rule: str | None) -> Rule | None:
    """A rule as typed, if it is one."""
    if rule is not None:
        all_specs()["rule"].check(rule)
    return cast("Rule | None", rule)


def with_settings(*leave_out: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add an option for every setting but some; the command gets those that were given as `given`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for name, parameter in signature.parameters.items() if name != "given"]
        names = [name for name in all_specs() if name not in leave_out]

        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in names}
            command(**values, given={name: value for name, value in given.items() if value is not None})

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        parameters = own + [_parameter(all_specs()[name]) for name in names]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def for_all_runs(given: dict[str, Any]) -> dict[str, Any]:
    """The settings that all runs of a command have: as given, else as the environment says."""
    environment = from_environment(all_specs())
    return {name: value for name, value in environment.items() if name not in (*OF_RUNS, "preset")} | given


class SettingsCommand(TyperCommand):
    """A command whose help shows the settings of the methods that its arguments name."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        shown = _specs_of(_named(args))
        for parameter in self.params:
            if isinstance(parameter, TyperOption) and parameter.name in all_specs():
                parameter.hidden = parameter.name not in shown
                if parameter.name in shown:
                    parameter.help = _help(shown[parameter.name])
        return super().parse_args(ctx, args)


def _named(args: Sequence[str]) -> list[str]:
    """The methods in arguments that are not parsed yet, of --method or --methods."""
    for i, each in enumerate(args):
        flag, _, value = each.partition("=")
        if flag in ("--method", "--methods"):
            return (value or "".join(args[i + 1 : i + 2])).split(",")
    return [os.environ.get(f"{ENVIRONMENT_PREFIX}METHOD", DEFAULT)]


def _specs_of(names: Sequence[str]) -> dict[str, Spec]:
    """The settings of methods; a module from elsewhere is not loaded for its help, and shows all there are."""
    specs: dict[str, Spec] = {}
    for name in names:
        try:
            specs |= all_specs() if is_own(name) else specs_of(method(name.strip()).settings_type)
        except SettingsError:  # which is said when the settings are read
            specs |= specs_of(method(DEFAULT).settings_type)
    return specs


def _parameter(spec: Spec) -> inspect.Parameter:
    flag = f"--{spec.name.replace('_', '-')}"
    option = typer.Option(
        f"{flag}/--no-{flag[2:]}" if spec.kind is bool else flag,
        help=_help(spec),
        show_default=False,
        rich_help_panel="Settings of the method (another one's: --method NAME --help)",
        metavar=f"[{'|'.join(spec.choices)}]" if spec.choices else None,
        autocompletion=_offered(spec),
    )
    kind: Any = spec.kind | None
    return inspect.Parameter(
        spec.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
    )


def _offered(spec: Spec) -> Callable[[str], list[str]] | None:
    """What the shell offers for a setting."""
    if spec.name == "method":
        return completion.methods
    choices = spec.choices
    return (lambda incomplete: [each for each in choices if each.startswith(incomplete)]) if choices else None


def _help(spec: Spec) -> str:
    default = "none" if spec.default is None else str(spec.default).lower() if spec.kind is bool else f"{spec.default}"
    return f"{spec.help[0].upper()}{spec.help[1:]}. [default: {default}]"
