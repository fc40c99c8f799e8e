"""A compiled trunk sees one number of images only, and is not made where it does not pay."""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

import firstsight
from firstsight.core.protocols import Silent
from firstsight.train.compiled import PAYS, fastest_stem, in_one_size


def test_any_number_of_images_goes_through_in_one_size() -> None:
    sizes = []

    def stem(pixels: Tensor) -> Tensor:
        sizes.append(len(pixels))
        return pixels.float().mean((1, 2, 3))

    pixels = torch.randint(0, 255, (11, 4, 4, 3), dtype=torch.uint8)
    torch.testing.assert_close(in_one_size(stem, 4)(pixels), pixels.float().mean((1, 2, 3)))
    assert sizes == [4, 4, 4]


def test_nothing_is_compiled_on_a_cpu(model_folder: Path) -> None:
    encoder = firstsight.load(model_folder, device="cpu").torch_encoder
    assert fastest_stem(encoder, PAYS, Silent()) == encoder.stem
