"""Every command of the docs is run, with the very flags that are documented; a command added there is run from then on.

Behind every backbone's name is the tests' tiny network, and data sets are a few plain colours: what is tested is that
commands, flags and their order on a page hold.
"""

from __future__ import annotations

import importlib.util
import runpy
import shlex
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import readers
import timm
from documented import (
    CHECKING,
    INSTALLING,
    PAGES,
    ROOT,
    SCRIPTS,
    SERVER,
    by_themselves,
    in_turn,
    is_only_named,
    on_server,
    small,
)

from firstsight.cli.main import app
from firstsight.core.packages import has
from firstsight.encode import runtimes
from hub_server import Hub, connect, running
from programs import needs


@pytest.fixture(scope="module")
def given(swatches: Path, sure_model: Path, tiny: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of everything the docs speak of as the reader's own."""
    folder = tmp_path_factory.mktemp("readers")
    readers.fill(folder, swatches, sure_model, tiny)
    return folder


@pytest.fixture(scope="module")
def hub() -> Iterator[Hub]:
    with running() as hub:
        yield hub


@pytest.fixture
def home(
    tmp_path: Path,
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    tiny: dict[str, Any],
    hub: Hub,
) -> Path:
    """An empty folder in which the commands of the docs are run, small, with an empty hub."""
    connect(hub, tmp_path_factory.mktemp("hub"), monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)  # as `export PYTHONPATH=.` does
    readers.make_small(monkeypatch, tiny)
    return tmp_path


def provide(words: Sequence[str], given: Path, home: Path) -> None:
    """Put what a command is given where it looks for it, unless the reader has made it by now, or is about to."""
    if "unsure" in words:
        shutil.copy(given / "unsure.db", home / "moths.db")  # a register that can tell how sure it is
    flags = ("--out", "--register") if words[1] == "discover" else ("--out",)
    made = words[3:4] if words[1] == "pack" else [after for word, after in pairwise(words) if word in flags]
    wanted = {part for word in words[2:] if word not in made for part in word.split(",")} | {*readers.OWN}
    for path in sorted([*given.iterdir(), *given.glob("*/*")], reverse=True):
        name = str(path.relative_to(given))
        if (home / name).exists() or not any(word == name or word.startswith(f"{name}/") for word in wanted):
            continue
        (home / name).parent.mkdir(exist_ok=True)
        if path.suffix == ".db":
            shutil.copy(path, home / name)
        else:
            (home / name).symlink_to(path)
        if path.suffix == ".tar":
            (home / name).with_suffix(".json").symlink_to(path.with_suffix(".json"))


# constants of scripts that no flag changes
FEWER: dict[str, dict[str, Any]] = {
    "benchmarks/training.py": {
        "EPOCHS": 1,
        "CATEGORIES": 4,
        "_create": lambda name, size: timm.create_model("test_vit", num_classes=0),
        "subprocess": SimpleNamespace(run=lambda command, **_: app(command[3:], standalone_mode=False)),
    },
    "benchmarks/cores.py": {
        "cases": lambda: {"one thread, alone (the baseline)": SimpleNamespace(threads=None, neighbours=0)},
        "run": lambda *command, threads: app([*map(str, command)], standalone_mode=False),
        "_cpu_seconds": time.process_time,
    },
    "benchmarks/bulk.py": {"encode_by_ray": lambda *_, **__: 0, "ray": SimpleNamespace(shutdown=lambda: None)},
    "benchmarks/stages.py": {"SIDES": (300, 400), "SIZES": (5, 10)},
    "benchmarks/register.py": {"CATEGORIES": (10, 20), "CODES": 100, "STREAM": 100, "TRUE": 10},
    "benchmarks/store.py": {"CATEGORIES": 5},
    "reproductions/ablate.py": {"REPEATS": 1},
    "reproductions/small_supports.py": {"SIZES": [(2, 2), (4, 4)], "ProcessPoolExecutor": ThreadPoolExecutor},
}


def run(command: str, given: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run a command in this process: importing torch anew takes seconds. Whatever it says, it must not fail."""
    if command in INSTALLING:
        return
    if command.split()[0] in CHECKING:
        assert f"uv run --all-extras {command}" in (ROOT / ".ci" / "run").read_text()
        return
    words = on_server(small(command), home)
    if words[0] == "torchrun":  # tests/train has it start processes
        words = words[words.index("firstsight") :]
    provide(words, given, home)
    if words[0] == "firstsight":
        assert not app(words[1:], standalone_mode=False), command  # its exit code
        return
    assert words[0] == "python", command
    script = ROOT / words[1]
    if script.parent.name == "store":  # which says that what keeps a register never loads torch
        subprocess.run([sys.executable, script, *words[2:]], check=True)
        return
    if words[1] == "benchmarks/runtime.py":  # which names OpenVINO, that the tests hide
        monkeypatch.setattr(runtimes, "has", has)
    monkeypatch.syspath_prepend(script.parent)
    monkeypatch.setattr("sys.argv", words[1:])
    if words[1] in FEWER:
        spec = importlib.util.spec_from_file_location(f"{script.parent.name}_{script.stem}", script)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
        for name, value in FEWER[words[1]].items():
            assert hasattr(module, name), name
            setattr(module, name, value)
        module.main()
    else:
        runpy.run_path(str(script), run_name="__main__")


# tests/cli/test_fieldwork.py and tests/serve/test_documented_routes.py run these as they are: they name what was found
PLAYED = ("fieldwork", "service", *readers.IN_ORDER)
IN_TURN = [
    pytest.param(page, id=page.stem, marks=needs("initdb") if SERVER in page.read_text() else ())
    for page in PAGES
    if in_turn(page) and page.stem not in PLAYED
]
ALONE = sorted({each for path in [*PAGES, *SCRIPTS] for each in by_themselves(path) if not is_only_named(each)})


@pytest.mark.slow
@pytest.mark.parametrize("page", IN_TURN)
def test_the_commands_of_a_page_run_one_after_the_other(
    page: Path, given: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for command in in_turn(page):
        run(command, given, home, monkeypatch)


@pytest.mark.slow
@pytest.mark.parametrize("command", ALONE)
def test_a_command_that_stands_by_itself_runs(
    command: str, given: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(command, given, home, monkeypatch)


def test_commands_are_found_wherever_they_stand() -> None:
    """Of each kind one that has long been there: if none of it is found, nothing is tested."""
    found = [command for path in [*PAGES, *SCRIPTS] for command in [*in_turn(path), *by_themselves(path)]]
    for command in (
        "firstsight categories birds.db",  # in a block of the README
        "firstsight categories moths.db backup COPY.db",  # in running text
        "firstsight categories moths.db reconsider",  # in a block that is not for the shell
        "firstsight demo [--out DIR] [--serve]",  # in a table
        "python benchmarks/training.py --images 1500 --epochs 40 --baseline --whole",
        "python benchmarks/register.py",  # of a script's own docstring
        "ruff format --check",  # after &&
    ):
        assert command in found, command


def test_flags_stay_as_documented() -> None:
    for path in [*PAGES, *SCRIPTS]:
        for command in [*in_turn(path), *by_themselves(path)]:
            documented = [word for word in shlex.split(command.split(" | ")[0]) if word.startswith(("-", "[-"))]
            assert {word.strip("[]") for word in documented} <= set(small(command)), command
