"""Three services under load: restarted one after another, killed, stalled. No image is lost, and none counts twice."""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from several import Load, Several, check, forking, image_of, several, until
from sharing import new_register

from firstsight.model.model import Model
from programs import needs

pytestmark = [pytest.mark.slow, needs("initdb")]

CLIENTS = 4


@pytest.fixture
def register(colours: Model, tmp_path: Path) -> str:
    return f"{new_register(colours)}&pictures={tmp_path / 'pictures'}"


@pytest.fixture(scope="module")
def process(sure_model: Path) -> Iterator[subprocess.Popen[str]]:
    with forking(sure_model) as made:
        yield made


@pytest.fixture
def services(process: subprocess.Popen[str], register: str) -> Iterator[Several]:
    with several(process, register, 3) as made:
        yield made


def test_a_rolling_restart_loses_and_doubles_nothing(services: Several, register: str) -> None:
    load = Load(services)
    with load.running(CLIENTS):
        load.more(20)
        for process in list(services.running):
            port = services.end(process)
            load.more(10)
            services.start(port)
            load.more(10)
    check(register, load)


def test_a_writer_that_is_killed_is_replaced_and_nothing_acknowledged_is_lost(services: Several, register: str) -> None:
    load = Load(services)
    with load.running(CLIENTS):
        for _ in range(2):
            load.more(15)
            services.end(services.writer(), signal.SIGKILL)
            load.more(15)
            services.start()
    check(register, load)


def test_a_writer_that_stalls_is_replaced_and_follows_when_it_comes_back(services: Several, register: str) -> None:
    load = Load(services)
    with load.running(CLIENTS):
        load.more(15)
        stalled = services.writer()
        stalled.signal(signal.SIGSTOP)
        services.running.remove(stalled)
        load.more(15)
        assert services.writer() != stalled
        stalled.signal(signal.SIGCONT)
        until(lambda: stalled.role() == "follower")
        services.running.append(stalled)
        load.more(30)
        said = httpx.post(
            f"{stalled.address}/api/discover",
            content=image_of("by it"),
            headers={"Idempotency-Key": "by it"},
            params={"name": "by it"},
        )
        load.answered["by it"] = said.json()["answers"][0]["answer"]["image"]
    check(register, load)
