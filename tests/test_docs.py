"""The docs say what the code does: their code runs, their tables are generated, their tests exist."""

from __future__ import annotations

import os
import re
import shlex
from math import comb
from pathlib import Path
from typing import Any

import pytest
import typer

import firstsight
from firstsight.checks import check_discoverer
from firstsight.cli.main import app
from firstsight.cli.methods import HEADER, cells
from firstsight.core.errors import (
    DataError,
    DeviceError,
    DiskError,
    ModelError,
    ProcessDied,
    SettingsError,
    StoreError,
    TrainingError,
)
from firstsight.core.settings import SPECS
from firstsight.data.synthetic import species, write_folder
from firstsight.methods.catalogue import METHODS
from firstsight.reproduce.tables import csv, lines, read_results
from firstsight.store.store import Store
from swatches import COLOURS, write_swatches

ROOT = Path(__file__).parents[1]
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
COMMANDS: dict[str, Any] = typer.main.get_command(app).commands  # type: ignore[attr-defined]


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", path.read_text(), flags=re.DOTALL)


def test_the_readmes_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    guide = species(4)
    write_folder(Path("birds/train"), guide[:2], range(3))
    write_folder(Path("drawn"), guide[2:], range(1))
    Path("birds/new").mkdir()
    for number, path in enumerate(sorted(Path("drawn").rglob("*.jpg")), start=1):
        path.rename(f"birds/new/{number}.jpg")
    for block in blocks(ROOT / "README.md", "python"):
        exec(compile(block, "README.md", "exec"), {})
    assert (tmp_path / "my.model" / "README.md").is_file()


def test_the_tutorials_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, model_folder: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moths.model").symlink_to(model_folder, target_is_directory=True)
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "docs" / "tutorial.md", "python"):
        exec(
            compile(block.replace("range(20)", "range(1)").replace("range(20, 30)", "range(1, 2)"), "tutorial", "exec"),
            names,
        )
    assert names["answer"].category is not None


def run_line(line: str) -> None:
    """Run a command of the docs in this process; whatever it says, it must not fail."""
    app(shlex.split(line)[1:], standalone_mode=False)


def test_the_how_to_on_registers_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sure_model: Path) -> None:
    """Discover a folder, merge two categories, move an image, undo, close, reopen: all as it was left."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moths.model").symlink_to(sure_model, target_is_directory=True)
    names = sorted(each.name for each in species(24))[: len(COLOURS)]
    write_swatches(Path("moths/labelled"), dict(zip(COLOURS, names, strict=True)), range(20, 23))
    page = ROOT / "docs" / "register.md"
    discover, correct, undo, back = (part for part in blocks(page, "sh") if "--once" not in part)
    for line in [*discover.splitlines(), *correct.splitlines()]:
        run_line(line)
    with Store.open("moths.db", write=False) as store:
        left = store.view().catalogue.state()
        pale, grey = store.view().catalogue.find("Pale moth"), store.view().catalogue.find("new-2")
        assert grey is not None
        assert grey.id == "new-1"
        assert pale is not None
        assert len(store.view().catalogue.images(pale.id)) == 2
        assert len(store.view().catalogue.images("new-1")) == 6 + 3 + 1  # magenta and red, white, the moved one
        assert len(store.view().catalogue.numbers) == 24
    for line in undo.splitlines():
        run_line(line)
    run_line(next(part for part in blocks(page, "sh") if "--once" in part))
    for line in back.splitlines():
        run_line(line)
    with Store.open("moths.db", write=False) as store:
        now = store.view().catalogue.state()
        history = {"last": 0, "undone": [], "edits": []}
        assert {**now, **history} == {**left, **history}
    assert Path("moths.csv").read_text().count("\n") == 25
    assert len(list(Path("moths-by-category/Pale moth").iterdir())) == 2
    for block in blocks(page, "python"):
        exec(compile(block, "register.md", "exec"), {})


def test_the_method_in_the_docs_keeps_the_contract(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moths: Path, tiny: dict[str, Any]
) -> None:
    (example,) = blocks(ROOT / "docs" / "methods.md", "python")
    assert len(example.splitlines()) <= 45
    (tmp_path / "mine.py").write_text(example)
    monkeypatch.syspath_prepend(tmp_path)
    model = firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **{**tiny, "method": "mine:Directions"})
    model.exact = True
    images = sorted((moths / "stream").rglob("*.jpg"))[::3]
    check_discoverer(lambda: firstsight.Discoverer(model), images)
    assert firstsight.load(tmp_path / "m", device="cpu", trust=True).register().header() == model.register().header()


def flags_of(words: list[str]) -> tuple[Any, set[str]]:
    """The command a line of the docs means, and the flags it takes, those of its group included."""
    command, flags = COMMANDS[words[0]], set[str]()
    for word in [*words[1:], None]:
        flags |= {flag for p in command.params for flag in [*p.opts, *p.secondary_opts]}
        if word in getattr(command, "commands", {}):
            command = command.commands[word]
    return command, flags


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_commands_and_flags_in_the_docs_exist(path: Path) -> None:
    for line in re.findall(
        r"^(?:.*&& )?(?:uv run (?:--\S+ lite2 )?)?firstsight (.+)$", "\n".join(blocks(path, "sh")), re.MULTILINE
    ):
        words = shlex.split(line)
        assert words[0] in COMMANDS, line
        assert {word for word in words if word.startswith("-")} <= flags_of(words)[1], line


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_no_figure_waits_to_be_filled_in(path: Path) -> None:
    assert re.findall(r"\b(?:COMMIT|TODO|[A-Z]+_TABLE|CRASH)\b", path.read_text()) == []


@pytest.mark.parametrize("path", DOCS, ids=lambda path: path.name)
def test_links_lead_somewhere(path: Path) -> None:
    for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
        assert target.startswith("http") or (path.parent / target).exists(), target


def test_every_deviation_names_a_test_that_exists() -> None:
    text = (ROOT / "docs" / "deviations.md").read_text()
    rows = re.findall(r"^\| (\d+) \|(.*)\|$", text, flags=re.MULTILINE)
    assert [int(number) for number, _ in rows] == list(range(1, 26))
    for number, row in rows:
        named = re.search(r"`([\w/]+\.py)::(\w+)`", row)
        if named is None:
            assert "not code" in row, number
            continue
        assert f"def {named[2]}(" in (ROOT / "tests" / named[1]).read_text(), named[0]


def test_rankstat_has_4960_descriptors() -> None:
    assert comb(32, 3) == 4960


def test_exit_codes_are_documented() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    for error in (SettingsError, DataError, ModelError, DeviceError, DiskError, TrainingError, StoreError, ProcessDied):
        assert f"| {error.exit_code} | " in text


# docs/reference.md: tables written from the code


def settings_table() -> str:
    rows = [f"| `{s.name}` | {s.default} | {s.allowed} | {s.help} |" for s in SPECS.values()]
    return "\n".join(["| setting | default | allowed | what it is |", "|---|---|---|---|", *rows])


def all_commands() -> list[tuple[str, Any]]:
    """Every command by its full name, those inside groups included."""
    inner = [
        (f"{name} {sub}", c) for name, group in COMMANDS.items() for sub, c in getattr(group, "commands", {}).items()
    ]
    return [*COMMANDS.items(), *inner]


def options_table() -> str:
    rows = []
    for name, command in all_commands():
        for parameter in command.params:
            a_setting = name in ("fit", "benchmark", "reproduce") and parameter.name in SPECS
            if parameter.param_type_name == "option" and not a_setting and "--help" not in parameter.opts:
                rows.append(f"| `{name}` | `{', '.join(parameter.opts)}` | {parameter.help} |")
    return "\n".join(["| command | option | what it does |", "|---|---|---|", *rows])


def test_every_command_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    assert [name for name, _ in all_commands() if f"`firstsight {name.split()[0]}" not in text] == []
    assert [name for name, _ in all_commands() if " " in name and f"`{name.split()[1]}" not in text] == []


def methods_table() -> str:
    rows = [f"| `{name}` | " + " | ".join(cells(method)[1:]) + " |" for name, method in METHODS.items()]
    return "\n".join([f"| {' | '.join(HEADER)} |", "|" + "---|" * len(HEADER), *rows])


RUNS = ROOT / "reproductions" / "results" / "benchmark"


def half_known(data: str) -> list[dict[str, Any]]:
    """The runs under the usual split."""
    return [result for result in read_results(RUNS, data) if result["known_share"] == 50]


def results_table(data: str, longer: bool) -> str:
    """A row for every method: the headline of random orders, and All of what stands beside it.

    Codes of 12 bits with the methods that have no codes, best first; or all longer codes, by method.
    """
    found = {(line.bits, line.method, line.order): line for line in lines(half_known(data))}
    heads = [
        line
        for (bits, method, order), line in found.items()
        if (bits not in (12, None)) == longer and order in ("random", "any") and ", " not in method
    ]
    rows = []
    for line in heads if longer else sorted(heads, key=lambda line: -line.means[0]):
        _, bits, method, _, *figures, categories, runs, paper = line.cells()
        others = [(method, "fixed"), (method, "bursty"), (f"{method}, reference rule", "random")]
        others += [(f"{method}, closed-set", "any"), (f"{method}, offline k-means", "any")]
        beside = [f"{found[key].means[0]:.1f}" if (key := (line.bits, *other)) in found else "" for other in others]
        rows.append([method, bits, *figures, categories, *beside, runs, paper])
    header = ["method", "bits", "All", "Old", "New", "found / true", "fixed", "bursty", "reference rule", "closed set"]
    header += ["k-means", "seeds", "paper's All/Old/New"]
    return "\n".join(f"| {' | '.join(row)} |" for row in [header, ["---"] * len(header), *rows])


def short_table() -> str:
    """Of the same runs, what the README shows: 12 bits, random orders, the headline."""
    found = [line for data in ("cub", "pets") for line in lines(half_known(data), ["random"])]
    wanted = ["firstsight", "online-clustering", "age", "talon-p", "phe", "phe, closed-set", "phe-paper", "smile"]
    wanted += ["mdsh-ball", "simgcd", "slc", "ncm", "closed-set-ce", "offline-kmeans"]
    shown = [line for line in found if line.bits in (12, None) and line.method in wanted]
    rows = [f"| {c[0]} | {c[2]} | {c[4]} | {c[5]} | {c[6]} | {c[7]} |" for c in (line.cells() for line in shown)]
    return "\n".join(
        ["| data | method | All | Old | New | categories found / true |", "|---|---|---|---|---|---|", *rows]
    )


@pytest.mark.parametrize("data", ["cub", "pets"])
def test_the_table_of_everything_is_up_to_date(data: str) -> None:
    path, fresh = RUNS.parent / f"{data}.csv", csv(lines(read_results(RUNS, data)))
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(fresh)
    assert fresh == path.read_text()


@pytest.mark.parametrize(
    ("page", "name", "table"),
    [
        ("docs/reference.md", "settings", settings_table()),
        ("docs/reference.md", "options", options_table()),
        ("docs/methods.md", "methods", methods_table()),
        ("docs/results.md", "cub", results_table("cub", longer=False)),
        ("docs/results.md", "pets", results_table("pets", longer=False)),
        ("docs/results.md", "cub-longer", results_table("cub", longer=True)),
        ("docs/results.md", "pets-longer", results_table("pets", longer=True)),
        ("README.md", "results", short_table()),
    ],
)
def test_generated_tables_are_up_to_date(page: str, name: str, table: str) -> None:
    path = ROOT / page
    pattern = re.compile(rf"(<!-- {name}: begin .*? -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    text = path.read_text()
    fresh = pattern.sub(lambda match: f"{match[1]}{table}\n{match[2]}", text)
    if os.environ.get("UPDATE_DOCS"):
        path.write_text(fresh)
    assert fresh == path.read_text()
