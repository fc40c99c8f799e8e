"""Every method there is: the same contract, saved and loaded, usable by name."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.testing import assert_close

import firstsight
from firstsight.checks import check_discoverer
from firstsight.cli.explain import drawn
from firstsight.core.errors import SettingsError
from firstsight.core.settings import specs_of
from firstsight.methods.baselines.contrastive import contrastive_loss
from firstsight.methods.baselines.deep_hash import Csq, Dpn, Mdsh, OrthoHash
from firstsight.methods.baselines.handcrafted import closest
from firstsight.methods.baselines.indices import RankStat, WinnerTakesAll
from firstsight.methods.baselines.simgcd import simgcd_loss
from firstsight.methods.baselines.smile import Outputs as SmileOutputs
from firstsight.methods.baselines.smile import Smile
from firstsight.methods.catalogue import METHODS, method, parts_of
from firstsight.methods.decisions import CentreDecision
from firstsight.methods.phe.settings import PrototypeSettings
from firstsight.methods.reach import chosen_reach
from firstsight.methods.settings import settings as settings_of
from firstsight.pages.gallery import as_page
from firstsight.register.features import FeatureRegister
from tiny_settings import tiny_for

ON_THE_FLY = [name for name, each in METHODS.items() if each.on_the_fly]


def settings_for(name: str, tiny: dict[str, Any], **changes: Any) -> Any:
    bits = {"bits": 16} if method(name).bits == "powers of two" else {}
    told = {"expected_categories": 8} if name == "phe-paper" else {}
    return settings_of(**tiny_for(name, {**tiny, "epochs": 2}, **bits, **told, **changes))


@pytest.fixture
def images(moths: Path) -> Sequence[Path]:
    return sorted((moths / "stream").rglob("*.jpg"))[::3]


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_every_method_keeps_the_contract_and_its_answers_when_saved(
    name: str, moths: Path, tiny: dict[str, Any], images: Sequence[Path], tmp_path: Path
) -> None:
    model = firstsight.fit(moths / "support", tmp_path / "m", settings_for(name, tiny), device="cpu")
    assert method(model.settings.method).implementation == method(name).implementation
    assert model.report["lines"]
    loaded = firstsight.load(tmp_path / "m", device="cpu")
    assert loaded.register().header() == model.register().header()
    pixels = [model.prepare(image) for image in images]
    assert np.array_equal(loaded.encode(pixels), model.encode(pixels))
    assert f"`{model.settings.method}`" in (tmp_path / "m" / "README.md").read_text()
    model.image_encoder.exact = True  # otherwise codes near zero may depend on what else is in a batch
    check_discoverer(lambda: firstsight.Discoverer(model), images)
    check_evidence(loaded, images[0])


def check_evidence(model: firstsight.Model, image: Path) -> None:
    """Whatever the method, there is something to show, it is about this answer, and every format can draw it."""
    found = firstsight.explain(model, image)
    assert found.answer == firstsight.Discoverer(model).predict_one(image)
    assert len(found.similar) == (4 if "simgcd" in model.settings.method else 5)  # one prototype for each of 4
    assert all(each.category in model.names and each.picture for each in found.similar)
    assert [each.similarity for each in found.similar] == sorted((e.similarity for e in found.similar), reverse=True)
    assert sum(each.count for each in found.sums) == len(found.similar)
    assert [each.distance for each in found.near] == sorted(each.distance for each in found.near)
    assert found.looked is not None
    assert found.looked.shape == (4, 4)  # 64 pixels in patches of 16
    assert str(found.answer.category or "New") in found.sentence
    for suffix in (".html", ".json"):
        assert drawn([found, found], suffix)
    assert b"<html lang=" in as_page(model, "tiny.model")[0]


@pytest.mark.parametrize("name", ON_THE_FLY)
def test_a_step_lowers_the_loss(name: str) -> None:
    """On random features of three categories, a few steps on the method's own losses."""
    torch.manual_seed(0)
    small = {"feature_dim": 8, "hash_hidden": 16, "prototypes": 2, "theta": 0.0, "expected_categories": 6}
    settings = settings_for(name, small)
    learner = parts_of(settings.method)[0](nn.Linear(6, 5), 5, 3, settings).train()
    if not learner.learns:
        return
    stem, labels = torch.randn(12, 6), torch.arange(12) % 3
    stem, labels = stem.repeat(learner.views, 1), labels.repeat(learner.views)
    optimiser = torch.optim.Adam(learner.parameters(), lr=1e-3)
    totals = []
    for _ in range(40):
        terms = learner.losses(learner(stem), labels)
        assert all(value.isfinite() for value in terms.values()), terms
        optimiser.zero_grad()
        terms["total"].backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        totals.append(terms["total"].item())
    assert totals[-1] < totals[0]


def test_variants_are_phe_with_their_settings(moths: Path, tiny: dict[str, Any]) -> None:
    model = firstsight.fit(moths / "support", device="cpu", **{**tiny, "epochs": 1, "method": "phe-no-lp"})
    assert (model.settings.method, model.settings.gamma, model.settings.prototype_start) == ("phe", 0.0, "random")
    told = {**tiny, "epochs": 1, "method": "phe-paper", "expected_categories": 8}
    assert firstsight.fit(moths / "support", device="cpu", **told).settings.similarity == "paper"


def test_methods_that_never_discover_found_nothing(moths: Path, tiny: dict[str, Any], images: Sequence[Path]) -> None:
    for name in ("closed-set", "closed-set-ce"):
        model = firstsight.fit(moths / "support", settings=settings_for(name, tiny), device="cpu")
        answers = list(firstsight.Discoverer(model).discover_many(images))
        assert not any(answer.is_new for answer in answers)


def test_contrast_by_hand() -> None:
    """Two categories at right angles, two images each: log(1 + 2 e^(-1/T)) for every image."""
    points = torch.tensor([[1.0, 0], [2.0, 0], [0, 1.0], [0, 3.0]])
    loss = contrastive_loss(points, torch.tensor([0, 0, 1, 1]), temperature=0.5)
    assert_close(loss, torch.log(torch.tensor(1 + 2 * np.exp(-2.0), dtype=torch.float32)))


def test_an_image_alone_in_its_category_adds_nothing() -> None:
    assert contrastive_loss(torch.randn(3, 4), torch.tensor([0, 1, 2])) == 0


def small(kind: Any, **changes: Any) -> Any:
    torch.manual_seed(0)
    given = {"bits": 4, "feature_dim": 8, "hash_hidden": 16, "prototypes": 2, **changes}
    own = specs_of(kind.settings_type)
    settings = kind.settings_type(**{name: value for name, value in given.items() if name in own})
    return kind(nn.Identity(), 5, 3, settings)


def test_dpn_by_hand() -> None:
    """A bit two beyond zero on the right side costs nothing, on zero 1, two on the wrong side 3."""
    learner = small(Dpn)
    learner.targets.copy_(torch.tensor([[1.0, 1, 1, 1]] * 3))
    assert learner.code_loss(torch.tensor([[2.0, 0, -2, 1]]), torch.tensor([0])) == 4


def test_orthohash_by_hand() -> None:
    learner = small(OrthoHash)
    learner.targets.copy_(torch.tensor([[1.0, 1, 1, 1], [1, 1, -1, -1], [-1, -1, -1, -1]]))
    expected = F.cross_entropy(2**0.5 * np.log(2) * torch.tensor([[1 - 0.2, 0.0, -1.0]]), torch.tensor([0]))
    assert_close(learner.code_loss(torch.tensor([[3.0, 3, 3, 3]]), torch.tensor([0])), expected)


def test_csq_by_hand() -> None:
    """Bits at zero are even odds, log 2 each; saturated ones on the right side cost nothing but round-off."""
    learner = small(Csq)
    learner.targets.copy_(torch.tensor([[1.0, -1, 1, 1]] * 3))
    even = learner.code_loss(torch.zeros(1, 4), torch.tensor([0]))
    assert_close(even, torch.tensor(np.log(2.0) + 1e-4, dtype=torch.float32))
    assert learner.code_loss(torch.tensor([[20.0, -20, 20, 20]]), torch.tensor([0])) < 1e-6


def test_mdsh_by_hand() -> None:
    """Three codes; an image on the first: -log p for it, -log(1 - p) for the others."""
    learner = small(Mdsh)
    learner.targets.copy_(torch.tensor([[1.0, 1, 1, 1], [1, 1, -1, -1], [-1, -1, -1, -1]]))
    p = torch.softmax(2 * torch.tensor([1.0, 0.0, -1.0]), 0)  # the root of 4 bits times the cosines
    expected = -(p[0].log() + (1 - p[1]).log() + (1 - p[2]).log())
    assert_close(learner.code_loss(torch.full((1, 4), 9.0), torch.tensor([0])), expected, rtol=1e-4, atol=1e-5)


def test_smile_by_hand() -> None:
    """One category, two views at the same place: no contrast but with itself; the regulariser is 3 (1 - tanh 1)."""
    outputs = SmileOutputs(torch.ones(2, 4), torch.zeros(2, 4))
    terms = small(Smile).losses(outputs, torch.tensor([0, 0]))
    assert_close(terms["L_sup"], torch.tensor(0.0))
    assert_close(terms["total"], torch.tensor(3 * (1 - np.tanh(1.0)), dtype=torch.float32))


def test_simgcd_by_hand() -> None:
    """Two images at right angles, seen alike twice, on their prototypes: each part is a softmax one can write down."""
    features = torch.eye(2).repeat(2, 1)
    labels = torch.tensor([0, 1, 0, 1])

    def off(scale: float) -> float:
        return float(np.log(1 + 2 * np.exp(-scale)))  # one image like it, two at right angles

    expected = 0.65 * off(1.0) + 0.35 * (off(1 / 0.07) + np.log(1 + np.exp(-10)))
    loss = simgcd_loss(features, features, torch.eye(2), labels)
    assert_close(loss, torch.tensor(expected, dtype=torch.float32))


def test_random_targets_are_all_different() -> None:
    for seed in range(5):
        codes = Dpn.handcrafted(100, PrototypeSettings(bits=8, seed=seed))
        assert len({code.tobytes() for code in codes}) == 100


@pytest.mark.parametrize(
    "name", ["phe-fixed-h", "mdsh", "mdsh-ball", "csq-mc", "simgcd-mc", "linear-cls", "supcon-cls"]
)
def test_handcrafted_centres_are_as_far_apart_as_asked(name: str) -> None:
    settings = settings_of(name, feature_dim=8, hash_hidden=16)
    learner = parts_of(name)[0](nn.Identity(), 5, 100, settings)
    centres = learner.centres()
    assert centres is not None
    assert closest(centres.numpy().astype(np.int8)) >= 3  # d_max of 12 bits and 200 categories


def test_csq_has_no_12_bits() -> None:
    assert method("csq").lengths([12, 32]) == [32]
    with pytest.raises(SettingsError, match="12"):
        small(parts_of("csq")[0], bits=12)


def test_indices_are_codes_with_three_bits_set() -> None:
    for kind, size in ((RankStat, 32), (WinnerTakesAll, 48)):
        features = small(kind).eval().features(torch.randn(7, 5))
        assert features.shape == (7, size)
        assert ((features > 0).sum(1) == 3).all()


def test_winners_come_one_from_each_group() -> None:
    features = small(WinnerTakesAll).eval().features(torch.randn(9, 5))
    assert ((features.view(9, 3, 16) > 0).sum(2) == 1).all()


def test_the_reach_is_found_between_near_and_far() -> None:
    """Six tight, well separated bunches: the reach lies between a bunch's width and the gap."""
    generator = np.random.default_rng(0)
    centres = np.eye(6, 8, dtype=np.float32)
    labels = np.repeat(np.arange(6), 8)
    features = (centres[labels] + generator.normal(0, 0.02, (48, 8))).astype(np.float32)
    reach = chosen_reach(features, labels, "cosine")
    assert 0 < reach < 0.9
    means = np.stack([features[labels == c].mean(0) for c in range(5)])
    register = FeatureRegister("cosine", reach, [str(i) for i in range(5)], means)
    answers = register.assign_many(features)
    assert (answers.category[:40] == labels[:40]).all()
    assert len({*answers.category[40:].tolist()}) == 1


def test_a_method_of_ones_own_is_named_by_where_it_is(
    moths: Path, tiny: dict[str, Any], images: Sequence[Path]
) -> None:
    own = tiny_for("firstsight.methods.baselines.leader:ClassMeans", tiny)
    model = firstsight.fit(moths / "support", device="cpu", **own)
    assert isinstance(model.decision, CentreDecision)
    model.image_encoder.exact = True
    check_discoverer(lambda: firstsight.Discoverer(model), images)


def test_a_method_that_is_not_there_is_refused(moths: Path, tiny: dict[str, Any]) -> None:
    for name, words in (
        ("smiles", "did you mean smile"),
        ("x.y:Z", "cannot be loaded"),
        ("firstsight.encode.learner:Learner", "names its decision and settings"),
        ("firstsight.methods.baselines.classifier:LinearLearner", "names its decision and settings"),
        ("offline-kmeans", "nothing to fit"),
        ("phe-paper", "--expected-categories"),
    ):
        with pytest.raises(SettingsError) as caught:
            firstsight.fit(moths / "support", device="cpu", method=name)
        assert words in f"{caught.value} {caught.value.remedy}"


def test_the_papers_rows_exist() -> None:
    from firstsight.reproduce.paper import paper_figure

    for each in METHODS.values():
        if each.paper:
            bits = None if each.bits == "none" else 32 if each.bits == "powers of two" or each.name == "csq-mc" else 12
            assert paper_figure("cub", each.name, bits), each.name
