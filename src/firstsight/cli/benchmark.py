"""`firstsight benchmark`: methods on a data set, over seeds and orders, beside the paper's figures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.box import SIMPLE_HEAD
from rich.table import Table

from firstsight.cli.console import Bars, Device, Quiet, Verbose, configure, print_table, say
from firstsight.cli.options import with_settings
from firstsight.errors import SettingsError
from firstsight.files import write_file


@with_settings
def benchmark(
    data: Annotated[str, typer.Option(help="Which benchmark, such as cub or pets.", metavar="NAME")],
    root: Annotated[Path, typer.Option(help="Its official download, or a pack of it.", metavar="PATH")],
    target: Annotated[Path, typer.Option("--out", help="A folder for results; what is there is kept.", metavar="DIR")],
    given: dict[str, Any],
    methods: Annotated[str, typer.Option(help="Methods, separated by commas: phe, phe-paper.")] = "phe",
    lengths: Annotated[str, typer.Option("--lengths", help="Code lengths in bits, separated by commas.")] = "12",
    seeds: Annotated[int, typer.Option(help="How many seeds, from 0.", min=1, max=100)] = 3,
    known: Annotated[int, typer.Option(help="Per cent of the categories that are known: 25, 50 or 75.")] = 50,
    ledger: Annotated[
        Path | None, typer.Option(help="Append a line about every run to this file.", metavar="FILE.jsonl")
    ] = None,
    device: Device = "auto",
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train and score methods on a benchmark's split, and print the table beside the paper's figures.

    Runs that are in the folder already are not repeated. Settings given here are for all runs.
    """
    configure(quiet, verbose)
    if taken := [name for name in ("bits", "seed") if name in given]:
        raise SettingsError(f"--{taken[0]} is one of many here", "use --lengths and --seeds")
    from firstsight.data.benchmarks import benchmark as named
    from firstsight.data.benchmarks import read, split_of
    from firstsight.evaluate.benchmark import benchmark as run_all
    from firstsight.evaluate.benchmark import runs
    from firstsight.evaluate.tables import HEADER, csv, lines, markdown

    wanted = runs(data, methods.split(","), _lengths(lengths), seeds)
    of = named(data)
    images = read(of, root)
    split = split_of(of, images, share=known)
    target.mkdir(parents=True, exist_ok=True)
    split.save(target / f"{data}.split.json")
    results = []
    for number, result in enumerate(
        run_all(wanted, split.apply(images), given, target, ledger, device, Bars()), start=1
    ):
        results.append(result)
        accuracy = next(iter(result["rows"].values()))[0]["accuracy"]
        figures = "/".join(f"{100 * accuracy[part]:.1f}" for part in ("all", "old", "new"))
        say(f" {number} of {len(wanted)}: {result['method']}, {result['bits']} bits, seed {result['seed']}: {figures}")
    table = lines(results)
    write_file(target / f"{data}.md", markdown(table).encode())
    write_file(target / f"{data}.csv", csv(table).encode())
    grid = Table(*HEADER, box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for line in table:
        grid.add_row(*line.cells())
    print_table(grid)
    say(f" written to {target / data}.md and .csv; the split is beside them")


def _lengths(text: str) -> list[int]:
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise SettingsError(f"lengths are {text!r}; expected numbers separated by commas, such as 12,32") from None
