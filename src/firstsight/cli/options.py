"""Settings as command-line options, made from their one description in core/settings.py."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Annotated, Any, cast

import typer

from firstsight.cli.console import a_number
from firstsight.core.settings import SPECS, Rule, Spec

MAIN = ("method", "backbone", "weights", "bits", "epochs", "batch_size", "seed", "cache_trunk")


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


def check_rule(rule: str | None) -> Rule | None:
    """A rule as typed, if it is one."""
    if rule is not None:
        SPECS["rule"].check(rule)
    return cast("Rule | None", rule)


def with_settings(
    *leave_out: str,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add an option for every setting but some; the command gets those that were given as `given`."""

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(command, eval_str=True)
        own = [parameter for name, parameter in signature.parameters.items() if name != "given"]
        names = [name for name in (*MAIN, *(n for n in SPECS if n not in MAIN)) if name not in leave_out]

        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in names}
            command(**values, given={name: value for name, value in given.items() if value is not None})

        run.__name__, run.__doc__ = command.__name__, command.__doc__
        parameters = own + [_parameter(SPECS[name]) for name in names]
        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return run

    return decorate


def _parameter(spec: Spec) -> inspect.Parameter:
    flag = f"--{spec.name.replace('_', '-')}"
    default = "none" if spec.default is None else str(spec.default).lower() if spec.kind is bool else f"{spec.default}"
    option = typer.Option(
        f"{flag}/--no-{flag[2:]}" if spec.kind is bool else flag,
        help=f"{spec.help[0].upper()}{spec.help[1:]}. [default: {default}]",
        show_default=False,
        rich_help_panel="Main settings" if spec.name in MAIN else "All other settings",
        metavar=f"[{'|'.join(spec.choices)}]" if spec.choices else None,
    )
    kind: Any = spec.kind | None
    return inspect.Parameter(
        spec.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Annotated[kind, option]
    )
