"""Several processes that train one model: the same steps as one process takes, one voice, one end."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import load_file
from together import adapted, steps

import firstsight
from firstsight.core.errors import DeviceError
from firstsight.data.folder import read_folder
from firstsight.data.synthetic import species, write_folder
from firstsight.train import processes
from firstsight.train.processes import Group, joined
from firstsight.train.sharing import share

HERE = Path(__file__).parent
TORCHRUN = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
ENDED = "training has ended: one of its processes is gone"


@given(st.integers(1, 20), st.integers(2, 5))
def test_shares_are_as_large_for_all_and_make_up_the_whole(items: int, count: int) -> None:
    whole, before = torch.arange(items), processes._now
    try:
        shares = []
        for rank in range(count):
            processes._now = Group(rank, count)
            shares.append(share(whole))
    finally:
        processes._now = before
    assert len({len(each) for each in shares}) == 1
    assert torch.equal(torch.cat(shares)[:items], whole)


@pytest.mark.parametrize("device", ["cuda:0", "mps", "cuda"])
def test_every_process_has_a_device_of_its_own_or_is_told_why_not(device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    places = {"TORCHELASTIC_RUN_ID": "x", "WORLD_SIZE": "99", "LOCAL_WORLD_SIZE": "99", "LOCAL_RANK": "0", "RANK": "0"}
    for name, value in places.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(DeviceError, match="99 processes"), joined(device):
        pass


@pytest.mark.slow
def test_two_processes_take_the_steps_of_one(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    """Losses, gradients and the statistics of BatchNorm, of every method that trains; and an adapted backbone."""
    (tmp_path / "tiny.json").write_text(json.dumps(tiny))
    write_folder(tmp_path / "eight", species(8), range(4), size=64)
    places = [moths / "support", tmp_path / "eight", tmp_path / "tiny.json", tmp_path / "two.safetensors"]
    subprocess.run([*TORCHRUN, str(HERE / "together.py"), *map(str, places)], check=True)
    two, one = load_file(places[-1]), steps(read_folder(moths / "support"), tiny) | adapted(tmp_path / "eight", tiny)
    assert two.keys() == one.keys()
    assert {name.split(",")[0] for name in one} > {"phe", "simgcd", "smile", "talon", "adaptation"}
    assert all(value > 0 for name, value in one.items() if name.endswith("loss total"))
    for name, value in one.items():
        scale = max(1.0, float(value.abs().max())) * (10 if name.startswith("adapted") else 1)  # after many steps
        assert float((two[name] - value).abs().max()) <= 1e-5 * scale, name


def words(tiny: dict[str, Any], moths: Path, out: Path, **changes: Any) -> list[str]:
    """What follows `firstsight`, to fit."""
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in {**tiny, **changes}.items()]
    return ["fit", str(moths / "support"), "--out", str(out), "--device=cpu", *flags]


@pytest.mark.slow
def test_killed_among_two_and_resumed_alone_it_is_the_same_run(
    moths: Path, tiny: dict[str, Any], tmp_path: Path
) -> None:
    changes = {"epochs": 40, "batch_size": 7, "ema": 0.9}
    command = [*TORCHRUN, "-m", "firstsight", *words(tiny, moths, tmp_path / "m", **changes), "--checkpoint-every=0"]
    process = subprocess.Popen([*command, "--no-repair"], stderr=subprocess.PIPE, text=True)
    begun = tmp_path / "m.training" / "metrics.jsonl"
    while process.poll() is None and not (begun.exists() and begun.read_text().count("\n") >= 5):
        time.sleep(0.002)
    os.kill(child_of(process.pid, rank=1), signal.SIGKILL)
    said = process.communicate()[1]  # nobody hangs
    assert process.returncode
    assert said.count(ENDED) == 1, said

    settings = {**tiny, **changes, "repair": False}
    firstsight.fit(moths / "support", tmp_path / "m", device="cpu", resume=True, **settings)
    firstsight.fit(moths / "support", tmp_path / "whole", device="cpu", **settings)
    one, other = (
        [json.loads(line) for line in (tmp_path / name / "metrics.jsonl").read_text().splitlines()]
        for name in ("m", "whole")
    )
    assert [line["epoch"] for line in one] == list(range(1, 41))
    for mine, theirs in zip(one, other, strict=True):
        assert mine["total"] == pytest.approx(theirs["total"], rel=1e-4), mine["epoch"]


def child_of(parent: int, rank: int) -> int:
    """The process that torchrun started with this number."""
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                its_parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
                if its_parent == parent and f"RANK={rank}".encode() in (folder / "environ").read_bytes().split(b"\0"):
                    return int(folder.name)
            except (OSError, ProcessLookupError):
                continue
    raise AssertionError(f"torchrun has no process {rank}")


BROKEN = """
import os
from firstsight.core.errors import DataError
from firstsight.train import loop

def broken(*_):
    raise DataError("process 1 has no luck", "try again")

if os.environ["RANK"] == "1":
    loop.alike = broken
from firstsight.cli.main import run
run()
"""


@pytest.mark.slow
def test_an_error_of_one_process_is_said_once_and_ends_all(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(BROKEN)
    command = [*TORCHRUN, str(tmp_path / "broken.py"), *words(tiny, moths, tmp_path / "m")]
    ended = subprocess.run(command, stderr=subprocess.PIPE, text=True, check=False)
    assert ended.returncode
    assert ended.stderr.count("process 1 has no luck") == 1
    assert ENDED not in ended.stderr
    assert not list(tmp_path.glob("m*"))
