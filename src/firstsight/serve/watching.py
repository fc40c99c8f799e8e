"""A folder that is watched: what comes into it is answered as if somebody had sent it, and never twice."""

from __future__ import annotations

import logging
from pathlib import Path
from threading import Event

from firstsight.core.errors import FirstsightError
from firstsight.data.watching import watched
from firstsight.serve.service import Service
from firstsight.serve.worker import Answer, Busy

log = logging.getLogger(__name__)

GROUP = 32  # images sent at a time


def watch(service: Service, folder: Path, over: Event) -> None:
    """Until it is over: answer the files there are, and those that come."""
    for paths in watched(folder, over.wait):
        for start in range(0, len(paths), GROUP):
            if over.is_set():
                return
            for answer in _accepted(service, paths[start : start + GROUP], over):
                try:
                    answer.result()
                except FirstsightError as error:
                    log.warning("skipped: %s", error.what)
        if over.is_set():
            return


def _accepted(service: Service, paths: list[Path], over: Event) -> list[Answer]:
    while not over.is_set():
        try:
            return service.discover(paths, once=True)
        except Busy as busy:  # people come first
            over.wait(busy.seconds)
    return []
