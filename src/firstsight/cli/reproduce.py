"""`firstsight reproduce`: one command for every table and figure of the paper."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstsight.cli.benchmark import announce
from firstsight.cli.console import Bars, Device, Grid, Json, Quiet, Verbose, configure, print_json, print_table, say
from firstsight.cli.options import OF_RUNS, for_all_runs, with_settings
from firstsight.core.errors import SettingsError

if TYPE_CHECKING:
    from firstsight.reproduce.reproduction import Reproduction
    from firstsight.reproduce.results import RunResult

TABLES = "reproduced"  # the folder of tables and figures, inside that of the runs


def _offered(incomplete: str) -> list[str]:
    """What there is, for the shell."""
    from firstsight.reproduce.catalogue import REPRODUCTIONS

    return [name for name in REPRODUCTIONS if name.startswith(incomplete)]


@with_settings(*OF_RUNS)
def reproduce(
    given: dict[str, Any],
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Tables and figures; see --list.", metavar="NAME...", autocompletion=_offered),
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
    no_figures: Annotated[bool, typer.Option("--no-figures", help="Tables alone, which need no matplotlib.")] = False,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Make a table or figure of the paper: run what is missing, and print ours beside the paper's.

    Without --root it is drawn from the runs that are there. Settings given here are for all runs.
    """
    configure(quiet, verbose)
    from firstsight.reproduce.catalogue import REPRODUCTIONS, reproductions
    from firstsight.reproduce.figures.style import require_matplotlib
    from firstsight.reproduce.reproduction import check_runs, write
    from firstsight.reproduce.run_files import read_results

    if listed or not names:
        columns = ["name", "in the paper", "what it is", "needs"]
        rows = list(map(_about, REPRODUCTIONS.values()))
        if as_json:
            return print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return print_table(_grid(columns, rows))
    entries = reproductions(names)
    if not no_figures and any(entry.figure for entry in entries):
        require_matplotlib()  # before the work, not after it
    chosen, roots = _list(data), [Path(path) for path in _list(root)]
    if roots and len(roots) != len(chosen):
        raise SettingsError(f"{len(chosen)} data sets and {len(roots)} roots", "give as many of --root as of --data")
    if given and not roots:
        raise SettingsError(f"{next(iter(given))} is a setting of new runs", "give --root too, or leave it out")
    given = for_all_runs(given)
    how = {"ledger": ledger, "orders": orders, "device": device, "jobs": jobs}
    if roots:
        chosen = [_run(entries, *each, seeds, given, target, how) for each in zip(chosen, roots, strict=True)]
    found = [result for result in read_results(target, every=True) if not chosen or result.run.data in chosen]
    check_runs(entries, found, f"{target} has no runs{f' on {data}' if data else ''}")
    made: list[dict[str, Any]] = []
    for entry in entries:
        own = entry.among(found)
        sheet, files = write(entry, own, target / TABLES, figures=not no_figures)
        say(f" {entry.name}, {entry.paper}: {entry.about}")
        made.append({"name": entry.name, "rows": sheet.as_json(), "files": [str(path) for path in files]})
        if not as_json:
            print_table(_grid(sheet.header, sheet.texts()))
        for note in sheet.notes:
            say(f" {note}")
        if entry.methods:
            say(f" {_missing(entry, found, chosen, seeds, given)}")
        say(f" written to {files[0]}, {', '.join(path.suffix for path in files[1:])}")
    return print_json(made) if as_json else None


def _run(
    entries: Sequence[Reproduction],
    data: str,
    root: Path,
    seeds: int,
    given: dict[str, Any],
    target: Path,
    how: dict[str, Any],
) -> str:
    """Make what is missing on one data set, and say what each run came to. The name that the data set goes by."""
    from firstsight.reproduce.benchmark import Harness, benchmark_data
    from firstsight.reproduce.reproduction import all_wanted

    harness = Harness(target, given, same_orders=False, progress=Bars(), **how)
    results = benchmark_data(data, root, lambda name: all_wanted(entries, name, seeds, given), harness)
    for count, (result, total) in enumerate(results, start=1):
        announce(result, count, total)
        data = result.run.data  # as inat:Aves goes by inat-aves
    return data


def _missing(
    entry: Reproduction, results: Sequence[RunResult], chosen: Sequence[str], seeds: int, given: dict[str, Any]
) -> str:
    """Whether all runs are there."""
    there = {result.run for result in results}
    names = chosen or dict.fromkeys(result.run.data for result in entry.among(results))
    wanted = [run for data in names for run in entry.wanted(data, seeds, given)]
    lacking = [run for run in wanted if run not in there]
    if wanted and not lacking:
        return f"runs: all there, {len(wanted)}"
    return f"runs: {len(lacking)} of {len(wanted)} missing; give --data and --root to make them"


def _list(text: str | None) -> list[str]:
    return [part.strip() for part in text.split(",")] if text else []


def _about(entry: Reproduction) -> list[str]:
    return [entry.name, entry.paper, entry.about, entry.needs()]


def _grid(header: Iterable[str], rows: Iterable[Iterable[str]]) -> Grid:
    grid = Grid(*header, padding=(0, 1, 0, 0))
    for row in rows:
        grid.add_row(*row)
    return grid
