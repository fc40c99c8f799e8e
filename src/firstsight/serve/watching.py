"""A folder that is watched: what comes into it is answered as if somebody had sent it, and never twice."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Event

from firstsight.core.errors import ImageError
from firstsight.data.watching import watched
from firstsight.serve.service import Service
from firstsight.serve.worker import Busy

log = logging.getLogger(__name__)

GROUP = 32  # images sent at a time
AGAIN = 5.0  # seconds after which it is tried again


def watch(service: Service, folder: Path, over: Event) -> None:
    """Until it is over: answer the files there are, and those that come."""
    for paths in watched(folder, over.wait):
        for start in range(0, len(paths), GROUP):
            _answer(service, paths[start : start + GROUP], over)
        if over.is_set():
            return


def _answer(service: Service, paths: list[Path], over: Event) -> None:
    """Have files answered; what passes, as a full queue or a full disk, is waited for: none of them counts twice."""
    while not over.is_set():
        try:
            for answer in service.discover(paths, once=True):
                try:
                    answer.result()
                except ImageError as error:
                    log.warning("skipped: %s", error.what)
            return
        except Busy as busy:  # people come first
            over.wait(busy.seconds)
        except Exception as error:
            log.warning("%s waits: %s", service.settings.watch, error)
            over.wait(AGAIN)
