"""One process that serves: the socket first, then the register, then the model; and an orderly end."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from types import FrameType

import uvicorn

from firstsight.core.errors import DiskError, SettingsError
from firstsight.model.model import Model
from firstsight.serve.app import create_app
from firstsight.serve.connections import Connection
from firstsight.serve.service import Service
from firstsight.serve.settings import ServeSettings
from firstsight.serve.watching import watch
from firstsight.store.opening import is_there, make_log, on_server
from firstsight.store.store import Store, header_of

DRAIN = 300  # seconds that requests have to end, once the service is told to
CONNECTIONS = 1_000  # at a time; more are told to come again


class Server(uvicorn.Server):
    """Uvicorn's, which tells the service when it is asked to end: streams of events end by themselves then."""

    def __init__(self, config: uvicorn.Config, service: Service) -> None:
        super().__init__(config)
        self.service = service

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.service.end()
        super().handle_exit(sig, frame)
        self._captured_signals.clear()  # raised again, they would end the process before all is answered


@contextmanager
def listening(settings: ServeSettings) -> Iterator[tuple[socket.socket, ServeSettings]]:
    """A socket at the address, and the settings with the port it has; any free one where 0 is asked for."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as bound:
        bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            bound.bind((settings.host, settings.port))
        except OSError as error:
            raise SettingsError(
                f"{settings.host}:{settings.port} cannot be listened at: {error.strerror}", "choose another --port"
            ) from None
        yield bound, replace(settings, port=bound.getsockname()[1])


def serve(
    load: Callable[[], Model], register: Path | str, settings: ServeSettings, started: Callable[[str], None] = print
) -> None:
    """Serve until told to end; `started` is told the address once it answers."""
    with listening(settings) as (bound, settings):
        store = _there(register)
        try:
            model = load()
            if store is None:
                store = _made(register, model)
            store.check_model(model.provenance)
            if store.shared is None:
                store.say(settings.address)
            service = Service(model, store, settings)
        except BaseException:
            if store is not None:
                store.close()
            raise
        run(service, bound, started)


def _there(register: Path | str) -> Store | None:
    """A register that is there; on a server it is for reading to begin with, as another service may write it."""
    return Store.open(register, write=not on_server(register)) if is_there(register) else None


def _made(register: Path | str, model: Model) -> Store:
    if not on_server(register):
        return Store.create(register, model.register(), model.provenance, or_open=True)
    make_log(str(register), header_of(model.register(), model.provenance))
    return Store.open(register, write=False)


def run(service: Service, bound: socket.socket, started: Callable[[str], None] = print) -> None:
    """Serve what is there at this socket until told to end; what was accepted is answered first."""
    over, watcher = Event(), None
    try:
        config = uvicorn.Config(
            create_app(service),
            http=Connection,
            log_config=None,
            access_log=False,
            server_header=False,
            limit_concurrency=CONNECTIONS,
            timeout_graceful_shutdown=DRAIN,
            h11_max_incomplete_event_size=65_536,
        )
        server = Server(config, service)
        if service.settings.watch is not None:
            watcher = Thread(target=watch, args=(service, service.settings.watch, over), name="watching")
            watcher.start()
        bound.listen(2048)
        started(service.settings.address)
        server.run(sockets=[bound])
    except SystemExit:  # uvicorn's word for a start that failed, which it has logged
        raise DiskError("the service could not start") from None
    finally:
        over.set()
        if watcher is not None:
            watcher.join()
        service.close()
