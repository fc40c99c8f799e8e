"""The docs say what the code does: their code runs, what they name exists."""

from __future__ import annotations

import re
import shlex
from math import comb
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firstsight
from firstsight.checks import check_discoverer
from firstsight.cli.main import app
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
from firstsight.data.synthetic import species, write_folder
from firstsight.methods.catalogue import method
from firstsight.store.store import Store
from swatches import COLOURS, KNOWN, write_swatches
from tools.docs.reference import COMMANDS, all_commands

ROOT = Path(__file__).parents[1]
DOCS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


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


def test_the_page_on_embeddings_runs() -> None:
    names: dict[str, Any] = {}
    for block in blocks(ROOT / "docs" / "embeddings.md", "python"):
        exec(compile(block, "embeddings.md", "exec"), names)
    assert names["found"].min() >= 0
    assert 99 in names["discoverer"].classes_


def run_line(line: str) -> None:
    """Run a command of the docs in this process; whatever it says, it must not fail."""
    app(shlex.split(line)[1:], standalone_mode=False)


def test_the_how_to_on_registers_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sure_model: Path) -> None:
    """Discover a folder, merge two categories, move an image, undo, close, reopen: all as it was left."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moths.model").symlink_to(sure_model, target_is_directory=True)
    names = sorted(each.name for each in species(24))[: len(COLOURS)]
    write_swatches(Path("moths/labelled"), dict(zip(COLOURS, names, strict=True)), range(20, 23))
    write_swatches(Path("moths/train"), dict.fromkeys(KNOWN[:1], KNOWN[0]) | {"yellow": "Lemon moth"}, range(2))
    page = ROOT / "docs" / "register.md"
    discover, once, correct, said, junk, splits, undo, back, relocate = blocks(page, "sh")
    for line in [*discover.splitlines(), *correct.splitlines()]:
        run_line(line)
    with Store.open("moths.db", write=False) as store:
        pale, grey = store.view().catalogue.find("Pale moth"), store.view().catalogue.find("new-2")
        assert grey is not None
        assert grey.id == "new-1"
        assert pale is not None
        assert len(store.view().catalogue.images(pale.id)) == 2
        assert len(store.view().catalogue.images("new-1")) == 6 + 3 + 1  # magenta and red, white, the moved one
        assert len(store.view().catalogue.numbers) == 24
    for line in [*said.splitlines(), *junk.splitlines(), *splits.splitlines()]:
        run_line(line)
    with Store.open("moths.db", write=False) as store:
        left = store.view().catalogue.state()
        assert {store.view().category(name).known for name in ("ash moth", "lemon moth")} == {True}
        assert store.view().catalogue.discarded_images == 1
    for line in [*undo.splitlines(), *once.splitlines(), *back.splitlines(), *relocate.splitlines()]:
        run_line(line)
    with Store.open("moths.db", write=False) as store:
        now = store.view().catalogue.state()
        history = {"last": 0, "undone": [], "edits": [], "authored": []}
        assert {**now, **history} == {**left, **history}
    assert Path("moths.csv").read_text().count("\n") == 1 + 24 + 4 - 1  # those taught, and the one discarded
    assert len(list(Path("moths-by-category/Pale moth").iterdir())) == 1
    for block in blocks(page, "python"):
        exec(compile(block, "register.md", "exec"), {})


def test_the_how_to_on_photographs_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sure_model: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "moths.model").symlink_to(sure_model, target_is_directory=True)
    write_swatches(Path("moths/labelled"), {"white": "Belana fusatea"}, range(20, 21))
    for block in blocks(ROOT / "docs" / "photographs.md", "python"):
        exec(compile(block, "photographs.md", "exec"), {})
    assert "the part of the photograph" in Path("found.csv").read_text()
    with Store.open("moths.db", write=False) as store:
        assert store.view().assigned(store.view().images()[0]).forgotten


@pytest.mark.parametrize(("place", "name"), [(0, "mine:Centred"), (1, "learned:Directions")])
def test_the_methods_in_the_docs_keep_the_contract(
    place: int, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moths: Path, tiny: dict[str, Any]
) -> None:
    example = blocks(ROOT / "docs" / "methods.md", "python")[place]
    assert len(example.splitlines()) <= 45
    (tmp_path / f"{name.split(':')[0]}.py").write_text(example)
    monkeypatch.syspath_prepend(tmp_path)
    own = {key: value for key, value in tiny.items() if method(name).has(key)}
    model = firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **{**own, "method": name})
    model.image_encoder.exact = True
    images = sorted((moths / "stream").rglob("*.jpg"))[::3]
    check_discoverer(lambda: firstsight.Discoverer(model), images)
    assert firstsight.load(tmp_path / "m", device="cpu", trust=True).register().header() == model.register().header()


def test_the_decision_in_the_docs_takes_features(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.py").write_text(blocks(ROOT / "docs" / "methods.md", "python")[0])
    monkeypatch.syspath_prepend(tmp_path)
    features = np.repeat(np.eye(3, 8, dtype=np.float32), 4, axis=0)
    model = firstsight.fit_features(features[:8], ["ant"] * 4 + ["bee"] * 4, method="mine:Centred", inside=0.8)
    answers = list(firstsight.Discoverer(model).discover_many([features[0], features[4], features[8], features[9]]))
    assert [answer.category for answer in answers] == ["ant", "bee", "new-1", "new-1"]


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
    assert [int(number) for number, _ in rows] == list(range(1, 27))
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


def test_every_command_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    assert [name for name, _ in all_commands() if f"`firstsight {name.split()[0]}" not in text] == []
    assert [name for name, _ in all_commands() if " " in name and f"`{name.split()[1]}" not in text] == []


def test_every_public_name_is_in_the_reference() -> None:
    text = (ROOT / "docs" / "reference.md").read_text()
    assert [name for name in firstsight.__all__ if name != "__version__" and f"`firstsight.{name}" not in text] == []
