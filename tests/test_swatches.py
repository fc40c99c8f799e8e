"""What tests rely on: the sure model is sure, so that no machine's rounding changes an answer."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import firstsight
from firstsight.data.folder import walk
from swatches import COLOURS, KNOWN


def test_every_swatch_is_far_from_another_code(sure_model: Path, swatches: Path) -> None:
    model = firstsight.load(sure_model, device="cpu")
    images = [*walk(swatches / "stream"), *walk(swatches / "support")]
    features = model.encode([model.prepare(image) for image in images])
    assert np.abs(features).min() > 0.5
    for feature, image in zip(features, images, strict=True):
        assert "".join(str(int(value > 0)) for value in feature) == COLOURS[image.parent.name][1].replace(" ", "")


def test_at_radius_0_every_new_colour_is_a_category(sure_model: Path, swatches: Path) -> None:
    model = firstsight.load(sure_model, device="cpu")
    images = list(walk(swatches / "stream"))
    answers = list(firstsight.Discoverer(model, model.register(radius=0)).discover_many(images))
    new = {"magenta": "new-1", "red": "new-2", "white": "new-3", "yellow": "new-4"}
    assert [answer.category for answer in answers] == [new.get(i.parent.name, i.parent.name) for i in images]
    assert list(model.names) == KNOWN
