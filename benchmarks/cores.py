"""What threads cost: `fit` and `benchmark` alone, beside busy processes, and with more threads than cores.

    uv run --all-extras python benchmarks/cores.py

Everything is a ratio to the baseline of the same run: one thread (OMP_NUM_THREADS=1), nobody else at work. A busy
neighbour is a process per core that does nothing but count. Seconds on the clock are the user's, and depend on what
else the machine does; CPU-seconds are all the processes of a command take together, and tell waiting awake from work.
Further words, such as `--image-size 128`, are settings of every training.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from common import keep, show
from firstsight.core.threads import cores
from firstsight.data.synthetic import known_and_new, species, write_folder

BASELINE = "one thread, alone (the baseline)"
COUNTING = "import time\nend = time.monotonic() + 600\nwhile time.monotonic() < end: pass"


@dataclass(frozen=True)
class Case:
    """Around a command: how many threads OMP_NUM_THREADS says, if it says any, and how many neighbours count."""

    threads: int | None = None
    neighbours: int = 0


@dataclass(frozen=True)
class Cost:
    seconds: float
    cpu_seconds: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=int, default=5, help="of each of 12 known categories")
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--methods", default="phe,ncm")
    parser.add_argument("--jobs", default="1,4")
    parser.add_argument("--json", type=Path)
    options, settings = parser.parse_known_args()
    settings += ["--backbone", options.backbone, "--device", options.device]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        guide = species(24)
        write_folder(folder / "support", known_and_new(guide)[0], range(options.images), size=224)
        write_folder(folder / "all", guide, range(options.images), size=224)
        commands = commands_of(folder, settings, options)
        figures = {what: costs(what, command) for what, command in commands.items()}
    keep(options.json, options.device, {"cores": cores(), "costs": figures})


def commands_of(folder: Path, settings: Sequence[str], options: argparse.Namespace) -> dict[str, list[str | Path]]:
    """What is measured; NEW stands for a place that is not there yet."""
    table = ["--data", "folder", "--root", folder / "all", "--stratified", "--methods", options.methods, "--seeds", "1"]
    table += ["--orders", "5", "--epochs", "2", "--cache-trunk", "1", "--out", "NEW", *settings]
    return {
        "fit": ["fit", folder / "support", "--out", "NEW", *settings],
        **{f"benchmark --jobs {jobs}": ["benchmark", *table, "--jobs", jobs] for jobs in options.jobs.split(",")},
    }


def cases() -> dict[str, Case]:
    return {
        BASELINE: Case(threads=1),
        "as it comes, alone": Case(),
        "as it comes, a busy neighbour per core": Case(neighbours=cores()),
        "one thread, a busy neighbour per core": Case(threads=1, neighbours=cores()),
        "OMP_NUM_THREADS = cores": Case(threads=cores()),
        "OMP_NUM_THREADS = 8 x cores": Case(threads=8 * cores()),
    }


def costs(what: str, command: Sequence[str | Path]) -> dict[str, dict[str, float]]:
    """What a command costs in every case, printed as ratios to the baseline."""
    found = {name: measured(command, case) for name, case in cases().items()}
    base = found[BASELINE]
    rows = [
        [
            name,
            f"{cost.seconds:.1f}",
            f"{cost.cpu_seconds:.1f}",
            f"{cost.seconds / base.seconds:.2f}",
            f"{cost.cpu_seconds / base.cpu_seconds:.2f}",
        ]
        for name, cost in found.items()
    ]
    show(f"{what}, {cores()} cores", ["", "seconds", "CPU-seconds", "seconds / baseline", "CPU / baseline"], rows)
    return {name: asdict(cost) for name, cost in found.items()}


def measured(command: Sequence[str | Path], case: Case) -> Cost:
    """The seconds a command takes, on the clock and of all cores together."""
    threads = {} if case.threads is None else {"OMP_NUM_THREADS": str(case.threads)}
    with tempfile.TemporaryDirectory() as name, busy(case.neighbours):
        before, began = _cpu_seconds(), time.perf_counter()
        run(*[Path(name) / "new" if part == "NEW" else part for part in command], threads=threads)
        return Cost(time.perf_counter() - began, _cpu_seconds() - before)


def run(*command: str | Path, threads: Mapping[str, str] | None = None) -> None:
    """A command of firstsight, quietly, in a process of its own."""
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    start = [sys.executable, "-c", "from firstsight.cli.main import run; run()"]
    done = subprocess.run(
        [*start, *map(str, command)], env={**environment, **(threads or {})}, capture_output=True, text=True
    )
    if done.returncode:
        sys.exit(done.stderr)


@contextmanager
def busy(neighbours: int) -> Iterator[None]:
    """Processes that take all the time they can get."""
    counting = [subprocess.Popen([sys.executable, "-c", COUNTING]) for _ in range(neighbours)]
    try:
        yield
    finally:
        for each in counting:
            each.kill()
            each.wait()


def _cpu_seconds() -> float:
    """Of the processes that have ended; neighbours have not when this is asked."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
