"""A PostgreSQL server for tests, from installed binaries: in a folder of its own, by a socket there."""

from __future__ import annotations

import atexit
import getpass
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from functools import cache
from pathlib import Path
from typing import Any

from programs import find

ACCOUNTS = ("postgres", "nobody")  # who runs it where root runs the tests, which initdb refuses
OPTIONS = ("listen_addresses=", "max_connections=50", "shared_buffers=32MB")


class Server:
    """One that is running; without `durable` it does not wait for the disk."""

    def __init__(self, durable: bool = False) -> None:
        self.user = getpass.getuser() if os.getuid() else next(each for each in ACCOUNTS if _is_account(each))
        self.folder = Path(tempfile.mkdtemp(prefix="pg-", dir="/tmp"))
        shutil.chown(self.folder, self.user)
        self._options = (*OPTIONS, f"unix_socket_directories={self.folder}", f"fsync={'on' if durable else 'off'}")
        self._run("initdb", "-D", self._data, "-A", "trust", "-U", "tests", "--no-sync", "-E", "UTF8", "--no-locale")
        self.start()

    @property
    def _data(self) -> str:
        return str(self.folder / "data")

    def start(self) -> None:
        options = " ".join(f"-c {each}" for each in self._options)
        for wait in (0.5, 1, 2, 4, 0):  # those that a kill left behind may not have ended yet
            try:
                self._run("pg_ctl", "-D", self._data, "-w", "-o", options, "-l", str(self.folder / "log"), "start")
                return
            except AssertionError:
                if not wait:
                    raise
                time.sleep(wait)

    def stop(self, how: str = "fast") -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-m", how, "stop")

    def kill(self) -> None:
        """As by a power cut of the process: nothing is written that was not."""
        os.kill(int((self.folder / "data" / "postmaster.pid").read_text().split()[0]), signal.SIGKILL)

    def close(self) -> None:
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def address(self, register: str) -> str:
        return f"postgresql://tests@/postgres?host={self.folder}&register={register}"

    def _run(self, program: str, *arguments: str) -> None:
        found = find(program)
        assert found is not None, f"there is no {program}"
        own: dict[str, Any] = (
            {} if os.getuid() else {"user": self.user, "group": pwd.getpwnam(self.user).pw_gid, "extra_groups": []}
        )
        done = subprocess.run(
            [found, *arguments], cwd=self.folder, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **own
        )
        assert done.returncode == 0, done.stderr


@cache
def shared() -> Server:
    """One for all tests of a process."""
    server = Server()
    atexit.register(server.close)
    return server


def _is_account(name: str) -> bool:
    try:
        pwd.getpwnam(name)
    except KeyError:
        return False
    return True
