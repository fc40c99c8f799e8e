"""How services that share a register know each other: by seals of a secret that never travels.

A request carries the time, a number used once, and a seal over all that it says. The address of whoever writes, which
others read from the register, is sealed as well: nobody who can only write to the database sends services elsewhere.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets as random
import time
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import NamedTuple
from urllib.parse import quote, unquote

from firstsight.serve.problems import Refused
from firstsight.serve.settings import plain_address
from firstsight.store.sharing import Said

SERVICE, BY = "X-Firstsight-Service", "X-Firstsight-By"
SKEW = 300  # seconds that the clocks of two machines may differ


class Opened(NamedTuple):
    """A request of another service: for whom it asks, and the digest that its body must have."""

    by: str | None
    digest: str


class Seals:
    """Made with the first of some secrets, and known by any of them, so that they can be changed one after another."""

    def __init__(self, secrets: Sequence[str], local: bool) -> None:
        """Where services are `local`, no address of another machine is believed."""
        self._secrets = [hashlib.sha256(f"firstsight services {each}".encode()).digest() for each in secrets]
        self._local = local
        self._used: dict[str, float] = {}  # numbers that came, and when
        self._turn = Lock()

    def of_address(self, address: str) -> Said:
        """An address to be told to others."""
        return Said(address, self._seal(self._secrets[0], "address", address))

    def address(self, said: Said) -> str:
        """An address that another told; ValueError where none of them did, or it can be none."""
        if not self._sealed(said.seal, "address", said.address):
            raise ValueError("no service that has the same tokens said so")
        return plain_address(said.address, self._local)

    def headers(self, method: str, host: str, target: str, kind: str, body: bytes, by: str | None) -> dict[str, str]:
        """What a request to another service carries."""
        named, moment, number = quote(by or "", safe=""), str(int(time.time())), random.token_hex(16)
        digest = hashlib.sha256(body).hexdigest()
        seal = self._seal(self._secrets[0], method, host, target, kind, named, moment, number, digest)
        return {SERVICE: f"{moment}.{number}.{digest}.{seal}", BY: named}

    def opened(self, method: str, target: str, headers: Mapping[str, str]) -> Opened:
        """A request that another service sealed; Refused where none did, it is old, or it came before."""
        moment, number, digest, seal = (*headers.get(SERVICE, "").split("."), "", "", "", "")[:4]
        said = (method, headers.get("Host", ""), target, headers.get("Content-Type", ""), headers.get(BY, ""))
        if not self._sealed(seal, *said, moment, number, digest):
            raise Refused(401, "this is of no service that has the same tokens", "give all the same file --tokens")
        if not moment.isdecimal() or abs(time.time() - int(moment)) > SKEW:
            raise Refused(401, f"the clocks of two services differ by more than {SKEW} s", "set them right")
        self._use(number)
        return Opened(unquote(headers.get(BY, "")) or None, digest)

    def _use(self, number: str) -> None:
        now = time.monotonic()
        with self._turn:
            while self._used and next(iter(self._used.values())) < now - 2 * SKEW:  # the oldest is first
                del self._used[next(iter(self._used))]
            if number in self._used:
                raise Refused(401, "this came before")
            self._used[number] = now

    def _sealed(self, seal: str, *words: str) -> bool:
        made = [self._seal(secret, *words) for secret in self._secrets]
        return any(hmac.compare_digest(each.encode(), seal.encode()) for each in made)

    @staticmethod
    def _seal(secret: bytes, *words: str) -> str:
        return hmac.new(secret, "\n".join(words).encode(), hashlib.sha256).hexdigest()
