"""Images in object stores and other places that have an address: s3://, gs://, file:// and whatever fsspec knows."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from firstsight.core.errors import DataError, ImageError, SettingsError
from firstsight.data.images import SUFFIXES

PAUSES = (0.5, 2.0)  # seconds between tries


@dataclass(frozen=True)
class RemoteImage:
    """An image that has an address: read when it is asked for."""

    address: str

    def read_bytes(self) -> bytes:
        """What is there. DataError, not ImageError, where that cannot be told: it may be there tomorrow."""
        for pause in (*PAUSES, None):
            try:
                content: bytes = _files(self.address).cat_file(self.address)
                return content
            except FileNotFoundError:
                raise ImageError(self.address, "is not there") from None
            except Exception as error:  # every store has errors of its own
                if pause is None:
                    what = f"{self.address} cannot be fetched: {error}"
                    raise DataError(what, "see that you may read it, and run the same again") from None
                time.sleep(pause)
        raise AssertionError("the last try gives or raises")

    def __str__(self) -> str:
        return self.address


def is_address(source: object) -> bool:
    """Whether an image, or a folder of them, is named by an address.

    >>> is_address("s3://night/1.jpg"), is_address("night/1.jpg")
    (True, False)
    """
    return isinstance(source, str) and "://" in source


def find_remote(address: str) -> Iterator[RemoteImage]:
    """The images below an address, in name order; the one that is there where it is no folder."""
    files = _files(address)
    try:
        found = sorted(files.find(address))
    except Exception as error:
        raise DataError(f"{address} cannot be listed: {error}", "see that you may read it") from None
    if not found:
        raise DataError(f"there is nothing at {address}")
    for path in found:
        if "." + path.rpartition(".")[2].lower() in SUFFIXES:
            yield RemoteImage(files.unstrip_protocol(path))


def _files(address: str) -> Any:
    return _of_kind(address.partition("://")[0])


@cache
def _of_kind(protocol: str) -> Any:
    try:
        import fsspec
    except ModuleNotFoundError:
        raise SettingsError(
            f"{protocol}:// needs fsspec, which is not installed", "pip install 'firstsight[scale]'"
        ) from None
    try:
        return fsspec.filesystem(protocol)
    except (ValueError, ImportError) as error:
        raise SettingsError(f"{protocol}:// cannot be read here: {error}", "pip install 'firstsight[scale]'") from None
