"""A process that writes a register as fast as it can. It says when it has begun; kill it when it has done enough.

python tests/store/busy_writer.py FILE.db
"""

from __future__ import annotations

import hashlib
import sys

import numpy as np
from tiny_store import MODEL

from firstsight.store import store as store_module
from firstsight.store.store import Arrival, Store

GROUPS, GROUP = 2_000, 16


def main(path: str) -> None:
    store_module.SNAPSHOT_EVERY = 50  # so that snapshots are replaced under the readers
    with Store.open(path, sync="normal") as store:
        kind = np.uint64 if store._log.header["register"]["kind"] == "codes" else np.float32
        for start in range(0, GROUPS * GROUP, GROUP):
            store.record([arrival(number, kind) for number in range(start, start + GROUP)], MODEL)
            if start == 0:
                print("writing", flush=True)


def arrival(number: int, kind: type[np.generic]) -> Arrival:
    name = f"{number}.jpg"
    return Arrival(name, hashlib.sha256(name.encode()).digest(), np.array([number * 37 % 256], dtype=kind))


if __name__ == "__main__":
    main(sys.argv[1])
