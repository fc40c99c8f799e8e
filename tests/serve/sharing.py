"""Several services of one register: on a server of PostgreSQL, behind sockets, in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Thread
from typing import Any

import uvicorn

import postgres
from firstsight.model.model import Model
from firstsight.serve.app import create_app
from firstsight.serve.run import Server, listening
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings
from firstsight.store.opening import make_log
from firstsight.store.store import Store, header_of

NUMBERS = count()


def new_register(model: Model, server: postgres.Server | None = None) -> str:
    """The address of one with nothing in it; at radius 0 each new colour is a category."""
    address = (server or postgres.shared()).address(f"s{next(NUMBERS)}")
    fresh = model.register()
    fresh.radius = 0
    make_log(address, header_of(fresh, model.provenance))
    return address


@contextmanager
def sharing(model: Model, register: str, **how: Any) -> Iterator[tuple[Service, str]]:
    """A service of it, the writer if it is the first, and where it answers."""
    with listening(ServeSettings(port=0, **how)) as (bound, settings):
        service = Service(model, Store.open(register, write=False), settings)
        server = Server(uvicorn.Config(create_app(service), log_config=None, access_log=False), service)
        bound.listen(128)
        thread = Thread(target=server.run, args=([bound],))
        thread.start()
        try:
            yield service, settings.address
        finally:
            service.end()
            server.should_exit = True
            thread.join()
            service.close()
