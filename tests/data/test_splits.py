"""Drawing the support set."""

from __future__ import annotations

import numpy as np

from firstsight.data.splits import draw_support


def test_the_pooled_draw_is_numpys_legacy_choice_with_seed_0() -> None:
    np.random.seed(0)  # what the released code does
    expected = sorted(np.random.choice(10, 5, replace=False).tolist())
    assert np.flatnonzero(draw_support([0] * 5 + [1] * 5)).tolist() == expected


def test_the_pooled_draw_takes_half_of_all_not_of_each() -> None:
    labels = np.repeat(np.arange(20), 7)
    per_category = np.bincount(labels[draw_support(labels)], minlength=20)
    assert per_category.sum() == 70
    assert per_category.min() < per_category.max()


def test_the_stratified_draw_takes_the_share_of_each() -> None:
    labels = np.repeat(np.arange(20), 6)
    assert (np.bincount(labels[draw_support(labels, share=0.5, stratified=True)]) == 3).all()


def test_cub_and_pets_have_as_many_support_images_as_the_released_split() -> None:
    assert draw_support([0] * 2997).sum() == 1498  # CUB: 5,994 images, 2,997 of known categories
    assert draw_support([0] * 1884).sum() == 942  # Pets
