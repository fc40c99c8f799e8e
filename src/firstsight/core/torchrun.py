"""Whether `torchrun` started this process, beside others that run the same command. Loads no torch."""

from __future__ import annotations

import os


def started_by_torchrun() -> bool:
    """Whether this is one of several processes that torchrun started."""
    return "TORCHELASTIC_RUN_ID" in os.environ and int(os.environ.get("WORLD_SIZE", "1")) > 1


def beside_the_first() -> bool:
    """Whether another of them comes first, which speaks for all."""
    return started_by_torchrun() and os.environ.get("RANK", "0") != "0"
