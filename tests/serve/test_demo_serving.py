"""`firstsight demo --serve`: moths arrive once, also when begun again; a folder of something else is left alone."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest
from served import behind_a_socket, running

from firstsight.cli import demo_serving
from firstsight.cli.demo_serving import serve_demo, stream
from firstsight.core.errors import DataError
from firstsight.model.folder import load_model


@pytest.mark.slow
def test_every_image_arrives_once(
    sure_model: Path, swatches: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo_serving, "EVERY", 0.0)
    model = load_model(sure_model, "cpu")
    for _ in range(2):  # the second time there is nothing left to send
        with running(model, tmp_path / "moths.db") as service, behind_a_socket(service) as address:
            stream(address, swatches / "stream", Event())
            view = service.view()
            assert len(view.images()) == 24
            assert len({view.assigned(each).source for each in view.images()}) == 24
            assert all(view.assigned(each).source.startswith("upload:moth-") for each in view.images())


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("words")
    with pytest.raises(DataError, match="is no folder of a demo"):
        serve_demo(tmp_path, 0, "cpu")
    assert [each.name for each in tmp_path.iterdir()] == ["mine.txt"]
