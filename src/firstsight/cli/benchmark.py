"""`firstsight benchmark`: methods on a data set, over seeds and orders, beside the paper's figures."""

from __future__ import annotations

from dataclasses import asdict, astuple
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from firstsight.cli import completion
from firstsight.cli.console import Bars, Device, Grid, Json, Quiet, Verbose, configure, print_json, print_table, say
from firstsight.cli.options import OF_RUNS, for_all_runs, with_settings
from firstsight.core.errors import ProcessDied, SettingsError
from firstsight.methods.settings import all_specs

if TYPE_CHECKING:
    from firstsight.reproduce.results import RunResult


@with_settings(*OF_RUNS)
def benchmark(
    data: Annotated[str, typer.Option(help="Which benchmark, such as cub, pets or folder.", metavar="NAME")],
    root: Annotated[Path, typer.Option(help="Its official download, or a pack of it.", metavar="PATH")],
    target: Annotated[Path, typer.Option("--out", help="A folder for results; what is there is kept.", metavar="DIR")],
    given: dict[str, Any],
    methods: Annotated[
        str,
        typer.Option(help="Methods, separated by commas; see `firstsight methods`.", autocompletion=completion.methods),
    ] = "phe",
    bits: Annotated[str, typer.Option(help="Code lengths, separated by commas.")] = "12",
    seeds: Annotated[int, typer.Option(help="How many seeds, from 0.", min=1, max=100)] = 3,
    orders: Annotated[int, typer.Option(help="How many random and bursty orders.", min=1, max=1000)] = 10,
    known: Annotated[int, typer.Option(help="Per cent of the categories that are known: 25, 50 or 75.")] = 50,
    stratified: Annotated[
        bool, typer.Option("--stratified", help="Half of each known category is support, not half of all images.")
    ] = False,
    split: Annotated[
        Path | None, typer.Option(help="A split that was saved, instead of drawing one.", metavar="FILE.json")
    ] = None,
    classes: Annotated[
        Path | None, typer.Option(help="Only the categories in this file, one per line, in its order.", metavar="FILE")
    ] = None,
    known_classes: Annotated[
        Path | None, typer.Option(help="The known categories, one per line; else the first half.", metavar="FILE")
    ] = None,
    only: Annotated[
        bool, typer.Option("--only", help="Only these methods, without the two rows that stand beside them.")
    ] = False,
    jobs: Annotated[int, typer.Option(help="Trainings at a time that share the device.", min=1, max=64)] = 1,
    ledger: Annotated[
        Path | None, typer.Option(help="Append a line about every run to this file.", metavar="FILE.jsonl")
    ] = None,
    device: Device = "auto",
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train and score methods on a benchmark's split, and print the table beside the paper's figures.

    Runs that are in the folder already are not repeated; the table has all of them. Settings given here are for all.
    A classifier that never discovers and k-means told the number are run too, unless --only is given.
    """
    configure(quiet, verbose)
    lengths = _numbers(bits)
    given = for_all_runs(given)
    from firstsight.data.benchmarks import open_data, split_of
    from firstsight.data.splits import Split
    from firstsight.reproduce.benchmark import Harness
    from firstsight.reproduce.benchmark import benchmark as run_all
    from firstsight.reproduce.run_files import read_results
    from firstsight.reproduce.runs import ALWAYS, runs
    from firstsight.reproduce.tables.benchmark import HEADER, write_tables
    from firstsight.reproduce.tables.lines import lines

    names = [name.strip() for name in methods.split(",")]
    beside = [name for name in ALWAYS if name not in names and not only]
    runs(data, names, lengths, seeds, beside=beside)  # a method that does not exist is refused before the data is read
    of, images = open_data(data, root, classes, known_classes)
    bars = Bars()
    for text in images.left_out:
        bars.note(text)
    wanted = runs(of.name, names, lengths, seeds, known, beside)
    drawn = split_of(of, images, share=known, stratified=stratified) if split is None else Split.load(split)
    harness = Harness(target, given, ledger, orders, device=device, jobs=jobs, beside=beside, progress=bars)
    lacking: ProcessDied | None = None
    try:
        for count, result in enumerate(run_all(wanted, drawn, images, harness), start=1):
            announce(result, count, len(wanted))
    except ProcessDied as error:  # the table has all that is there
        lacking = error
    table = lines(read_results(target, of.name))
    write_tables(table, target / of.name)
    if as_json:
        print_json([asdict(line) for line in table])
    else:
        grid = Grid(*HEADER, padding=(0, 1, 0, 0))
        for line in table:
            grid.add_row(*line.cells())
        print_table(grid)
    say(f" written to {target / of.name}.md, .txt, .tex and .csv; the split is beside them")
    if lacking is not None:
        raise lacking


def announce(result: RunResult, count: int, total: int) -> None:
    """Say what a run came to."""
    run, accuracy = result.run, result.headline.accuracy
    figures = "/".join("-" if isnan(share) else f"{100 * share:.1f}" for share in astuple(accuracy))
    length = f", {run.bits} bits" if run.bits else ""
    tried = "".join(f", {name} {value:g}" for name, value in run.varied)
    say(f" {count} of {total}: {run.method}{length}{tried}, seed {run.seed}: {figures}")


def _numbers(text: str) -> list[int]:
    try:
        numbers = [int(part) for part in text.split(",")]
    except ValueError:
        raise SettingsError(f"bits are {text!r}; expected numbers separated by commas, such as 12,32") from None
    for number in numbers:
        all_specs()["bits"].check(number)
    return numbers
