"""The settings of a method, checked in one place: from Python, the command line, the environment or a file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from firstsight.core.errors import SettingsError
from firstsight.core.settings import (
    ENVIRONMENT_PREFIX,
    Settings,
    Spec,
    from_environment,
    from_file,
    specs_of,
    unknown_setting,
)
from firstsight.methods.catalogue import METHODS, Method, is_own
from firstsight.methods.catalogue import method as find
from firstsight.methods.phe.settings import PAPER

DEFAULT = "firstsight"
PRESETS = ("default", "paper")


def settings(method: str = DEFAULT, **values: Any) -> Any:
    """The settings of a method, these instead of the defaults.

    >>> settings("phe", bits=16).bits
    16
    >>> settings("firstsight", bits=16)
    Traceback (most recent call last):
    firstsight.core.errors.SettingsError: bits means nothing to firstsight
    leave it out, or name a method that has it, such as phe
    """
    chosen = find(method)
    specs = specs_of(chosen.settings_type)
    for name in values:
        if name not in specs:
            raise _meaningless(name, chosen)
    if chosen.changes == PAPER and values.get("expected_categories") is None:
        raise SettingsError(
            "the paper computes d_max for the number of categories in the query stream",
            "give that number with --expected-categories, or use phe, which needs none",
        )
    return chosen.settings_type(**{**chosen.changes, **values, "method": chosen.fitted_as})


def resolve(
    flags: Mapping[str, Any],
    preset: str | None = None,
    config_file: Path | None = None,
    environment: Mapping[str, str] = os.environ,
    trust: bool = False,
) -> Any:
    """The settings in force: flag over FIRSTSIGHT_* over file over default. None means not given.

    A method that is a module from elsewhere runs, so a file may name one only with `trust`.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    listed = from_file(config_file) if config_file is not None else {}
    named_here = given.get("method") or environment.get(f"{ENVIRONMENT_PREFIX}METHOD")
    name = named_here or listed.get("method")
    if isinstance(name, str) and is_own(name) and not named_here and not trust:
        raise SettingsError(
            f"{config_file}: its method is {name!r}, a module from elsewhere, which fitting would run",
            "if you know that module, say so with --trust, or name it yourself with --method",
        )
    typed = from_environment(_specs_with(name), environment) | given
    values = listed | typed
    preset = preset or values.pop("preset", "default")
    values.pop("preset", None)
    if preset not in PRESETS:
        raise SettingsError(f"no preset is called {preset!r}", f"there are: {', '.join(PRESETS)}")
    name = values.pop("method", "phe" if preset == "paper" else DEFAULT)
    if not isinstance(name, str):
        raise SettingsError(f"method is {name!r}; allowed: the name of one", "see firstsight methods")
    if preset == "paper" and name != "phe":
        raise SettingsError(f"the paper preset is a recipe for phe, not for {name}", "leave out one of the two")
    return settings("phe-paper" if preset == "paper" else name, **values)


def settings_to_fit(given: Settings | None, changes: Mapping[str, Any]) -> Settings:
    """Settings with changes by name on top; without any, those of the method that is named, or of the default one."""
    chosen: Settings = settings(**{**({} if given is None else given.as_dict()), **changes})
    if not find(chosen.method).on_the_fly:
        raise SettingsError(
            f"{chosen.method} answers no stream, so there is nothing to fit", "benchmark has its figures"
        )
    return chosen


@cache
def all_specs() -> dict[str, Spec]:
    """Every setting that any method has."""
    return {name: spec for each in METHODS.values() for name, spec in specs_of(each.settings_type).items()}


def methods_with(setting: str) -> list[str]:
    """The methods a setting means something to."""
    return [each.name for each in METHODS.values() if each.has(setting) and each.on_the_fly]


def check_meaning(given: Iterable[str], names: Sequence[str]) -> None:
    """SettingsError where one of these settings means nothing to any of these methods."""
    for setting in given:
        if not any(find(name).has(setting) for name in names):
            raise _meaningless(setting, find(names[0]))


def _meaningless(name: str, chosen: Method) -> SettingsError:
    others = methods_with(name)
    if not others:
        return unknown_setting(name, name, _specs_with(chosen.name))
    return SettingsError(
        f"{name} means nothing to {chosen.name}", f"leave it out, or name a method that has it, such as {others[0]}"
    )


def _specs_with(name: Any) -> dict[str, Spec]:
    """Every setting there is, those of a method from elsewhere among them."""
    own = specs_of(find(name).settings_type) if isinstance(name, str) and is_own(name) else {}
    return {**all_specs(), **own}
