"""`python -m firstsight`: the same as the command `firstsight`."""

from __future__ import annotations

import sys
from pathlib import Path

if __name__ == "__main__":
    if not sys.flags.safe_path and Path(sys.path[0]) != Path(__file__).parents[1]:
        del sys.path[0]  # the working directory: what lies there is data, whatever it is called
    from firstsight.cli.main import run

    run()
