"""Runs the notebooks and keeps what they printed and drew: `python -m tools.notebooks [NAME...]`.

Their outputs are committed, small, so that a reader sees them before running anything. A test runs the code.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
LARGEST = 200_000  # bytes of a notebook with its outputs
METADATA = {"kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"}}
# of an output that comes in several forms, the first of these
FORMS = ("image/jpeg", "image/png", "text/plain")


def run(path: Path) -> None:
    """Run a notebook in a kernel of this environment, and write it with its outputs."""
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=600, resources={"metadata": {"path": str(ROOT)}}).execute()
    path.write_text(tidy(json.loads(nbformat.writes(notebook))), encoding="utf-8")


def tidy(notebook: Mapping[str, Any]) -> str:
    """A notebook's file without what differs from run to run: times, identifiers, warnings, further forms."""
    cells = [_tidied(number, cell) for number, cell in enumerate(notebook["cells"], start=1)]
    content = {"cells": cells, "metadata": METADATA, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _tidied(number: int, cell: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"cell_type": cell["cell_type"], "id": f"cell-{number}", "metadata": {}, "source": cell["source"]}
    if cell["cell_type"] == "code":
        shown = [_one_form(each) for each in cell["outputs"] if each.get("name") != "stderr"]
        kept |= {"execution_count": cell["execution_count"], "outputs": _joined(shown)}
    return kept


def _joined(outputs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was printed line by line, as one."""
    kept: list[dict[str, Any]] = []
    for output in outputs:
        if kept and kept[-1].get("name") == output.get("name") == "stdout":
            kept[-1]["text"] = [*kept[-1]["text"], *output["text"]]
        else:
            kept.append(output)
    return kept


def _one_form(output: Mapping[str, Any]) -> dict[str, Any]:
    if "data" not in output:
        return dict(output)
    form = next(form for form in FORMS if form in output["data"])
    return {**output, "data": {form: output["data"][form]}, "metadata": {}}


def code(path: Path) -> str:
    """All code of a notebook, as a script."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return "\n\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")


def main() -> None:
    for path in [path for path in NOTEBOOKS if not sys.argv[1:] or path.stem in sys.argv[1:]]:
        run(path)
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
