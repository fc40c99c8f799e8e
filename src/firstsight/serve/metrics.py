"""What a service is doing, for Prometheus: rate, latency, births, share of new, and the queue."""

from __future__ import annotations

import time
from collections import deque
from concurrent.futures import Future
from threading import Lock
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

from firstsight.core.assignments import Assignment

if TYPE_CHECKING:
    from firstsight.serve.service import Service

HOUR = 3600.0
SECONDS = (0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)


class Metrics:
    """Counters of one service."""

    def __init__(self, service: Service) -> None:
        self.registry = CollectorRegistry()
        self._births: deque[float] = deque()  # of the last hour
        self._turn = Lock()
        own = self.registry
        self.answers = Counter("firstsight_answers", "Images answered", ["answer"], registry=own)
        self.failures = Counter("firstsight_failures", "Images that could not be answered", registry=own)
        self.births = Counter("firstsight_births", "Categories discovered", registry=own)
        self.latency = Histogram(
            "firstsight_latency_seconds", "From accepted to answered", buckets=SECONDS, registry=own
        )
        gauges = {
            "firstsight_queue_images": ("Images accepted and not answered yet", lambda: service.worker.waiting),
            "firstsight_births_last_hour": ("Categories discovered in the last hour", self.births_last_hour),
            "firstsight_new_share": ("Share of answers that were new", self.new_share),
            "firstsight_events": ("Events in the register", lambda: service.view().last),
            "firstsight_writes": ("1 where this service writes the register", lambda: float(service.writes)),
        }
        if service.store.shared is not None:
            gauges["firstsight_forwarded_images"] = ("Images recorded by another service", lambda: _of(service, 0))
            gauges["firstsight_takeovers"] = ("How often this service came to write", lambda: _of(service, 1))
        for name, (what, value) in gauges.items():
            Gauge(name, what, registry=own).set_function(value)

    def answered(self, began: float, answer: Future[Assignment]) -> None:
        """An image has its answer, or its error."""
        self.latency.observe(time.monotonic() - began)
        if answer.cancelled() or answer.exception() is not None:
            self.failures.inc()
            return
        given = answer.result()
        self.answers.labels("new" if given.is_new else "known").inc()
        if given.created:
            self.births.inc()
            with self._turn:
                self._births.append(time.monotonic())

    def births_last_hour(self) -> int:
        with self._turn:
            while self._births and self._births[0] < time.monotonic() - HOUR:
                self._births.popleft()
            return len(self._births)

    def new_share(self) -> float:
        known, new = (self.answers.labels(each)._value.get() for each in ("known", "new"))
        return float(new / (known + new)) if known + new else 0.0

    def text(self) -> bytes:
        """All of them, as Prometheus reads them."""
        return generate_latest(self.registry)


def _of(service: Service, which: int) -> int:
    """What a service did that shares its register: images it had recorded elsewhere, and how often it came to write."""
    sharing = service.sharing
    return 0 if sharing is None else (sharing.forwarded, sharing.standing.taken)[which]
