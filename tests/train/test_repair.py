"""Small last batches wait, and a collapse at the end of training is noticed, said and trained away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import nn

import firstsight
from firstsight.core.protocols import Silent
from firstsight.data.folder import read_folder
from firstsight.methods.phe.model import HARDER, LEAST_BATCH, PHE
from firstsight.methods.settings import settings as settings_of
from firstsight.train.fit import untrained
from firstsight.train.pixels import PixelCache
from firstsight.train.repair import repair
from firstsight.train.support import Support

Tiny = dict[str, Any]


def support_of(moths: Path, tiny: Tiny, **changes: Any) -> Support:
    data = read_folder(moths / "support")
    encoder = untrained(settings_of(**{**tiny, **changes}), data, "cpu")
    return Support(data.labels, PixelCache(data.images, encoder.preprocess, Silent()), encoder, Silent())


@pytest.mark.parametrize(
    ("batch_size", "sizes"), [(8, [8, 8, 8]), (10, [10, 10, 4]), (11, [11, 11]), (23, [23]), (24, [24]), (100, [24])]
)
def test_a_last_batch_under_a_quarter_waits_for_another_epoch(
    moths: Path, tiny: Tiny, batch_size: int, sizes: list[int]
) -> None:
    """24 images: BatchNorm over two of them would make opposites of whatever they are."""
    support = support_of(moths, tiny, batch_size=batch_size)
    assert [len(indices) for indices, _ in support.batches(0)] == sizes
    seen = {int(i) for epoch in range(40) for indices, _ in support.batches(epoch) for i in indices}
    assert seen == set(range(24))


def phe(centres: list[list[float]], **changes: Any) -> PHE:
    """PHE with these centres."""
    own = settings_of("phe", centres="last-batch", bits=len(centres[0]), hash_hidden=4, feature_dim=4, **changes)
    learner = PHE(nn.Identity(), 4, len(centres), own)
    learner.last_centres.copy_(torch.tensor(centres))
    return learner


def test_images_are_apart_that_lie_nearest_to_their_own_centre_alone() -> None:
    features, labels = torch.tensor([[3.0, 1], [-1, -2], [2, -1]]), torch.tensor([0, 1, 0])
    assert phe([[1, 1], [-1, -1]]).apart(features[:2], labels[:2]) == 1
    assert phe([[1, 1], [2, 3]]).apart(features, labels) == 0  # centres that share a code
    assert phe([[1, 1], [-1, -1]]).apart(features, labels) == pytest.approx(2 / 3)  # the third is between the two


def test_training_on_is_harder_on_centres_and_never_in_tiny_batches() -> None:
    harder = phe([[1, 1], [-1, 1]], batch_size=2, epochs=9).harder()
    assert harder is not None
    assert (harder.alpha, harder.batch_size, harder.epochs) == (HARDER * 0.1, LEAST_BATCH, 72)
    for left_alone in ({"repair": False}, {"alpha": 0.0}, {"gamma": 0.0}):
        assert phe([[1, 1], [-1, 1]], **left_alone).harder() is None


def test_a_collapse_is_trained_away_and_the_best_state_is_kept(
    moths: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch
) -> None:
    support = support_of(moths, tiny, epochs=2)
    learner = support.encoder.learner
    kept: list[dict[str, torch.Tensor]] = []
    shares = iter([0.25, 0.75, 0.5])

    def apart(*given: torch.Tensor) -> float:
        kept.append({name: value.clone() for name, value in learner.state_dict().items()})
        return next(shares)

    monkeypatch.setattr(learner, "apart", apart)
    asked = learner.settings
    lines = repair(learner, support, torch.zeros(24, 12), Silent())
    assert ["25%" in line and "75%" in line for line in lines] == [True]
    assert learner.settings is asked
    assert support.settings is asked
    best, last = kept[1], kept[2]  # after the first round, and after the second
    assert all(torch.equal(value, best[name]) for name, value in learner.state_dict().items())
    assert not all(torch.equal(best[name], value) for name, value in last.items())


def test_what_is_apart_is_left_alone(moths: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    support = support_of(moths, tiny)
    learner = support.encoder.learner
    before = {name: value.clone() for name, value in learner.state_dict().items()}
    monkeypatch.setattr(learner, "apart", lambda *given: 0.9)
    assert repair(learner, support, torch.zeros(24, 12), Silent()) == []
    assert all(torch.equal(value, before[name]) for name, value in learner.state_dict().items())


def test_a_fit_says_that_it_was_repaired(moths: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    shares = iter([0.5, 1.0])
    monkeypatch.setattr(PHE, "apart", lambda self, *given: next(shares))
    model = firstsight.fit(moths / "support", device="cpu", **{**tiny, "epochs": 1})
    assert any("training had collapsed: 50%" in line for line in model.report["lines"])
