"""A service of an exported model, answered by OpenVINO; and one of features, where there is no picture of anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from served import asked, jpeg, running, sent

import firstsight
from firstsight.core import packages
from firstsight.data.feature_files import read_features
from firstsight.model.export import export_model
from firstsight.model.folder import load_model
from firstsight.model.model import Model
from firstsight.serve.service import Service

HTML = {"Accept": "text/html"}


@pytest.fixture
def exported(colours: Model, tmp_path: Path, openvino: None) -> Model:
    pytest.importorskip("onnx")
    export_model(colours, tmp_path / "colours.light")
    return load_model(tmp_path / "colours.light")


def test_an_exported_model_serves_as_the_one_it_was_made_of(
    exported: Model, filled: TestClient, tmp_path: Path
) -> None:
    images = [(f"{i} {colour}.jpg", jpeg(colour, i)) for i, colour in enumerate(("white", "blue", "red", "yellow"))]
    with running(exported, tmp_path / "light.db") as service, asked(service, HTML) as client:
        told = sent(client, *images)
        assert [each["name"] for each in told] == ["new-1", "blue", "new-2", "new-3"]
        for page in ("/", "/categories", "/categories/new-1", "/review", "/overview", "/images/2"):
            assert client.get(page).status_code == 200, page
        why = client.get("/parts/why", params={"image": 2}).text
        whole = filled.get("/parts/why", params={"image": 2}).text
    assert ("The square that the model saw" in why, "where it looked" in why) == (True, False)
    assert ("If it was exported" in why, "where it looked" in whole, "If it was exported" in whole) == (
        True,
        True,
        False,
    )
    with running(load_model(tmp_path / "colours.light", "openvino"), tmp_path / "light.db") as service:
        assert len(service.view().images()) == len(images)


def test_a_map_that_needs_more_than_is_installed_says_what(
    filled: TestClient, service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(packages, "has", lambda package: package != "sklearn")
    assert filled.get("/api/map").status_code == 202
    service.map.wait()
    assert "needs scikit-learn, which is not installed" in filled.get("/api/map").json()["failed"]


def test_features_are_shown_by_their_names(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a file of that name happens to lie there, which is not what came."""
    monkeypatch.chdir(tmp_path)
    names, drawn = (
        ["4.wav", "site/5 <b>", "6.wav"],
        np.eye(4)[[0, 0, 1, 1, 0, 0, 2]] + 0.01 * np.arange(28).reshape(7, 4),
    )
    Path(names[0]).write_bytes(jpeg("white"))
    lines = ["name,a,b,c,d", *(f"{name},{','.join(map(str, drawn[4 + i]))}" for i, name in enumerate(names))]
    Path("stream.csv").write_text("\n".join(lines))
    model = firstsight.fit_features(drawn[:4], ["ant", "ant", "bee", "bee"])
    with firstsight.Discoverer(model, store=tmp_path / "f.db") as discoverer:
        arriving: list[Any] = list(read_features("stream.csv"))
        numbers = [each.image for each in discoverer.discover_many(arriving)]
    with running(model, tmp_path / "f.db") as service, asked(service, HTML) as client:
        shown = client.get("/").text
        for number, name in zip(numbers, ("4.wav", "site/5 &lt;b&gt;", "6.wav"), strict=True):
            assert f'<div class="blank">{number} · {name}</div>' in shown
        assert "<dt>name</dt><dd><bdi>4.wav</bdi>" in client.get(f"/images/{numbers[0]}").text
        why = client.get("/parts/why", params={"image": numbers[0]}).text
        assert '<div class="blank">site/5 &lt;b&gt;</div>' in why
        assert "that takes its picture" in why
