"""The projection, and the spread of categories it has not seen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from clouds import clouds
from firstsight.methods.firstsight.discriminant import (
    Span,
    axes_again,
    axes_of_few,
    category_means,
    fit_projection,
    pooled_covariance,
    principal_axes,
)
from firstsight.methods.firstsight.prior import PRIOR
from firstsight.methods.firstsight.space import Parts, fit_space


def test_a_projection_makes_categories_round_and_puts_them_at_the_origin() -> None:
    features, labels = clouds(20, 50)
    features[:, 0] *= 2  # one direction in which everything varies more
    projected = fit_projection(features, labels, np.eye(12))(features)
    means = category_means(projected, labels)
    within = projected - means[labels]
    assert np.allclose(within.T @ within / len(projected), np.eye(12), atol=0.15)
    assert np.allclose(means.mean(axis=0), 0)
    between = np.cov(means.T)
    assert np.allclose(between - np.diag(np.diag(between)), 0, atol=0.3)


def test_leading_dimensions_are_where_the_means_differ() -> None:
    features, labels = clouds(4, 60, apart=3.0)
    means = category_means(fit_projection(features, labels, np.eye(12))(features), labels)
    spread = np.square(means).mean(axis=0)
    assert spread[:3].min() > 1
    assert spread[3:].max() < 0.01


def test_the_dimensions_after_those_are_the_datas_own() -> None:
    """Three categories leave ten of twelve dimensions in which means do not differ; noise must not turn them."""
    features, labels = clouds(3, 60)
    features *= np.linspace(1, 3, 12)
    noise = 1 + 1e-6 * np.random.default_rng(1).standard_normal(features.shape)
    one, other = (fit_projection(each, labels, np.eye(12)).matrix for each in (features, features * noise))
    cosines = np.abs((one * other).sum(axis=0)) / np.linalg.norm(one, axis=0) / np.linalg.norm(other, axis=0)
    assert cosines.min() > 0.999


@given(st.integers(0, 9), st.sampled_from([3, 50]))
def test_along_all_their_axes_fewer_values_say_the_same(seed: int, rank: int) -> None:
    """20 images of 50 values differ in 19 directions; a projection found there is one of the features themselves."""
    generator = np.random.default_rng(seed)
    features = generator.standard_normal((20, rank)) @ generator.standard_normal((rank, 50)) + 3
    span = Span.of(features)
    assert span.features.shape == (20, 19)
    centred = features - features.mean(axis=0)
    assert np.allclose(span.features @ span.features.T, centred @ centred.T)
    there = fit_projection(span.features, np.arange(20) % 4, np.eye(19, 7))
    assert np.allclose(span.whole(there)(features), there(span.features), atol=1e-4)


def test_the_fewer_images_the_rounder_their_covariance() -> None:
    """Two images of a category differ in one direction only, of which nothing can be learned."""
    features = np.array([[3.0, 0, 0], [-3, 0, 0]])
    assert np.allclose(pooled_covariance(features, np.array([0, 0])), np.eye(3) * 18 / 3)
    features, labels = clouds(2, 2000)
    features[:, 0] *= 3
    assert np.diag(pooled_covariance(features, labels))[:2] == pytest.approx([9, 1], rel=0.15)


@pytest.mark.parametrize("labels", [[0, 1, 2], [0, 0, 1, 1]], ids=["one image each", "copies"])
def test_what_does_not_vary_is_given_half_of_how_categories_differ(labels: list[int]) -> None:
    features = np.array([[2.0, 0], [-2, 0], [0, 4]])[np.array(labels)]
    assert np.allclose(pooled_covariance(features, np.array(labels)), np.eye(2) * np.square(features).mean() / 2)


def test_axes_of_few_keep_distances_and_are_the_same_every_time() -> None:
    """Eight images: two principal components, the rest random; lengths in 600 dimensions come out about right."""
    generator = np.random.default_rng(0)
    features, others = generator.standard_normal((8, 600)), generator.standard_normal((50, 600))
    axes = axes_of_few(features, 192)
    assert axes.shape == (600, 192)
    assert np.array_equal(axes, axes_of_few(features, 192))
    lengths = np.linalg.norm(others @ axes, axis=1) / np.linalg.norm(others, axis=1)
    assert lengths.mean() == pytest.approx(1, abs=0.05)
    assert lengths.std() < 0.1


def test_axes_again_are_nearly_the_principal_ones() -> None:
    generator = np.random.default_rng(0)
    features = generator.standard_normal((300, 40)) * np.geomspace(10, 0.1, 40)
    start = principal_axes(features, 10)
    own, again = principal_axes(features[:200], 10), axes_again(features[:200], start)
    overlap = np.linalg.svd(own.T @ again, compute_uv=False)
    assert again.shape == own.shape
    assert overlap.min() > 0.98


def test_the_spread_of_categories_that_were_left_out_is_found_without_bias() -> None:
    features, labels = clouds(60, 40, apart=3.0)
    space = fit_space(features, labels, 12)
    assert space.within.mean() == pytest.approx(1, abs=0.15)
    assert space.between.mean() == pytest.approx(9, rel=0.25)


def test_what_was_never_measured_is_believed() -> None:
    """Two categories of one image: nothing varies within, and nothing is left when one is left out."""
    space = fit_space(*clouds(2, 1, width=8), 8)
    assert space.within.tolist() == [PRIOR.leading_within, *[PRIOR.resting_within] * 7]
    ratio = space.between / space.within
    assert ratio.tolist() == pytest.approx([PRIOR.level * PRIOR.leading, *[PRIOR.level] * 7])


def test_dimensions_correspond_part_by_part() -> None:
    """Of a projection with 1 leading, 2 informed and 2 other dimensions to one with 2, 4 and 1."""
    fewer, here = Parts(1, 3, 5), Parts(2, 6, 7)
    found = here.from_fewer(np.array([9.0, 5, 4, 1, 3]), fewer)
    assert found.tolist() == [9, 9, 5, 5, 4, 4, 2]  # 2: the mean of those nobody can tell apart


@given(st.integers(2, 6), st.integers(1, 5), st.integers(0, 1000))
def test_any_small_support_set_has_a_space(categories: int, images: int, seed: int) -> None:
    features, labels = clouds(categories, images, width=20, seed=seed)
    space = fit_space(features, labels, 16)
    assert np.isfinite(space.projection(features)).all()
    assert np.isfinite([space.within, space.between]).all()
    assert (space.within > 0).all()
    assert (space.between > 0).all()
