"""fit --adapt: a backbone that learns on the support set, as far as simulated discovery gains by it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from safetensors.torch import save_file

import firstsight
from firstsight.core.errors import SettingsError
from firstsight.core.protocols import Silent
from firstsight.data.synthetic import species, write_folder
from firstsight.encode.backbones import whole_model
from firstsight.methods.adaptation import RECIPE
from firstsight.methods.settings import settings
from firstsight.model.assemble import assemble
from firstsight.train import adapt as adapt_module
from firstsight.train.adapt import STRENGTHS, between, views_to_train


class Noting(Silent):
    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)


@pytest.fixture(autouse=True)
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(adapt_module, "RECIPE", RECIPE.changed(epochs=1, batch_size=8))


@pytest.fixture(scope="module")
def eight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight species of four images."""
    folder = tmp_path_factory.mktemp("eight")
    write_folder(folder / "support", species(8), range(4), size=64)
    return folder


def own(eight: Path, name: str, image_size: int = 64) -> dict[str, Any]:
    file = eight / f"{name}.safetensors"
    if not file.is_file():
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            save_file(timm.create_model(name).state_dict(), file)
    return {"backbone": name, "weights": str(file), "image_size": image_size}


@pytest.mark.parametrize("name", ["test_resnet", "test_vit"])
def test_an_adapted_model_answers_as_saved_wherever_it_is_read(eight: Path, tmp_path: Path, name: str) -> None:
    given = own(eight, name, 64 if name == "test_resnet" else 160)
    made = firstsight.fit(eight / "support", tmp_path / "m", device="cpu", adapt="always", **given)
    frozen = assemble(made.settings, 8, torch.device("cpu"), blank=False)
    read = firstsight.load(tmp_path / "m", device="cpu")
    images = sorted((eight / "support").rglob("*.*"))[:3]
    one, same, before = (
        each.encode([each.prepare(image) for image in images])
        for each in (made.image_encoder, read.image_encoder, frozen)
    )
    assert np.array_equal(one, same)
    assert not np.allclose(one, before)  # it has learned
    assert made.report["adaptation_strength"] in STRENGTHS[1:]
    assert any("adapted" in line for line in made.report["lines"])
    assert "adapted" in (tmp_path / "m" / "README.md").read_text()


@pytest.mark.slow
def test_the_same_seed_adapts_the_same(eight: Path) -> None:
    given = own(eight, "test_resnet")
    one, other = (firstsight.fit(eight / "support", device="cpu", adapt="always", **given) for _ in range(2))
    assert one.image_encoder.fingerprint == other.image_encoder.fingerprint


def test_a_cpu_says_what_it_would_take_and_leaves_the_backbone_as_it_came(eight: Path) -> None:
    noting, given = Noting(), own(eight, "test_resnet")
    auto = firstsight.fit(eight / "support", device="cpu", progress=noting, **given)
    never = firstsight.fit(eight / "support", device="cpu", adapt="never", **given)
    assert auto.image_encoder.fingerprint == never.image_encoder.fingerprint
    assert any("--adapt always" in note and "min" in note for note in noting.notes)
    assert "adaptation_strength" not in never.report


def test_too_few_categories_are_refused_before_any_training(moths: Path, tiny: dict[str, Any]) -> None:
    given = {name: tiny[name] for name in ("backbone", "weights", "image_size")}
    with pytest.raises(SettingsError, match="too few"):
        firstsight.fit(moths / "support", device="cpu", adapt="always", **given)


def test_weights_between_two_models(eight: Path) -> None:
    encoder = assemble(settings("firstsight", **own(eight, "test_resnet")), 8, torch.device("cpu"), blank=False)
    other = timm.create_model("test_resnet", num_classes=0)
    first = whole_model(encoder.trunk).state_dict()
    last = other.state_dict()
    half = whole_model(between(encoder, other, 0.5).trunk).state_dict()
    for name, value in half.items():
        if value.is_floating_point():
            assert torch.allclose(value, (first[name] + last[name]) / 2, atol=1e-6)
    ends = [whole_model(between(encoder, other, strength).trunk).state_dict() for strength in (0.0, 1.0)]
    assert all(torch.equal(ends[0][name], first[name]) for name in first)
    assert all(torch.allclose(ends[1][name], last[name], atol=1e-6) for name in first if last[name].is_floating_point())


def test_what_adaptation_takes_is_counted() -> None:
    """Two views of every image in every epoch; the whole set once, three quarters of each half besides."""
    assert views_to_train(100) == 2 * 175  # one epoch here
