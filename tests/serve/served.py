"""Services to ask: in this process without a socket, or behind one, of a model that is sure of plain colours."""

from __future__ import annotations

import io
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np
import uvicorn
from fastapi.testclient import TestClient
from PIL import Image

from firstsight.model.model import Model
from firstsight.serve.app import create_app
from firstsight.serve.connections import Connection
from firstsight.serve.run import Server, listening
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings
from firstsight.store.store import Store
from swatches import COLOURS

HERE = "http://127.0.0.1:8000"


def jpeg(colour: str, shade: int = 0, size: int = 32) -> bytes:
    """A photograph of one colour; every shade is another image."""
    buffer = io.BytesIO()
    Image.fromarray(np.full((size, size, 3), np.array(COLOURS[colour][0]) + shade, np.uint8)).save(buffer, "JPEG")
    return buffer.getvalue()


def opened(model: Model, register: Path) -> Store:
    """The register of a file, which is made if there is none; at radius 0 each new colour is a category."""
    if register.exists():
        return Store.open(register)
    fresh = model.register()
    fresh.radius = 0
    return Store.create(register, fresh, model.provenance)


@contextmanager
def running(model: Model, register: Path, **settings: Any) -> Iterator[Service]:
    """A service, and its orderly end."""
    service = Service(model, opened(model, register), ServeSettings(**settings))
    try:
        yield service
    finally:
        service.close()


@contextmanager
def asked(service: Service, headers: dict[str, str] | None = None) -> Iterator[TestClient]:
    """Someone who asks it, in this process."""
    with TestClient(
        create_app(service), HERE, raise_server_exceptions=False, headers=headers, follow_redirects=False
    ) as client:
        yield client


@contextmanager
def behind_a_socket(service: Service, port: int = 0) -> Iterator[str]:
    """The address at which it answers meanwhile."""
    with listening(ServeSettings(port=port)) as (bound, settings):
        config = uvicorn.Config(create_app(service), http=Connection, log_config=None, access_log=False, lifespan="off")
        server = Server(config, service)
        thread = Thread(target=server.run, args=([bound],))
        bound.listen(128)
        thread.start()
        try:
            yield settings.address
        finally:
            service.ending, server.should_exit = True, True
            thread.join()
            service.ending = False


def raw(address: str) -> socket.socket:
    """A socket to it, for those who speak HTTP badly."""
    host, _, port = address.removeprefix("http://").partition(":")
    return socket.create_connection((host, int(port)))


def sent(client: TestClient, *images: tuple[str, bytes], **how: Any) -> list[dict[str, Any]]:
    """What a service answers to these images, by name."""
    response = client.post("/api/discover", files=[("images", each) for each in images], **how)
    assert response.status_code == 200, response.text
    return [each["answer"] or each["problem"] for each in response.json()["answers"]]
