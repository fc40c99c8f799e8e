"""Requests to a service: sent again where that is safe, and its problems as the errors they were there."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from firstsight.core import errors
from firstsight.core.errors import BadImages, DataError, FirstsightError, ImageError, SettingsError
from firstsight.core.files import new_file

if TYPE_CHECKING:
    import httpx

TRIES = 6
PAUSE = 0.2  # seconds before the second try; then twice as many each time
LONGEST = 30.0  # seconds between two tries, whatever a service asks for
SILENCE = 60.0  # seconds without a sign of life after which a stream is given up


class ServiceError(FirstsightError):
    """A service cannot be reached, or refuses; `status` is what it said in HTTP, 0 where it said nothing."""

    def __init__(self, what: str, remedy: str = "", status: int = 0) -> None:
        super().__init__(what, remedy)
        self.status = status

    def __reduce__(self) -> Any:
        return type(self), (self.what, self.remedy, self.status)


def load_httpx() -> Any:
    try:
        import httpx
    except ModuleNotFoundError:
        raise SettingsError("a client needs httpx, which is not installed", "pip install 'firstsight[serve]'") from None
    return httpx


class Transport:
    """One service by its address."""

    def __init__(self, address: str, token: str | None, timeout: float, tries: int) -> None:
        self.address, self.tries = address.rstrip("/"), tries
        self._httpx = load_httpx()
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http: httpx.Client = self._httpx.Client(base_url=self.address, headers=headers, timeout=timeout)

    def close(self) -> None:
        self._http.close()

    def get(self, path: str, **params: Any) -> Any:
        """What a route says."""
        return self.request("GET", path, safe=True, params=_given(params)).json()

    def content(self, path: str, **params: Any) -> bytes:
        """What a route gives, whatever it is."""
        return self.request("GET", path, safe=True, params=_given(params)).content

    def post(self, path: str, **how: Any) -> Any:
        """What a route makes of it; not sent again where it may have arrived."""
        return self.request("POST", path, safe=False, **how).json()

    def request(self, method: str, path: str, safe: bool, **how: Any) -> httpx.Response:
        """The answer to a request; `safe` is whether it may arrive twice."""
        for attempt in range(self.tries):
            last = attempt == self.tries - 1
            try:
                response = self._http.request(method, path, **how)
            except self._httpx.TransportError as error:
                if last or not (safe or isinstance(error, self._httpx.ConnectError)):
                    raise self._unreachable(error) from None
            else:
                if response.status_code != 503 or last:
                    return checked(response)
                self._pause(float(response.headers.get("Retry-After", PAUSE)))
                continue
            self._pause(PAUSE * 2**attempt)
        raise AssertionError("the last try answers or raises")

    def download(self, path: str, target: Path, **params: Any) -> Mapping[str, str]:
        """Write what a route gives to a new file; the headers it came with."""
        with new_file(target) as temporary, temporary.open("xb") as file:
            try:
                with self._http.stream("GET", path, params=_given(params), timeout=None) as response:
                    if response.is_error:
                        response.read()
                    checked(response)
                    for chunk in response.iter_bytes():
                        file.write(chunk)
                    return dict(response.headers)
            except self._httpx.TransportError as error:
                raise self._unreachable(error) from None

    def events(self, after: int) -> Iterator[dict[str, Any]]:
        """Everything after an event, for ever; a connection that breaks is made again, and nothing is missed."""
        failed = 0
        while True:
            try:
                limits = self._httpx.Timeout(SILENCE, connect=LONGEST)
                with self._http.stream("GET", "/api/events", params={"after": after}, timeout=limits) as response:
                    if response.is_error:
                        response.read()
                    checked(response)
                    failed = 0
                    for line in response.iter_lines():
                        if line.startswith("data: "):
                            said = json.loads(line[len("data: ") :])
                            after, failed = int(said["event"]), 0
                            yield said
            except self._httpx.TransportError as error:
                failed += 1
                if failed >= self.tries:
                    raise self._unreachable(error) from None
            self._pause(PAUSE * 2**failed)

    def _unreachable(self, error: Exception) -> ServiceError:
        what = str(error) or type(error).__name__
        return ServiceError(f"{self.address} does not answer: {what}", "is the service running there?")

    def _pause(self, seconds: float) -> None:
        time.sleep(min(seconds, LONGEST))


def checked(response: httpx.Response) -> httpx.Response:
    """A good answer, or its problem raised."""
    if response.is_success:
        return response
    try:
        said = response.json()
    except ValueError:
        said = {}
    detail = said.get("detail") or f"{response.url} answers {response.status_code}"
    raise error_of(said | {"detail": detail, "status": response.status_code})


def error_of(problem: Mapping[str, Any], source: str = "") -> FirstsightError:
    """The error that a problem was; `source` is the image it is about, where that is known."""
    detail, remedy = str(problem["detail"]), str(problem.get("remedy") or "")
    kind = getattr(errors, str(problem.get("kind")), None)
    if kind is ImageError:
        known = source or detail.partition(": ")[0]
        return ImageError(known, detail.removeprefix(f"{known}: "), remedy)
    if kind is BadImages:
        return DataError(detail, remedy)
    if isinstance(kind, type) and issubclass(kind, FirstsightError):
        return kind(detail, remedy)
    return ServiceError(detail, remedy, int(problem.get("status", 0)))


def _given(params: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in params.items() if value is not None}
