"""How a service is set up: where it listens, whom it answers, how much it takes at once."""

from __future__ import annotations

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlsplit

from firstsight.core.errors import SettingsError

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ServeSettings:
    """What a service may do. Sizes are in bytes."""

    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()  # other names by which people reach it
    tokens: Path | None = None  # who may come in; nobody is asked on this machine without it
    advertise: str = ""  # where other services of the same register reach it
    watch: Path | None = None
    store_images: bool = True
    metadata: bool = True
    largest_image: int = 64 * MEGABYTE
    largest_request: int = 512 * MEGABYTE
    images_a_request: int = 1_000
    queue: int = 1_024  # images accepted and not answered yet
    patience: float = 30.0  # seconds a client may send nothing in the middle of a request
    listeners: int = 64  # streams of events at a time
    takeover: float = 30.0  # seconds that images wait for a service that writes the register

    def __post_init__(self) -> None:
        if not self.is_local and self.tokens is None:
            raise SettingsError(
                f"--host {self.host} can be reached from other machines, and nobody would be asked who they are",
                "name a file of tokens with --tokens, or leave --host out",
            )
        try:
            plain_address(self.reached_at)
        except ValueError as error:
            raise SettingsError(f"--advertise {error}", "give http://HOST:PORT, as other services reach it") from None

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback(self.host)

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        return self._at({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host))

    @property
    def reached_at(self) -> str:
        """Where other services of the same register find it: the host or, where that is any, the machine's name."""
        if self.advertise:
            return self.advertise.rstrip("/")
        return self._at((*self.names, socket.gethostname())[0] if self.host in ("0.0.0.0", "::") else self.host)

    def _at(self, host: str) -> str:
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"


def plain_address(address: str, local: bool = False) -> str:
    """An address of a service and nothing more; ValueError where it is none, or not of this machine.

    >>> plain_address("http://10.0.0.5:8000")
    'http://10.0.0.5:8000'
    """
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname or "@" in parts.netloc:
        raise ValueError(f"{address!r} is no http://HOST:PORT")
    if parts.path not in ("", "/") or parts.query or parts.fragment or not address.isprintable() or " " in address:
        raise ValueError(f"{address!r} is more than http://HOST:PORT")
    parts.port  # noqa: B018 - which raises where it is none
    if local and not is_loopback(parts.hostname):
        raise ValueError(f"{address!r} is another machine, where nobody would be asked; give all of them --tokens")
    return f"{parts.scheme}://{parts.netloc}"


def is_loopback(host: str) -> bool:
    """Whether only this machine can be reached so."""
    if host == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
