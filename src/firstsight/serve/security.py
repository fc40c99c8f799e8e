"""Who asks, and whether they may: tokens, sessions, the Host and Origin of a request, and what a page may load.

On a loopback address without tokens nobody is asked. Browsers are held to the pages of the service all the same: a
request must name this host, and one that changes something must come from a page of it.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from urllib.parse import quote, urlsplit

from starlette.datastructures import Headers

from firstsight.core.errors import SettingsError
from firstsight.serve.problems import Refused
from firstsight.serve.settings import ServeSettings

COOKIE = "firstsight"
CSRF = "X-Firstsight-Token"
SESSION = 12 * 3600  # seconds
RIGHTS = ("read", "edit", "serve")  # the last is of services, and lets nobody in
LINE = "NAME read|edit|serve TOKEN"
SHORTEST = 16  # characters of a token
TRIES, WITHIN = 10, 60.0  # tokens that may be wrong in so many seconds, of one address
ADDRESSES = 10_000  # that are remembered
SAFE = ("GET", "HEAD", "OPTIONS")
OPEN = ("/health", "/ready", "/sign-in", "/static/")  # for everybody who can reach it
SIGNING = ("/sign-in", "/sign-out")  # forms without a script, which their Origin tells
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


@dataclass(frozen=True)
class Caller:
    """Whoever asks: the name of their token, where there are tokens, and whether they may edit."""

    name: str | None = None
    edits: bool = True
    csrf: str = ""  # what pages send along with an edit
    service: bool = False  # whether another service asks, for whoever asked it


@dataclass(frozen=True)
class Token:
    name: str
    right: str  # one of RIGHTS
    secret: str

    @property
    def edits(self) -> bool:
        return self.right == "edit"

    def sign(self, what: str) -> str:
        """A seal only this token makes; whoever changes the token ends its sessions."""
        return hmac.new(hashlib.sha256(self.secret.encode()).digest(), what.encode(), hashlib.sha256).hexdigest()


def read_tokens(path: Path) -> list[Token]:
    """The tokens of a file, one a line: a name, a right, and the token."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"--tokens {path} cannot be read: {error}", "name a file of tokens") from None
    found: list[Token] = []
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        words = line.split()
        if len(words) != 3 or words[1] not in RIGHTS:
            raise SettingsError(f"{path}, line {number}, is no token", f"write: {LINE}")
        if len(words[2]) < SHORTEST:
            raise SettingsError(f"{path}, line {number}: a token of fewer than {SHORTEST} characters can be guessed")
        if words[0] in (each.name for each in found):
            raise SettingsError(f"{path}, line {number}: there are two tokens called {words[0]!r}")
        found.append(Token(words[0], words[1], words[2]))
    if all(each.right == "serve" for each in found):
        raise SettingsError(f"{path} holds no token that lets somebody in", f"write a line: {LINE}")
    return found


def services_secrets(path: Path) -> list[str]:
    """By which the services of one register know each other; the first is used, the others are known as well."""
    found = [each.secret for each in read_tokens(path) if each.right == "serve"]
    if not found:
        raise SettingsError(
            f"{path} has no token by which services that share a register know each other",
            "write a line, the same for all of them: NAME serve TOKEN",
        )
    return found


class Tries:
    """How often an address gave a token that is none."""

    def __init__(self) -> None:
        self._failed: dict[str, deque[float]] = {}
        self._turn = Lock()

    def check(self, address: str) -> None:
        """Refused where it was too often."""
        with self._turn:
            times = self._failed.get(address, deque())
            while times and times[0] < time.monotonic() - WITHIN:
                times.popleft()
            if len(times) >= TRIES:
                raise Refused(429, "too many tokens that are none", f"try again in {WITHIN:g} s")

    def failed(self, address: str) -> None:
        with self._turn:
            if len(self._failed) >= ADDRESSES:
                self._failed.pop(next(iter(self._failed)))
            self._failed.setdefault(address, deque(maxlen=TRIES)).append(time.monotonic())


class Guard:
    """Lets requests in, or not."""

    def __init__(self, settings: ServeSettings) -> None:
        every = [] if settings.tokens is None else read_tokens(settings.tokens)
        self.tokens = [each for each in every if each.right != "serve"]
        self.tries = Tries()
        named = {settings.host, f"[{settings.host}]", *settings.names, _host(urlsplit(settings.reached_at).netloc)}
        self._hosts = {"localhost", "127.0.0.1", "[::1]", *(name.lower() for name in named)}
        self._page = os.urandom(16).hex()  # for pages where nobody is asked

    def admit(self, method: str, path: str, headers: Headers, cookie: str | None) -> Caller:
        """Who this is; Refused where they may not come in, or may not do this so."""
        self.check_host(headers)
        if method not in SAFE:
            self._check_origin(headers)
        caller = self._caller(headers, cookie)
        if caller is None:
            if any(path == each or (each.endswith("/") and path.startswith(each)) for each in OPEN):
                return Caller(edits=False)
            raise Refused(401, "who asks is not known", "send a token: Authorization: Bearer TOKEN, or sign in")
        if method not in SAFE and self._from_page(headers, cookie) and path not in SIGNING:
            given = headers.get(CSRF, "")
            if not hmac.compare_digest(given.encode(), caller.csrf.encode()):
                raise Refused(403, "this did not come from a page of the service", "open the page again")
        return caller

    def token(self, secret: str) -> Token | None:
        """The token with this secret; all are compared, whichever it is."""
        found = [each for each in self.tokens if hmac.compare_digest(each.secret.encode(), secret.encode())]
        return found[0] if found else None

    def session(self, token: Token) -> str:
        """What a browser keeps to be known again."""
        until = str(int(time.time()) + SESSION)
        return f"{quote(token.name)}.{until}.{token.sign(f'session {until}')}"

    def _caller(self, headers: Headers, cookie: str | None) -> Caller | None:
        if not self.tokens:
            return Caller(csrf=self._page)
        kind, _, secret = headers.get("Authorization", "").partition(" ")
        token = self.token(secret.strip()) if kind.lower() == "bearer" else self._signed_in(cookie)
        return None if token is None else Caller(token.name, token.edits, token.sign("page"))

    def _signed_in(self, cookie: str | None) -> Token | None:
        name, _, rest = (cookie or "").rpartition(".")[0].rpartition(".")
        seal, until = (cookie or "").rpartition(".")[2], rest
        for token in self.tokens:
            good = hmac.compare_digest(token.sign(f"session {until}").encode(), seal.encode())
            if good and quote(token.name) == name and until.isdecimal() and int(until) > time.time():
                return token
        return None

    def check_host(self, headers: Headers) -> None:
        """Refused where a request names a host that the service has not."""
        name = _host(headers.get("Host", ""))
        if name.lower() not in self._hosts:
            raise Refused(421, f"this service is not called {name!r}", "name it with --name when starting it")

    def _check_origin(self, headers: Headers) -> None:
        origin, site = headers.get("Origin"), headers.get("Sec-Fetch-Site")
        foreign = origin is not None and origin.partition("://")[2] != headers.get("Host", "")
        if foreign or site not in (None, "same-origin", "none"):
            raise Refused(403, "this came from a page of another site")

    def _from_page(self, headers: Headers, cookie: str | None) -> bool:
        """Whether a browser sent it, which adds what its user is known by to whatever page asks."""
        by_token = headers.get("Authorization", "").lower().startswith("bearer ") and self.tokens
        return not by_token and (cookie is not None or "Origin" in headers or "Sec-Fetch-Site" in headers)


def _host(place: str) -> str:
    """A host without its port."""
    return place.rpartition(":")[0] if place.rpartition(":")[2].isdecimal() else place
