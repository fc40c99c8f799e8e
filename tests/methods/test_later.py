"""The rules published after the paper: what each keeps of the support set, by hand."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor
from torch.testing import assert_close

import firstsight
from firstsight.core.protocols import SupportFeatures
from firstsight.methods.catalogue import parts_of
from firstsight.methods.later.age import chosen_reach, thresholds_of
from firstsight.methods.later.dp_boa import DirichletProcess, prior_weights, whitening
from firstsight.methods.later.online_clustering import MovingLeaders
from firstsight.methods.later.sync import Marks
from firstsight.methods.later.talon import margin_loss
from firstsight.methods.simulation import withheld
from firstsight.register.niw import NiwRegister
from tiny_settings import tiny_for

LATER = ["dp-boa", "age", "talon", "talon-p", "sync", "online-clustering"]


def bunches(categories: int = 3, each: int = 12, width: int = 6, spread: float = 0.3) -> SupportFeatures:
    generator = np.random.default_rng(0)
    labels = np.repeat(np.arange(categories), each)
    features = 2 * np.eye(categories, width)[labels] + spread * generator.standard_normal((len(labels), width))
    return SupportFeatures(features.astype(np.float32), labels, tuple("abcdef"[:categories]))


def test_the_margin_by_hand() -> None:
    """At 60 degrees from its direction and at 90 from the other: 60 degrees and 0.2 more against 90."""
    cosines = torch.tensor([[0.5, 0.0]])
    expected = torch.log1p(torch.exp(-30 * torch.cos(torch.tensor(np.pi / 3 + 0.2, dtype=torch.float32))))
    assert_close(margin_loss(cosines, torch.tensor([0])), expected)


def test_dp_boas_prior_by_hand() -> None:
    """Two categories of two and four images in one dimension."""
    points = np.array([[0.0], [2.0], [9.0], [11.0], [9.0], [11.0]])
    labels = np.array([0, 0, 1, 1, 1, 1])
    within = (2 * 1 + 4 * 1) / (6 - 2)
    between = 2 * 4.5**2  # of the means 1 and 10
    kappa, n0 = prior_weights(points, labels)
    assert kappa == pytest.approx(1 / (between / within - (1 / 2 + 1 / 4) / 2))
    assert n0 == 1.5
    assert prior_weights(np.repeat(points, 100, axis=0), np.repeat(labels, 100))[1] == 50
    assert prior_weights(np.zeros((4, 1)), np.array([0, 0, 1, 1]))[0] == pytest.approx(1000)


def test_whitened_features_vary_by_the_identity_within_categories() -> None:
    support = bunches()
    given, labels = support.features.astype(np.float64), support.labels
    white = given @ whitening(given, labels)
    off = white - np.stack([white[labels == c].mean(0) for c in range(3)])[labels]
    np.testing.assert_allclose(off.T @ off / (len(off) - 3), np.eye(6), atol=5e-3)


def test_dp_boa_starts_where_its_support_would_have_brought_it() -> None:
    """A register that begins with the support set is one that was taught its features one by one."""
    support = bunches()
    decision = DirichletProcess.fit(support, None)
    register, fresh = decision.register(), decision.register()
    points = decision.transform(support.features)
    assert [answer.category for answer in register.assign_many(points)] == ["abc"[i] for i in support.labels]
    assert isinstance(fresh, NiwRegister)
    nothing = np.zeros((3, 6))
    taught = NiwRegister(fresh.prior, ["a", "b", "c"], np.zeros(3), nothing, np.zeros((3, 1, 6)))
    for point, label in zip(points, support.labels.tolist(), strict=True):
        taught.learn(point, "abc"[label])
    for point in points:
        ours, theirs = fresh.match(point), taught.match(point)
        assert ours.distance == pytest.approx(theirs.distance, rel=1e-4)


def test_syncs_marks_by_hand() -> None:
    features = np.array([[1, 0], [0.5**0.5, 0.5**0.5], [0, 1], [0, 1]], dtype=np.float32)
    decision = Marks.fit(SupportFeatures(features, np.array([0, 0, 1, 1]), ("a", "b")), None)
    assert decision.marks[0] == pytest.approx(np.cos(np.pi / 8))  # both images as far from their mean
    assert decision.marks[1] == pytest.approx(1 - 1e-6)


def test_a_leaders_reach_is_measured_from_its_images() -> None:
    support = bunches()
    features = support.features / np.linalg.norm(support.features, axis=1, keepdims=True)
    decision = MovingLeaders.fit(replace(support, features=features), None)
    leaders = decision.centres / np.linalg.norm(decision.centres, axis=1, keepdims=True)
    cosines = (features * leaders[support.labels]).sum(-1)
    assert decision.typical == pytest.approx(float(cosines.mean()), abs=1e-6)
    assert -(1 - decision.typical) <= decision.radius < decision.typical


def test_ages_thresholds_by_hand() -> None:
    """Categories at 0.9 and at 0.4 with a deviation of 0.1; the third has no image: it is typical."""
    got = thresholds_of(np.array([0.9, 0.9, 0.3, 0.5]), np.array([0, 0, 1, 1]), 3)
    own = np.array([0.9, 0.4 - 0.08])
    typical = own.mean()
    np.testing.assert_allclose(got, [(own[0] + typical) / 2, (own[1] + typical) / 2, typical])


def test_ages_reach_keeps_bunches_apart() -> None:
    """The Gaussians of a third of the categories are found again, whole."""
    support = bunches(categories=6, each=16)
    reach = chosen_reach(support.features.astype(np.float64), support.labels, 0.09 * np.eye(6))
    assert 10 < reach < 2 * (2 / 0.3) ** 2  # beyond a category's own images, short of another's


def test_every_fifth_image_of_a_category_is_withheld() -> None:
    labels = np.array([0, 1] * 5 + [1] * 6 + [2] * 4)
    out = withheld(labels)
    assert [int(out[labels == c].sum()) for c in range(3)] == [1, 2, 0]
    assert out[8]  # the fifth of the first
    assert out[9]


def test_withheld_images_are_not_trained_on(moths: Path, tiny: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    from firstsight.train.support import Support

    seen: set[int] = set()
    batch = Support.batch

    def watched(self: Support, indices: Tensor, draws: Tensor) -> tuple[Tensor, Tensor]:
        seen.update(indices.tolist())
        return batch(self, indices, draws)

    monkeypatch.setattr(Support, "batch", watched)
    firstsight.fit(moths / "support", device="cpu", **tiny_for("age", tiny, epochs=1))
    assert seen == {i for i in range(24) if i % 6 != 4}  # 4 categories of 6 images


@pytest.mark.parametrize("name", LATER)
def test_a_frozen_backbone_is_left_as_it_is(name: str, moths: Path, tiny: dict[str, Any]) -> None:
    """Nothing but the head learns, and features say what the backbone does: the same whatever was trained."""
    learner, decision = parts_of(name)
    first, second = (
        firstsight.fit(moths / "support", device="cpu", **tiny_for(name, tiny, train_stages=0, epochs=epochs))
        for epochs in (1, 2)
    )
    assert not any(p.requires_grad for p in first.torch_encoder.learner.tail.parameters())
    assert isinstance(first.image_encoder.learner, learner)
    assert isinstance(first.decision, decision)
    pixels = [first.prepare(path) for path in sorted((moths / "stream").rglob("*.jpg"))[:4]]
    features, again = (model.encode(pixels) for model in (first, second))
    if name == "age":  # its classifier's probabilities come last
        features, again = features[:, :-4], again[:, :-4]
    assert np.array_equal(features, again)
