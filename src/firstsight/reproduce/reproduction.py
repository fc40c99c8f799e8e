"""A table or figure of the paper as runs of the harness: what is wanted, what is there, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

from firstsight.core.files import write_file
from firstsight.methods.settings import all_specs
from firstsight.reproduce.benchmark import Run, runs
from firstsight.reproduce.drawing import Drawing
from firstsight.reproduce.sheets import Sheet

Result: TypeAlias = Mapping[str, Any]

SECONDS = 15  # of one run on CUB: an NVIDIA H200, EfficientNet-Lite2, 16 stored views, 200 epochs, 10 orders


@dataclass(frozen=True)
class Reproduction:
    """What it is in the paper, which runs it is made of, and what makes its table and its figure of them."""

    name: str
    paper: str
    about: str
    sheet: Callable[[Sequence[Result]], Sheet]
    figure: Callable[[Sequence[Result]], Drawing | None] = lambda results: None
    methods: tuple[str, ...] = ()
    bits: tuple[int, ...] = (12,)
    shares: tuple[int, ...] = (50,)
    vary: tuple[str, tuple[float, ...]] = ("", ())
    closer: bool = False

    def wanted(self, data: str, seeds: int, given: Mapping[str, Any]) -> list[Run]:
        """Its runs on a data set, the first seed of everything first; a closer look is at one seed."""
        if not self.methods:
            return []
        plain = [run for share in self.shares for run in runs(data, self.methods, self.bits, seeds, share)]
        own = [run for run in plain if run.method in self.methods]
        if self.closer:
            return [replace(run, closer=True) for run in own if run.seed == 0]
        name, values = self.vary
        base = given.get(name, all_specs()[name].default) if name else None
        tried = [replace(run, varied=((name, value),)) for value in values if value != base for run in own]
        return sorted([*plain, *tried], key=lambda run: run.seed)

    def among(self, results: Iterable[Result]) -> list[Result]:
        """Its runs among all there are; where a setting is tried, of the seeds it was tried with."""
        if not self.methods:
            return []
        every = [run for share in self.shares for run in runs("", self.methods, self.bits, 1, share)]
        kinds = {(run.method, run.bits, run.known_share) for run in every}
        own = [
            result
            for result in results
            if (result["method"], result["bits"], result["known_share"]) in kinds
            and result["closer"] == self.closer
            and {name for name, _ in result["varied"]} <= {self.vary[0]}
        ]
        tried = {(result["data"], result["seed"]) for result in own if result["varied"]}
        return [result for result in own if not tried or (result["data"], result["seed"]) in tried]

    def needs(self) -> str:
        """What it takes, in words."""
        trainings = len(self.wanted("", 1 if self.closer else 3, {}))
        if not trainings:
            return "nothing"
        minutes, plural = max(1, round(trainings * SECONDS / 60)), "" if trainings == 1 else "s"
        return f"{trainings} training{plural} on each data set, {minutes} min of a GPU"


def write(entry: Reproduction, results: Sequence[Result], folder: Path) -> tuple[Sheet, list[Path]]:
    """Its table as Markdown and CSV and its figure, where it has one, as SVG and PNG."""
    sheet = entry.sheet(results)
    contents = {".md": sheet.markdown().encode(), ".csv": sheet.csv().encode()}
    if (drawing := entry.figure(results)) is not None:
        contents |= {".svg": drawing.svg().encode(), ".png": drawing.png()}
    for suffix, content in contents.items():
        write_file(folder / f"{entry.name}{suffix}", content)
    return sheet, [folder / f"{entry.name}{suffix}" for suffix in contents]
