"""`kill -9` under load, twice: nothing that was answered is lost, nothing that is sent again counts twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from typing import Any

import httpx
import pytest
from served import jpeg

from firstsight.store.store import Store
from swatches import COLOURS

CLIENTS = 6
IMAGES = 120  # each another
KILLS = (25, 70)  # answers after which it is killed


@contextmanager
def process(model: Path, register: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """A service as people start it, and where it answers."""
    command = [sys.executable, "-m", "firstsight", "serve", model, "--register", register, "--port", "0"]
    started = subprocess.Popen([*map(str, command), "--device", "cpu"], stderr=subprocess.PIPE, text=True)
    assert started.stderr is not None
    try:
        lines = iter(started.stderr.readline, "")
        address = next(word for line in lines for word in line.replace(";", " ").split() if word.startswith("http://"))
        yield started, address
    finally:
        started.kill()
        started.wait()
        started.stderr.close()


def send(address: str, images: dict[str, bytes], killed: Event, answered: dict[str, int], enough: int) -> None:
    """Send what has no answer yet, by several at once, until all of it has or the service is gone."""

    def one(key: str) -> None:
        if killed.is_set():
            return
        try:
            with httpx.Client(base_url=address, timeout=60) as http:
                said: Any = http.post(
                    "/api/discover", content=images[key], headers={"Idempotency-Key": key}, params={"name": key}
                )
        except httpx.TransportError:
            return  # perhaps it was recorded, perhaps not
        assert said.status_code == 200, said.text
        answered[key] = said.json()["answers"][0]["answer"]["image"]
        if len(answered) >= enough:
            killed.set()

    with ThreadPoolExecutor(CLIENTS) as several:
        list(several.map(one, [key for key in images if key not in answered]))


@pytest.mark.slow
def test_nothing_acknowledged_is_lost_and_nothing_doubled(sure_model: Path, tmp_path: Path) -> None:
    register, colours = tmp_path / "colours.db", list(COLOURS)
    images = {f"{i}": jpeg(colours[i % 8], i % 20, size=32 + i // 8) for i in range(IMAGES)}
    assert len(set(images.values())) == IMAGES
    answered: dict[str, int] = {}
    for enough in (*KILLS, IMAGES + 1):
        killed = Event()
        with process(sure_model, register) as (service, address):
            with ThreadPoolExecutor(1) as sending:
                sent = sending.submit(send, address, images, killed, answered, enough)
                if enough <= IMAGES:
                    killed.wait(120)
                    service.send_signal(signal.SIGKILL)
                sent.result()
            if enough > IMAGES:  # the last one ends in order
                service.send_signal(signal.SIGTERM)
                assert service.wait(60) == 0
        with Store.open(register, write=False) as store:
            view = store.view()
            sources = {view.assigned(number).source: number for number in view.images()}
            assert len(sources) == len(view.images()), "none twice"
            for key, number in answered.items():
                assert sources[f"upload:{key}"] == number
                assert store.pictures.path(view.assigned(number).content) is not None
    assert len(answered) == IMAGES
    with Store.open(register) as store:
        store.verify()
        assert len(store.view().images()) == IMAGES
