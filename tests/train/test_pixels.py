"""Decoded images: the crops a GPU would cut are those of the one image path, and processes share them by a file."""

from __future__ import annotations

import gc
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.protocols import Silent
from firstsight.data.images import CENTRE, Preprocess, crop, prepared
from firstsight.data.synthetic import species, write_folder
from firstsight.train.pixels import Flat, PixelCache

HALF = (0.5, 0.5, 0.5)
PREPROCESS = Preprocess(resize=40, crop=28, mean=HALF, std=HALF)


@pytest.fixture(scope="module")
def paths(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    folder = tmp_path_factory.mktemp("moths")
    write_folder(folder, species(2), range(3), size=48)
    return sorted(folder.rglob("*.jpg"))


places = st.one_of(st.floats(0, 1, exclude_max=True, width=32), st.just(CENTRE))


@given(
    st.lists(st.tuples(st.integers(28, 60), st.integers(28, 60)), min_size=1, max_size=4),
    st.lists(st.tuples(places, places, places), min_size=1, max_size=6),
    st.randoms(use_true_random=False),
)
def test_flat_crops_are_the_crops_of_the_image_path(shapes, draws, random) -> None:  # type: ignore[no-untyped-def]
    generator = np.random.default_rng(random.randrange(1000))
    images = [generator.integers(0, 256, (h, w, 3), dtype=np.uint8) for h, w in shapes]
    indices = [random.randrange(len(images)) for _ in draws]
    flat = Flat(
        np.concatenate([image.reshape(-1, 3) for image in images]), np.array(shapes, np.int64), torch.device("cpu")
    )
    drawn = torch.tensor(draws)
    together = flat.crops(torch.tensor(indices), drawn, 28)
    for cut, i, draw in zip(together, indices, drawn.tolist(), strict=True):
        assert (cut.numpy() == crop(images[i], 28, *draw)).all()


def test_central_crops_are_what_answering_sees(paths: list[Path]) -> None:
    cache = PixelCache(paths, PREPROCESS, Silent())
    where = torch.device("cpu")
    cut = cache.crops(torch.arange(len(paths)), torch.full((len(paths), 3), CENTRE), where)
    assert all((cut[i].numpy() == prepared(path, PREPROCESS)).all() for i, path in enumerate(paths))


def test_a_shared_cache_is_the_same_and_travels_without_its_pixels(paths: list[Path], tmp_path: Path) -> None:
    cache = PixelCache(paths, PREPROCESS, Silent())
    whole = [cache[i].copy() for i in range(len(paths))]
    own = len(pickle.dumps(cache))
    cache.share(tmp_path / "pixels")
    sent = pickle.dumps(cache)
    assert len(sent) < own / 2
    received = pickle.loads(sent)
    assert all((received[i] == image).all() and (cache[i] == image).all() for i, image in enumerate(whole))


def test_images_beyond_the_budget_lie_in_a_file_that_goes_away(paths: list[Path], tmp_path: Path) -> None:
    cache = PixelCache(paths, PREPROCESS, Silent(), budget=2 * 40 * 40 * 3)
    cache.share(tmp_path / "pixels")  # it is in a file already
    assert not (tmp_path / "pixels").exists()
    received = pickle.loads(pickle.dumps(cache))
    whole = PixelCache(paths, PREPROCESS, Silent())
    assert all((received[i] == whole[i]).all() and (cache[i] == whole[i]).all() for i in range(len(paths)))
    file = cache.file
    assert file is not None
    assert file.exists()
    del cache, received
    gc.collect()
    assert not file.exists()
