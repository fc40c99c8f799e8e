"""Kill workers of a cluster that one process of ours has started, and nobody else's.

    uv run --all-extras python tests/scale/killing.py 8

`firstsight encode --engine ray` makes parts of many images with two workers. Whenever some parts are there, one of the
workers is killed with SIGKILL. In the end every part must equal, byte for byte, what one process makes by itself.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # where tests have it

IMAGES, PART = 2_000, 10


def kill_a_worker(root: int) -> int:
    """Kill one of the workers below a process; its number, 0 where there is none."""
    for about in Path("/proc").glob("[0-9]*/cmdline"):
        pid = int(about.parent.name)
        try:
            if b"MapWorker" in about.read_bytes() and root in _parents(pid):
                os.kill(pid, signal.SIGKILL)
                return pid
        except (OSError, ValueError, IndexError):  # it ended meanwhile
            continue
    return 0


def _parents(pid: int) -> list[int]:
    found = []
    while pid > 1:
        pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
        found.append(pid)
    return found


def main(kills: int) -> None:
    from swatches import COLOURS, new_model, write_swatches

    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model = new_model(folder)
        write_swatches(folder / "images", {each: each for each in COLOURS}, range(IMAGES // len(COLOURS)), size=64)
        command = [sys.executable, "-m", "firstsight", "encode", str(model), str(folder / "images")]
        command += ["--part", str(PART), "--exact", "--out"]
        subprocess.run([*command, str(folder / "here")], check=True)
        killed = _encode_and_kill([*command, str(folder / "there"), "--engine", "ray", "--workers", "2"], folder, kills)
        here, there = ({each.name: each.read_bytes() for each in (folder / at).iterdir()} for at in ("here", "there"))
        assert here == there, "a part differs, or is missing"
    took = time.monotonic() - began
    print(f"{killed} kills of workers in {took:.0f} s: {len(there) - 1} parts of {PART} images, equal to the byte")


def _encode_and_kill(command: list[str], folder: Path, kills: int) -> int:
    """Encode, and kill a worker after every few parts; how many were killed."""
    killed, parts = 0, IMAGES // PART
    environment = {**os.environ, "RAY_TMPDIR": "/tmp"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as encoding:  # Ray tells of each death
        while encoding.poll() is None:
            made = len(list((folder / "there").glob("part-*")))
            if killed < kills and made > killed * parts // (kills + 1) and kill_a_worker(encoding.pid):
                killed += 1
            time.sleep(0.02)
    assert encoding.returncode == 0, "it gave up"
    assert killed == kills, f"{killed} were killed before all was done"
    return killed


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 4)
