"""schemathesis: what the API says of itself, tried at random; never a fault of ours."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from served import jpeg, running

from firstsight.model.model import Model
from firstsight.serve.app import create_app
from firstsight.serve.service import Service
from firstsight.serve.uploads import Upload

EACH = 8  # requests to a route, good ones and bad ones
HERE = {"Host": "127.0.0.1:8000"}
LEFT_OUT = {"events": "it does not end"}


@pytest.fixture
def served(colours: Model, tmp_path: Path) -> Iterator[Service]:
    with running(colours, tmp_path / "colours.db") as service:
        images = [Upload(f"{colour}.jpg", jpeg(colour)) for colour in ("white", "red", "blue")]
        service.discover(images)[2].result()
        yield service


@pytest.mark.slow
def test_no_request_is_a_fault_of_ours(served: Service) -> None:
    app = create_app(served)
    schema = schemathesis.openapi.from_asgi("/api/openapi.json", app, headers=HERE)
    statuses: dict[str, Counter[int]] = {}
    for result in schema.get_all_operations():
        operation: Any = result.ok()  # type: ignore[union-attr]
        name = operation.definition.raw["operationId"]
        if name not in LEFT_OUT:
            statuses[name] = Counter()
            for mode in GenerationMode:
                ask(operation.as_strategy(generation_mode=mode), statuses[name])
    assert len(statuses) > 40
    assert sum(some[200] > 0 for some in statuses.values()) > 20, statuses
    served.store.verify()


def ask(cases: Any, statuses: Counter[int]) -> None:
    """Send some of these; what came back is counted."""

    @settings(
        max_examples=EACH, deadline=None, phases=[Phase.generate], suppress_health_check=list(HealthCheck),
        derandomize=True, database=None,
    )  # fmt: skip
    @given(case=cases)
    def one(case: Any) -> None:
        response = case.call(headers=HERE)
        statuses[response.status_code] += 1
        case.validate_response(response, checks=[not_a_server_error])

    with suppress(Unsatisfiable):  # a route that takes nothing cannot be asked wrongly
        one()
