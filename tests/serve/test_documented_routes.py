"""docs/service.md: every route has a line for curl that works, and every flag of the command is told."""

from __future__ import annotations

import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import typer
from fastapi.testclient import TestClient
from served import behind_a_socket, jpeg, running

from firstsight.cli.main import app as commands
from firstsight.model.model import Model
from firstsight.serve.uploads import Upload
from programs import needs

PAGE = Path(__file__).parents[2] / "docs" / "service.md"
BLOCKS = re.findall(r"^```sh\n(.*?)^```", PAGE.read_text(), flags=re.DOTALL | re.MULTILINE)
LINES = [line for block in BLOCKS for line in block.splitlines()]
CURLS = [line for line in LINES if line.startswith("curl")]
ADDRESS = "http://127.0.0.1:8000"
# what a register of codes cannot tell, what plain colours never need, and what is begun
REFUSED = {"/api/unsure": "409", "/api/categories/new-1/split": "409", "/api/map": "202", "/api/map/layout": "202"}


def asked(line: str) -> tuple[str, str]:
    """The method and the path of a line for curl."""
    words = shlex.split(line)
    (address,) = [word for word in words if word.startswith(ADDRESS)]
    sends = any(word in words for word in ("-F", "--json", "--data-binary", "-X"))
    return "post" if sends else "get", address.removeprefix(ADDRESS).partition("?")[0]


def test_every_route_has_a_line(client: TestClient) -> None:
    shown = [asked(line) for line in CURLS]
    for path, methods in client.get("/api/openapi.json").json()["paths"].items():
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
        for method in methods:
            assert any(pattern.fullmatch(there) for by, there in shown if by == method), f"{method} {path}"


def test_every_line_is_of_a_route(client: TestClient) -> None:
    paths = client.get("/api/openapi.json").json()["paths"]
    for method, there in map(asked, CURLS):
        known = (p for p, methods in paths.items() if method in methods)
        assert any(re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", path), there) for path in known), (method, there)


def test_every_flag_of_the_command_is_told() -> None:
    command: Any = typer.main.get_command(commands)
    flags = {flag for parameter in command.commands["serve"].params for flag in parameter.opts if flag[:2] == "--"}
    told = set(re.findall(r"`(--[\w-]+)`", PAGE.read_text().partition("## The pages")[0]))
    assert flags - {"--help"} <= told
    assert told <= flags


@pytest.mark.slow
@needs("curl")
def test_the_lines_run_one_after_the_other(colours: Model, tmp_path: Path) -> None:
    for name, colour in {"moth1": "white", "moth2": "yellow", "moth3": "red"}.items():
        (tmp_path / f"{name}.jpg").write_bytes(jpeg(colour))
    np.save(tmp_path / "features.npy", colours.encode([colours.prepare(jpeg("magenta"))]))
    assert LINES[0].startswith("firstsight serve ")
    with running(colours, tmp_path / "moths.db") as service, behind_a_socket(service) as address:
        for shade in range(3):
            both = [Upload(f"{colour}.jpg", jpeg(colour, 10 + shade)) for colour in ("white", "yellow")]
            service.discover(both)[1].result()
        for line in CURLS:
            words = shlex.split(line.replace(ADDRESS, address))
            got = subprocess.run(
                [*words, "--silent", "--show-error", "-w", "\n%{http_code}"],
                cwd=tmp_path,
                capture_output=True,
                text=True,
            )
            expected = REFUSED.get(asked(line)[1], "200")
            assert got.stdout.rpartition("\n")[2] == expected, f"{line}\n{got.stdout[-500:]}{got.stderr}"
    assert "event: Assigned" in got.stdout or list(tmp_path.glob("*.zip"))
