"""A model, a service with nothing in it, and one that has answered some colours."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from served import asked, jpeg, running, sent

from firstsight.model.folder import load_model
from firstsight.model.model import Model
from firstsight.serve.service import Service


@pytest.fixture(scope="session")
def model(sure_model: Path) -> Model:
    return load_model(sure_model, "cpu")


@pytest.fixture
def service(model: Model, tmp_path: Path) -> Iterator[Service]:
    with running(model, tmp_path / "colours.db") as made:
        yield made


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    with asked(service) as made:
        yield made


@pytest.fixture
def filled(client: TestClient) -> TestClient:
    """Three images of white (new-1) and two of yellow (new-2), two of blue, which is known."""
    colours = ("white", "white", "white", "yellow", "yellow", "blue", "blue")
    sent(client, *((f"{i} {colour}.jpg", jpeg(colour, i)) for i, colour in enumerate(colours)))
    return client
