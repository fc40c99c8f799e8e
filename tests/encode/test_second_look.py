"""The second look: where it goes, what it shows, and who takes it."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
import timm
import torch
from hypothesis import given
from hypothesis import strategies as st
from safetensors.torch import save_file

import firstsight
from firstsight.encode.second_look import SMALLEST, TwoLooks, enlarged, square


@pytest.fixture(scope="module")
def cnn(tiny: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Settings of a tiny CNN with weights of its own."""
    weights = tmp_path_factory.mktemp("weights") / "cnn.safetensors"
    save_file(model("test_efficientnet").state_dict(), weights)
    return {"method": "firstsight", "backbone": "test_efficientnet", "weights": str(weights), "image_size": 96}


def model(name: str) -> Any:
    torch.manual_seed(0)
    options: dict[str, Any] = {"img_size": 64} if "vit" in name else {}
    return timm.create_model(name, num_classes=0, **options).eval().requires_grad_(False)


def test_where_nothing_stands_out_it_is_the_whole_image() -> None:
    across, down, half = square(torch.full((1, 7, 7), 3.0))
    assert half.item() == 1
    assert [across.item(), down.item()] == pytest.approx([0, 0], abs=1e-6)
    images = torch.rand(1, 3, 16, 16)
    torch.testing.assert_close(enlarged(images, torch.ones(1, 7, 7)), images, atol=1e-4, rtol=0)


def test_two_spots_by_hand() -> None:
    """In the second and the fourth of five columns, at -0.4 and 0.4: deviation 0.4, so 0.8 to either side."""
    places = torch.zeros(1, 5, 5)
    places[0, 2, [1, 3]] = 1.0
    assert [value.item() for value in square(places)] == pytest.approx([0, 0, 0.8], abs=1e-5)


@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.integers(2, 9))
def test_it_stays_in_the_image_and_is_not_too_small(seed: int, height: int, width: int) -> None:
    places = torch.rand(4, height, width, generator=torch.Generator().manual_seed(seed)) ** 8
    across, down, half = square(places)
    assert ((half >= SMALLEST) & (half <= 1)).all()
    assert (across.abs() + half <= 1 + 1e-6).all()
    assert (down.abs() + half <= 1 + 1e-6).all()


@given(st.integers(0, 2**32 - 1), st.integers(4, 40), st.integers(4, 40))
def test_rows_and_then_columns_are_what_torch_samples_at_once(seed: int, height: int, width: int) -> None:
    generator = torch.Generator().manual_seed(seed)
    images, places = torch.rand(2, 3, height, width, generator=generator), torch.rand(2, 5, 5, generator=generator) ** 4
    with patch.object(torch.onnx, "is_in_onnx_export", lambda: True):
        at_once = enlarged(images, places)
    torch.testing.assert_close(enlarged(images, places), at_once, atol=1e-4, rtol=0)


def test_what_stands_out_is_larger_the_second_time() -> None:
    images, places = torch.zeros(1, 3, 60, 60), torch.zeros(1, 6, 6)
    images[:, :, 40:50, 10:20] = 1.0
    places[0, 4, 1] = 1.0
    closer = enlarged(images, places)
    assert (closer > 0.5).float().mean() > 5 * (images > 0.5).float().mean()


@pytest.mark.parametrize("name", ["test_efficientnet", "test_resnet", "test_convnext"])
def test_a_cnn_looks_twice_at_every_image_by_itself(name: str) -> None:
    backbone, images = model(name), torch.rand(3, 3, 64, 64)
    images[:, :, :20, :20] += 3
    both = TwoLooks(backbone)(images)
    once = torch.nn.functional.normalize(backbone(images), dim=-1)
    assert both.shape == once.shape
    second = both - once
    torch.testing.assert_close(second.norm(dim=-1), torch.ones(3))
    assert (second - once).abs().max() > 1e-4
    torch.testing.assert_close(TwoLooks(backbone)(images[1:2])[0], both[1], atol=1e-5, rtol=1e-4)


def test_a_transformer_looks_once() -> None:
    backbone, images = model("test_vit"), torch.rand(2, 3, 64, 64)
    torch.testing.assert_close(TwoLooks(backbone)(images), backbone(images))


def test_a_model_keeps_how_often_it_looks(moths: Path, cnn: dict[str, Any], tmp_path: Path) -> None:
    photo = sorted((moths / "stream").rglob("*.jpg"))[0]
    features = []
    for looks, second_look in enumerate((False, True)):
        fitted = firstsight.fit(moths / "support", tmp_path / str(looks), device="cpu", second_look=second_look, **cnn)
        loaded = firstsight.load(tmp_path / str(looks), device="cpu")
        features.append(fitted.encode([fitted.prepare(photo)]))
        np.testing.assert_allclose(loaded.encode([loaded.prepare(photo)]), features[-1], rtol=1e-5)
    assert not np.allclose(features[0], features[1], atol=1e-2)


def test_where_it_looked_is_told_of_the_whole_image(moths: Path, cnn: dict[str, Any]) -> None:
    fitted = firstsight.fit(moths / "support", device="cpu", **cnn)
    told = firstsight.explain(fitted, sorted((moths / "stream").rglob("*.jpg"))[0])
    assert told.looked is not None
    assert told.looked.shape == (3, 3)
    assert told.looked.max() == 1
    assert told.closer is not None
    left, top, side = told.closer
    assert 0 <= left <= left + side <= 1 + 1e-6
    assert 0 <= top <= top + side <= 1 + 1e-6
    assert told.as_dict()["closer"] == {"left": left, "top": top, "side": side}
    once = firstsight.fit(moths / "support", device="cpu", second_look=False, **cnn)
    assert firstsight.explain(once, sorted((moths / "stream").rglob("*.jpg"))[0]).closer is None
