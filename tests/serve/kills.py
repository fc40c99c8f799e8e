"""Kill services that share a register, and the server that keeps it, again and again under load; then count.

    uv run --all-extras python tests/serve/kills.py 32

Three services answer four clients, who send each image to any of them until one answers. In turn SIGKILL hits the
service that writes, the server of PostgreSQL, and a service that follows; and the server is stopped as if its machine
had lost power. Every image that was answered must be in the register then, once, under the number that was answered.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from statistics import median

sys.path.insert(0, str(Path(__file__).parents[1]))  # where tests have it

from several import Load, Several, check, forking, several
from sharing import new_register

from firstsight.model.folder import load_model
from postgres import Server
from swatches import new_model

SERVICES, CLIENTS = 3, 4
MORE = 10  # answers between two kills


def main(kills: int) -> None:
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as name, closing(Server(durable=True)) as server:
        model = new_model(Path(name))
        register = f"{new_register(load_model(model, 'cpu'), server)}&pictures={name}/pictures"
        with forking(model) as process, several(process, register, SERVICES) as services:
            load, took = Load(services), list[float]()
            done = dict.fromkeys(("the writer", "the server", "a follower", "the server, at once"), 0)
            hits: list[Callable[[], None]] = [
                lambda: _kill(services, took),
                lambda: _restart(server, server.kill),
                lambda: _kill(services),
                lambda: _restart(server, partial(server.stop, "immediate")),
            ]
            with load.running(CLIENTS):
                for number in range(kills):
                    load.more(MORE)
                    hits[number % len(hits)]()
                    done[list(done)[number % len(hits)]] += 1
                load.more(MORE)
            check(register, load)
    told = ", ".join(f"{count} of {what}" for what, count in done.items())
    print(f"{kills} kills ({told}) in {time.monotonic() - began:.0f} s:")
    print(f"{len(load.answered):,} images answered, all of them in the register once, under the numbers answered;")
    print(f"another wrote {median(took):.2f} s after the writer died, {max(took):.2f} s at most;")
    print(f"the longest wait for an answer, also while the server was away, was {load.longest:.1f} s")


def _restart(server: Server, end: Callable[[], None]) -> None:
    end()
    server.start()


def _kill(services: Several, took: list[float] | None = None) -> None:
    """Kill one that follows or, where it is to be told how long another `took` to take over, the one that writes."""
    writes = services.writer()
    victim = next(each for each in services.running if each != writes) if took is None else writes
    began = time.monotonic()
    port = services.end(victim, signal.SIGKILL)
    if took is not None:
        services.writer()
        took.append(time.monotonic() - began)
    services.start(port)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 8)
