"""How a service is set up: where it listens, whom it answers, how much it takes at once."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path

from firstsight.core.errors import SettingsError

MEGABYTE = 1_000_000


@dataclass(frozen=True)
class ServeSettings:
    """What a service may do. Sizes are in bytes."""

    host: str = "127.0.0.1"
    port: int = 8000
    names: tuple[str, ...] = ()  # other names by which people reach it
    tokens: Path | None = None  # who may come in; nobody is asked on this machine without it
    watch: Path | None = None
    store_images: bool = True
    metadata: bool = True
    largest_image: int = 64 * MEGABYTE
    largest_request: int = 512 * MEGABYTE
    images_a_request: int = 1_000
    queue: int = 1_024  # images accepted and not answered yet
    patience: float = 30.0  # seconds a client may send nothing in the middle of a request
    listeners: int = 64  # streams of events at a time

    def __post_init__(self) -> None:
        if not self.is_local and self.tokens is None:
            raise SettingsError(
                f"--host {self.host} can be reached from other machines, and nobody would be asked who they are",
                "name a file of tokens with --tokens, or leave --host out",
            )

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach it."""
        if self.host == "localhost":
            return True
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def address(self) -> str:
        """Where a browser on this machine finds it."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"
