"""The notebooks run, as they stand and from anywhere; and they are kept with small outputs, of one whole run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tools.notebooks import LARGEST, NOTEBOOKS, ROOT, code, tidy

EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_three() -> None:
    assert [path.stem for path in NOTEBOOKS] == ["embeddings", "method", "photographs"]


@pytest.mark.slow
@EACH
def test_a_notebook_runs(path: Path, tmp_path: Path) -> None:
    script = tmp_path / f"{path.stem}.py"
    script.write_text(code(path), encoding="utf-8")
    quiet = {**os.environ, "FIRSTSIGHT_DEVICE": "cpu", "TMPDIR": str(tmp_path)}
    subprocess.run([sys.executable, script], cwd=tmp_path, env=quiet, check=True)


@EACH
def test_its_outputs_are_small_and_of_one_run(path: Path) -> None:
    assert path.stat().st_size < LARGEST
    notebook = json.loads(path.read_text(encoding="utf-8"))
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1)), "python -m tools.notebooks"
    assert [output["output_type"] for cell in cells for output in cell["outputs"] if "ename" in output] == []
    assert tidy(notebook) == path.read_text(encoding="utf-8"), "run: python -m tools.notebooks"


@EACH
def test_it_can_be_read(path: Path) -> None:
    """Lines as in the docs, and nothing that only this machine knows."""
    text = path.read_text(encoding="utf-8")
    sources = ["".join(cell["source"]) for cell in json.loads(text)["cells"]]
    assert max(len(line) for source in sources for line in source.splitlines()) <= 120
    assert str(ROOT) not in text
    assert "/tmp" not in text
