"""A table or figure of the paper as runs of the harness: what is wanted, what is there, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from firstsight.core.errors import DataError
from firstsight.core.files import write_file
from firstsight.methods.settings import all_specs
from firstsight.reproduce.figures.charts import Figure
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.runs import USUAL_SHARE, Run, runs
from firstsight.reproduce.tables.sheet import Sheet

SECONDS = 15  # of one run on CUB: an NVIDIA H200, EfficientNet-Lite2, 16 stored views, 200 epochs, 10 orders


@dataclass(frozen=True)
class Reproduction:
    """What it is in the paper, which runs it is made of, and what makes its table and its figure of them."""

    name: str
    paper: str
    about: str
    sheet: Callable[[Sequence[RunResult]], Sheet]
    figure: Callable[[Sequence[RunResult]], Figure | None] | None = None
    methods: tuple[str, ...] = ()
    bits: tuple[int, ...] = (12,)
    shares: tuple[int, ...] = (USUAL_SHARE,)
    vary: tuple[str, tuple[float, ...]] = ("", ())
    inspected: bool = False

    def wanted(self, data: str, seeds: int, changes: Mapping[str, Any]) -> list[Run]:
        """Its runs on a data set, the first seed of everything first; a closer look is at one seed."""
        if not self.methods:
            return []
        plain = [run for share in self.shares for run in runs(data, self.methods, self.bits, seeds, share)]
        own = [run for run in plain if run.method in self.methods]
        if self.inspected:
            return [replace(run, inspected=True) for run in own if run.seed == 0]
        name, values = self.vary
        base = changes.get(name, all_specs()[name].default) if name else None
        tried = [replace(run, varied=((name, value),)) for value in values if value != base for run in own]
        return sorted([*plain, *tried], key=lambda run: run.seed)

    def among(self, results: Iterable[RunResult]) -> list[RunResult]:
        """Its runs among all there are; where a setting is tried, of the seeds it was tried with."""
        if not self.methods:
            return []
        every = [run for share in self.shares for run in runs("", self.methods, self.bits, 1, share)]
        kinds = {(run.method, run.bits, run.known_share) for run in every}
        own = [
            result
            for result in results
            for run in [result.run]
            if (run.method, run.bits, run.known_share) in kinds
            and run.inspected == self.inspected
            and {name for name, _ in run.varied} <= {self.vary[0]}
        ]
        tried = {(result.run.data, result.run.seed) for result in own if result.run.varied}
        return [result for result in own if not tried or (result.run.data, result.run.seed) in tried]

    def needs(self) -> str:
        """What it takes, in words."""
        trainings = len(self.wanted("", 1 if self.inspected else 3, {}))
        if not trainings:
            return "nothing"
        minutes, plural = max(1, round(trainings * SECONDS / 60)), "" if trainings == 1 else "s"
        return f"{trainings} training{plural} on each data set, {minutes} min of a GPU"


def all_wanted(entries: Sequence[Reproduction], data: str, seeds: int, changes: Mapping[str, Any]) -> list[Run]:
    """The runs of several on one data set, each once."""
    return list(dict.fromkeys(run for entry in entries for run in entry.wanted(data, seeds, changes)))


def check_runs(entries: Sequence[Reproduction], results: Sequence[RunResult], where: str) -> None:
    """Refuse to make tables of nothing."""
    if empty := [entry.name for entry in entries if entry.methods and not entry.among(results)]:
        raise DataError(
            f"{where} to make {', '.join(empty)} of",
            "name a folder that has with --out, or give --data and --root to make them",
        )


def write(
    entry: Reproduction, results: Sequence[RunResult], folder: Path, figures: bool = True
) -> tuple[Sheet, list[Path]]:
    """Its table as Markdown, LaTeX and CSV and its figure, where it has one, as SVG, PDF and PNG."""
    sheet = entry.sheet(results)
    contents = {".md": sheet.markdown().encode(), ".tex": sheet.latex().encode(), ".csv": sheet.csv().encode()}
    if figures and entry.figure is not None and (figure := entry.figure(results)) is not None:
        from firstsight.reproduce.figures.drawing import draw  # matplotlib is an extra

        drawn = draw(figure)
        contents |= {".svg": drawn.svg, ".pdf": drawn.pdf, ".png": drawn.png}
    for suffix, content in contents.items():
        write_file(folder / f"{entry.name}{suffix}", content)
    return sheet, [folder / f"{entry.name}{suffix}" for suffix in contents]
