"""`firstsight reproduce`: one command for every table and figure of the paper."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from firstsight.cli.benchmark import TAKEN, announce
from firstsight.cli.console import Bars, Device, Quiet, Verbose, configure, print_table, say
from firstsight.cli.options import with_settings
from firstsight.config import from_environment
from firstsight.errors import SettingsError

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
    from firstsight.evaluate.reproduce import Reproduction, write
    from firstsight.evaluate.reproductions import REPRODUCTIONS
    from firstsight.evaluate.tables import read_results

    if listed or not names:
        print_table(_grid(["name", "in the paper", "what it is", "needs"], map(_about, REPRODUCTIONS.values())))
        return
    if wrong := [name for name in names if name not in REPRODUCTIONS]:
        raise SettingsError(
            f"there is nothing to reproduce called {wrong[0]!r}", f"there are: {', '.join(REPRODUCTIONS)}"
        )
    entries: list[Reproduction] = [REPRODUCTIONS[name] for name in names]
    given = {**{name: value for name, value in from_environment().items() if name not in TAKEN}, **given}
    chosen = [name.strip() for name in data.split(",")] if data else []
    if root is not None:
        paths = [Path(path.strip()) for path in root.split(",")]
        if len(paths) != len(chosen):
            raise SettingsError(
                f"{len(chosen)} data sets and {len(paths)} roots", "give as many of --root as of --data"
            )
        how: dict[str, Any] = {"ledger": ledger, "orders": orders, "device": device, "jobs": jobs}
        chosen = [
            _run(entries, name, path, given, target, seeds, how) for name, path in zip(chosen, paths, strict=True)
        ]
    elif given:
        raise SettingsError(f"{next(iter(given))} is a setting of new runs", "give --root too, or leave it out")
    found = [result for result in read_results(target, tried=True) if not chosen or result["data"] in chosen]
    for entry in entries:
        own = entry.among(found)
        sheet, files = write(entry, own, target / TABLES)
        say(f" {entry.name}, {entry.paper}: {entry.about}")
        print_table(_grid(sheet.header, sheet.texts()))
        for note in sheet.notes:
            say(f" {note}")
        if entry.methods:
            say(f" {_missing(entry, own, chosen, seeds)}")
        say(f" written to {files[0]}, {', '.join(path.suffix for path in files[1:])}")


def _run(
    entries: list[Any], name: str, root: Path, given: dict[str, Any], target: Path, seeds: int, how: dict[str, Any]
) -> str:
    """Run what is missing on one data set; all tables share the images and the runs. Its name, as runs have it."""
    from firstsight.data.benchmarks import open_data, split_of
    from firstsight.evaluate.benchmark import benchmark

    of, images = open_data(name, root)
    wanted = list(dict.fromkeys(run for entry in entries for run in entry.wanted(of.name, seeds, given)))
    bars = Bars()
    for text in images.left_out:
        bars.note(text)
    target.mkdir(parents=True, exist_ok=True)
    done = 0
    for share in dict.fromkeys(run.known_share for run in wanted):
        parts = split_of(of, images, share=share).apply(images)
        own = [run for run in wanted if run.known_share == share]
        for result in benchmark(own, parts, given, target, same_orders=False, progress=bars, **how):
            done += 1
            announce(result, done, len(wanted))
    return of.name


def _missing(entry: Any, own: list[Any], chosen: list[str], seeds: int) -> str:
    """Which of its runs are not there."""
    names = chosen or list(dict.fromkeys(result["data"] for result in own))
    wanted = {run for name in names for run in entry.wanted(name, seeds, {})}
    there = {
        tuple(result[key] for key in ("data", "method", "bits", "known_share", "varied", "seed")) for result in own
    }
    lacking = [r for r in wanted if (r.data, r.method, r.bits, r.known_share, r.varied, r.seed) not in there]
    if not names or lacking:
        return f"{len(lacking) or 'all'} of its runs are missing: give --data and --root to make them"
    return f"all of its {len(wanted)} runs are there"


def _about(entry: Any) -> list[str]:
    return [entry.name, entry.paper, entry.about, entry.needs()]


def _grid(header: Any, rows: Any) -> Table:
    grid = Table(*header, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for row in rows:
        grid.add_row(*row)
    return grid
