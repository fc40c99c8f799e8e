"""What the runs of a benchmark share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from firstsight.core.protocols import Silent
from firstsight.data.source import read_images
from firstsight.methods.settings import settings
from firstsight.reproduce.task import encode_stream, prepare
from firstsight.train.fit import fit_images


def test_the_stream_is_encoded_once_by_every_encoder(moths: Path, tiny: dict[str, Any]) -> None:
    looks = {name: tiny[name] for name in ("backbone", "weights", "image_size")}
    parts = read_images(moths / "support"), read_images(moths / "stream")
    task = prepare(parts, settings("ncm", **looks), 1, "cpu", Silent())

    def encoded(method: str, **changes: Any) -> Any:
        chosen = settings(method, **looks, **changes)
        return encode_stream(task, fit_images(task.support, chosen, "cpu", Silent(), task.pixels), Silent())

    first = encoded("firstsight-frozen", seed=0)
    assert first.shape[0] == len(task.truth)
    assert encoded("firstsight-frozen", seed=1) is first
    assert not np.array_equal(encoded("phe", epochs=1, prototypes=2, hash_hidden=16, feature_dim=first.shape[1]), first)
    again = encoded("firstsight-frozen", seed=0)
    assert again is not first
    np.testing.assert_allclose(again, first, rtol=1e-5)
