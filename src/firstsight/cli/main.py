"""`firstsight`: the command. Errors people can cause end in one line and a documented exit code, never a trace."""

from __future__ import annotations

import errno
import os
import sys
from typing import Annotated

import typer

from firstsight.cli.benchmark import benchmark
from firstsight.cli.categories import app as categories
from firstsight.cli.console import complain, say, shown
from firstsight.cli.demo import demo
from firstsight.cli.discover import discover
from firstsight.cli.doctor import doctor
from firstsight.cli.encode import encode
from firstsight.cli.evaluate import evaluate
from firstsight.cli.explain import explain
from firstsight.cli.export_model import export
from firstsight.cli.fit import fit
from firstsight.cli.gallery import gallery
from firstsight.cli.methods import methods
from firstsight.cli.options import SettingsCommand
from firstsight.cli.pack import pack
from firstsight.cli.push import push
from firstsight.cli.reproduce import reproduce
from firstsight.cli.serve import serve
from firstsight.cli.several import check_command, one_voice, speaks
from firstsight.cli.versions import version_line
from firstsight.core.errors import DiskError, FirstsightError
from firstsight.core.packages import missing
from firstsight.core.torchrun import beside_the_first

INTERRUPTED = 130

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Tell known categories from new ones, image by image, and register what is new on the spot.",
    epilog="Exit codes: 0 done, 1 done but some images could not be read, 2 wrong usage or settings, 3 data, "
    "4 model or weights, 5 device, 6 disk, 7 training broke down, 8 register, 9 a process was killed, "
    "70 a fault of ours, 130 interrupted.",
)


def _version(wanted: bool) -> None:
    if wanted:
        print(version_line())
        raise typer.Exit


@app.callback()
def root(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Print the version, torch's, and the device."),
    ] = False,
) -> None:
    check_command(context.invoked_subcommand)


for command in (
    demo,
    fit,
    discover,
    serve,
    encode,
    explain,
    gallery,
    evaluate,
    pack,
    push,
    export,
    benchmark,
    reproduce,
    methods,
    doctor,
):
    shape = SettingsCommand if command in (fit, benchmark, reproduce) else None
    app.command(name=command.__name__, help=command.__doc__, cls=shape)(command)
app.add_typer(categories, name="categories")


def run() -> None:
    """The entry point: the app, with every way it can end."""
    os.environ["PYTHONSAFEPATH"] = "1"  # nor do processes we start look for modules in the working directory
    try:
        with one_voice():
            app(prog_name="firstsight")
    except SystemExit as end:
        if end.code == INTERRUPTED and not beside_the_first():
            say("interrupted; a fit goes on with --resume, a discover --register with --once, a benchmark by itself")
        raise
    except FirstsightError as error:
        if speaks():
            complain(error)
        sys.exit(error.exit_code)
    except Exception as error:
        if shown.verbose:
            raise
        if not speaks():
            sys.exit(70)
        if isinstance(error, ModuleNotFoundError) and (told := missing(error)):
            complain(told)
            sys.exit(told.exit_code)
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            _leave_stdout()
            complain(DiskError("answers could not be written: no space left"))
            sys.exit(DiskError.exit_code)
        if isinstance(error, OSError) and error.filename:
            complain(DiskError(f"{error.filename}: {error.strerror}"))
            sys.exit(DiskError.exit_code)
        what = f"unexpected {type(error).__name__}: {error}"
        complain(FirstsightError(what, "a fault of ours: run again with -v for the trace, and report it"))
        sys.exit(70)


def _leave_stdout() -> None:
    """What is still buffered for a full disk would fail again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
