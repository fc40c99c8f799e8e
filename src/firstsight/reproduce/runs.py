"""What is to be run: one training of one method on one data set, and everything that tells it from others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from firstsight.core.errors import SettingsError
from firstsight.methods.catalogue import method
from firstsight.methods.settings import settings

ALWAYS = ("closed-set-ce", "offline-kmeans")  # in every table, asked for or not
USUAL_SHARE = 50  # per cent of the categories that are known


@dataclass(frozen=True)
class Run:
    """One training, the key of its result. `bits` is None where code lengths mean nothing to the method.

    `varied` are settings that are tried out; a run that is `inspected` saves what figures need beyond accuracy.
    """

    data: str
    method: str
    bits: int | None
    seed: int
    known_share: int = USUAL_SHARE
    varied: tuple[tuple[str, float], ...] = ()
    inspected: bool = False

    @property
    def name(self) -> str:
        """For people, and for errors."""
        share = f"-{self.known_share}known" if self.known_share != USUAL_SHARE else ""
        bits = f"-{self.bits}bit" if self.bits is not None else ""
        method = re.sub(r"[^\w-]", "-", self.method)  # a name such as module:Class
        varied = "".join(f"-{name.replace('_', '-')}{value:g}" for name, value in self.varied)
        inspected = "-inspected" if self.inspected else ""
        return f"{self.data}{share}-{method}{bits}{varied}{inspected}-seed{self.seed}"

    def settings(self, changes: Mapping[str, Any], categories: int) -> Any:
        """The method's settings with those asked for; the paper's preset is told how many categories will come."""
        told = {"expected_categories": categories} if self.method == "phe-paper" else {}
        length = {} if self.bits is None else {"bits": self.bits}
        given = {name: value for name, value in changes.items() if method(self.method).has(name)}
        return settings(self.method, **{**told, **given, **dict(self.varied), **length, "seed": self.seed})


def runs(
    data: str,
    methods: Sequence[str],
    bits: Sequence[int],
    seeds: int,
    known_share: int = USUAL_SHARE,
    beside: Sequence[str] = ALWAYS,
) -> list[Run]:
    """All trainings of a table, those that tell most first: every method once before the next seed.

    `beside` are the methods that are in it though nobody asked for them.
    """
    lengths = {name: method(name).lengths(bits) for name in dict.fromkeys([*methods, *beside])}
    if lacking := [name for name, some in lengths.items() if not some]:
        raise SettingsError(f"{lacking[0]} has no codes of {', '.join(map(str, bits))} bits", "16, 32 and 64 it has")
    wanted = [Run(data, m, b, s, known_share) for s in range(seeds) for m, some in lengths.items() for b in some]
    return [run for run in wanted if run.method != "offline-kmeans" or run.seed == 0]  # it learns nothing
