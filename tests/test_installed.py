"""Firstsight as others install it: an sdist, and its wheel in an empty environment with nothing of this tree."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

import firstsight
from firstsight.discoverer import Discoverer
from firstsight.model.export import export_model
from firstsight.model.model import Model
from programs import needs

ROOT = Path(__file__).parents[1]
OWN = (".venv/pyvenv.cfg", "data/birds/1.jpg", "runs/log.jsonl", "uv.lock", "notes.txt")  # what people have lying there


def run(*command: str | Path, cwd: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def files(folder: Path) -> set[str]:
    """What lies in a folder, without what Python leaves there."""
    found = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    return {str(path) for path in found if "__pycache__" not in path.parts}


def built(project: Path, out: Path) -> tuple[Path, Path]:
    """The sdist of a project, and the wheel that is made of nothing but that."""
    run("uv", "build", "--quiet", "--out-dir", out, project, cwd=out)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


def packed(sdist: Path) -> set[str]:
    """What an sdist holds, without its own name before it and without what the build adds."""
    with tarfile.open(sdist) as archive:
        return {name.partition("/")[2] for name in archive.getnames()} - {"PKG-INFO"}


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working tree as people have it: with data of their own, an environment, and notes."""
    folder = tmp_path_factory.mktemp("tree")
    target = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["sdist"]
    for name in ("pyproject.toml", ".gitignore", *target["only-include"]):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, folder / name)
    for name in OWN:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("not for others")
    return folder


@pytest.fixture(scope="module")
def distribution(tree: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return built(tree, tmp_path_factory.mktemp("built"))


@pytest.mark.slow
@needs("uv")
def test_the_sdist_holds_the_source_and_nothing_of_ones_own(tree: Path, distribution: tuple[Path, Path]) -> None:
    assert packed(distribution[0]) == files(tree) - set(OWN)


@pytest.mark.slow
@needs("uv")
def test_the_wheel_holds_the_package_and_no_more(distribution: tuple[Path, Path]) -> None:
    held = {name for name in zipfile.ZipFile(distribution[1]).namelist() if ".dist-info/" not in name}
    assert held == {f"firstsight/{name}" for name in files(ROOT / "src" / "firstsight")}


@pytest.mark.slow
@needs("uv")
def test_a_clean_installation_answers(distribution: tuple[Path, Path], tmp_path: Path) -> None:
    """The demo, from moths to its page, with what the wheel of the sdist brings and nothing else."""
    python = tmp_path / "clean" / "bin" / "python"
    run("uv", "venv", "--quiet", "clean", cwd=tmp_path)
    pins = ROOT / "constraints.txt"
    run("uv", "pip", "install", "--quiet", "--python", python, "-c", pins, f"{distribution[1]}[lite2]", cwd=tmp_path)
    assert "efficientnet-lite2" in run(python.with_name("firstsight"), "doctor", cwd=tmp_path)
    script = "from firstsight.cli import demo; demo.SPECIES, demo.SUPPORT, demo.STREAM = 4, 3, 1; demo.demo()"
    run(python, "-c", script, cwd=tmp_path)
    assert list(tmp_path.glob("*/report.html"))


@pytest.mark.slow
@needs("uv")
def test_the_small_installation_answers_as_the_full_one(swatches: Path, tmp_path: Path) -> None:
    """firstsight-core, without torch, SciPy and scikit-learn: an exported model discovers and explains its stream."""
    pytest.importorskip("openvino")
    pytest.importorskip("onnx")
    made = small_model(swatches / "support", tmp_path)
    export_model(made, tmp_path / "m.light")
    sdist, core = built(ROOT / "packaging" / "core", tmp_path)
    source = {f"src/firstsight/{name}" for name in files(ROOT / "src" / "firstsight")}
    assert packed(sdist) == {"pyproject.toml", "hatch_build.py", ".gitignore", "LICENSE", "NOTICE", *source}
    python = tmp_path / "clean" / "bin" / "python"
    run("uv", "venv", "--quiet", "clean", cwd=tmp_path)
    run("uv", "pip", "install", "--quiet", "--python", python, "-c", ROOT / "constraints.txt", core, cwd=tmp_path)
    script = "import importlib.util as u; print([p for p in ('torch', 'scipy', 'sklearn') if u.find_spec(p)])"
    assert run(python, "-c", script, cwd=tmp_path).strip() == "[]"
    size = sum(path.lstat().st_size for path in (tmp_path / "clean").rglob("*") if path.is_file())
    assert size < 350e6
    command = python.with_name("firstsight")
    told = run(command, "discover", "m.light", swatches / "stream", "--json", cwd=tmp_path).splitlines()
    images = sorted((swatches / "stream").rglob("*.jpg"))
    expected = [each.category for each in Discoverer(made).discover_many(images)]
    assert [json.loads(line)["category"] for line in told] == expected
    assert run(command, "explain", "m.light", images[0], "--out", "why.html", cwd=tmp_path)
    assert "exported models only" in run(command, "doctor", cwd=tmp_path)


def small_model(support: Path, folder: Path) -> Model:
    import timm
    from safetensors.torch import save_file

    weights = folder / "weights.safetensors"
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), weights)
    return firstsight.fit(support, device="torch", backbone="test_resnet", weights=str(weights), image_size=64)
