"""`firstsight reproduce`: one command for every table and figure of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstsight.cli.benchmark import TAKEN, carry_out
from firstsight.cli.console import Bars, Device, Grid, Quiet, Verbose, configure, print_table, say
from firstsight.cli.options import with_settings
from firstsight.core.errors import DataError, SettingsError
from firstsight.core.settings import from_environment
from firstsight.methods.settings import all_specs

if TYPE_CHECKING:
    from firstsight.reproduce.benchmark import Run
    from firstsight.reproduce.reproduction import Reproduction

TABLES = "reproduced"  # the folder of tables and figures, inside that of the runs


@with_settings(*TAKEN[:3])
def reproduce(
    given: dict[str, Any],
    names: Annotated[
        list[str] | None, typer.Argument(help="Tables and figures; see --list.", metavar="NAME...")
    ] = None,
    listed: Annotated[bool, typer.Option("--list", help="Say what there is, and what each needs.")] = False,
    data: Annotated[
        str | None, typer.Option(help="Which benchmarks, such as cub,pets; else all that have runs.", metavar="NAMES")
    ] = None,
    root: Annotated[
        str | None,
        typer.Option(help="Their downloads or packs, in that order; without, nothing is run.", metavar="PATHS"),
    ] = None,
    target: Annotated[
        Path, typer.Option("--out", help="A folder of runs; what is there is kept.", metavar="DIR")
    ] = Path("results"),
    seeds: Annotated[int, typer.Option(help="How many seeds, from 0.", min=1, max=100)] = 3,
    orders: Annotated[int, typer.Option(help="How many random and bursty orders, in new runs.", min=1, max=1000)] = 10,
    jobs: Annotated[int, typer.Option(help="Trainings at a time that share the device.", min=1, max=64)] = 1,
    ledger: Annotated[
        Path | None, typer.Option(help="Append a line about every run to this file.", metavar="FILE.jsonl")
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make a table or figure of the paper: run what is missing, and print ours beside the paper's.

    Without --root it is drawn from the runs that are there. Settings given here are for all runs.
    """
    configure(quiet, verbose)
    from firstsight.reproduce.catalogue import REPRODUCTIONS
    from firstsight.reproduce.reproduction import write
    from firstsight.reproduce.tables import read_results

    if listed or not names:
        print_table(_grid(["name", "in the paper", "what it is", "needs"], map(_about, REPRODUCTIONS.values())))
        return
    if wrong := [name for name in names if name not in REPRODUCTIONS]:
        raise SettingsError(
            f"there is nothing to reproduce called {wrong[0]!r}", f"there are: {', '.join(REPRODUCTIONS)}"
        )
    entries = [REPRODUCTIONS[name] for name in names]
    chosen = [name.strip() for name in data.split(",")] if data else []
    roots = [Path(path.strip()) for path in root.split(",")] if root else []
    if roots and len(roots) != len(chosen):
        raise SettingsError(f"{len(chosen)} data sets and {len(roots)} roots", "give as many of --root as of --data")
    if given and not roots:
        raise SettingsError(f"{next(iter(given))} is a setting of new runs", "give --root too, or leave it out")
    given = {**{name: value for name, value in from_environment(all_specs()).items() if name not in TAKEN}, **given}
    how: dict[str, Any] = {"ledger": ledger, "orders": orders, "device": device, "jobs": jobs}
    if roots:
        chosen = [_run(entries, *each, given, target, seeds, how) for each in zip(chosen, roots, strict=True)]
    found = [result for result in read_results(target, tried=True) if not chosen or result["data"] in chosen]
    if empty := [entry.name for entry in entries if entry.methods and not entry.among(found)]:
        raise DataError(
            f"{target} has no runs{f' on {data}' if data else ''} to make {', '.join(empty)} of",
            "name a folder that has with --out, or give --data and --root to make them",
        )
    for entry in entries:
        own = entry.among(found)
        sheet, files = write(entry, own, target / TABLES)
        say(f" {entry.name}, {entry.paper}: {entry.about}")
        print_table(_grid(sheet.header, sheet.texts()))
        for note in sheet.notes:
            say(f" {note}")
        if entry.methods:
            there = chosen or dict.fromkeys(result["data"] for result in own)
            say(f" {_missing([run for name in there for run in entry.wanted(name, seeds, given)], target)}")
        say(f" written to {files[0]}, {', '.join(path.suffix for path in files[1:])}")


def _run(
    entries: Sequence[Reproduction],
    data: str,
    root: Path,
    given: dict[str, Any],
    target: Path,
    seeds: int,
    how: dict[str, Any],
) -> str:
    """Run what is missing on one data set: all tables share its images and its runs. The name its runs go by."""
    from firstsight.data.benchmarks import open_data, split_of

    of, images = open_data(data, root)
    bars = Bars()
    for text in images.left_out:
        bars.note(text)
    wanted = list(dict.fromkeys(run for entry in entries for run in entry.wanted(of.name, seeds, given)))
    for share in dict.fromkeys(run.known_share for run in wanted):
        own = [run for run in wanted if run.known_share == share]
        drawn = split_of(of, images, share=share)
        carry_out(own, drawn, images, given, target, same_orders=False, progress=bars, **how)
    return of.name


def _missing(wanted: Sequence[Run], target: Path) -> str:
    """Whether all runs are there."""
    lacking = [run for run in wanted if not (target / run.file).is_file()]
    if wanted and not lacking:
        return f"runs: all there, {len(wanted)}"
    return f"runs: {len(lacking)} of {len(wanted)} missing; give --data and --root to make them"


def _about(entry: Reproduction) -> list[str]:
    return [entry.name, entry.paper, entry.about, entry.needs()]


def _grid(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Grid:
    grid = Grid(*header, padding=(0, 1, 0, 0))
    for row in rows:
        grid.add_row(*row)
    return grid
