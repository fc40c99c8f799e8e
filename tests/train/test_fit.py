"""fit: from a folder to a model, killed and resumed, refused and warned."""

from __future__ import annotations

import itertools
import json
import random
import shutil
import subprocess
import sys
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.testing import assert_close

import firstsight
from firstsight.core.errors import BadImages, DataError, DiskError, ModelError, SettingsError, TrainingError
from firstsight.core.protocols import Silent
from firstsight.data.folder import read_folder
from firstsight.data.images import Preprocess, crop, resized
from firstsight.methods.decisions import CentreDecision, CodeDecision, minimum_distance_for
from firstsight.methods.phe.model import PHE
from firstsight.methods.phe.settings import PheSettings
from firstsight.methods.settings import settings as settings_of
from firstsight.train import support as support_module
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.fit import untrained
from firstsight.train.pixels import PixelCache
from firstsight.train.support import Support, seeded

Tiny = dict[str, Any]


def weights(folder: Path) -> bytes:
    return (folder / "encoder.safetensors").read_bytes() + (folder / "decision.safetensors").read_bytes()


def test_the_same_seed_gives_the_same_weights_and_another_does_not(
    moths: Path, tiny: Tiny, model_folder: Path, tmp_path: Path
) -> None:
    firstsight.fit(moths / "support", tmp_path / "same", device="cpu", **tiny)
    firstsight.fit(moths / "support", tmp_path / "other", device="cpu", **{**tiny, "seed": 1})
    assert weights(tmp_path / "same") == weights(model_folder)
    assert weights(tmp_path / "other") != weights(model_folder)


@pytest.mark.slow
def test_killed_and_resumed_it_ends_with_the_same_weights(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    settings = {**tiny, "epochs": 40, "ema": 0.9}
    flags = [f"--{name.replace('_', '-')}={value}" for name, value in settings.items()]
    command = [
        sys.executable,
        "-c",
        "from firstsight.cli.main import run; run()",
        "fit",
        str(moths / "support"),
        *flags,
    ]
    process = subprocess.Popen([*command, "--out", str(tmp_path / "killed"), "--device=cpu", "--checkpoint-every=0"])
    begun, stop_at = tmp_path / "killed.training" / "metrics.jsonl", random.randint(2, 20)
    while process.poll() is None and not (begun.exists() and begun.read_text().count("\n") >= stop_at):
        time.sleep(0.002)
    time.sleep(random.random() * 0.2)  # in the middle of whatever it does
    process.kill()
    process.wait()
    assert not (tmp_path / "killed").exists()

    firstsight.fit(moths / "support", tmp_path / "whole", device="cpu", **settings)
    firstsight.fit(moths / "support", tmp_path / "killed", device="cpu", resume=True, **settings)
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    epochs = [json.loads(line)["epoch"] for line in (tmp_path / "killed" / "metrics.jsonl").read_text().splitlines()]
    assert epochs == list(range(1, 41))
    assert not (tmp_path / "killed.training").exists()


def test_a_run_on_stored_trunk_output_resumes_to_the_same_weights(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    settings = {**tiny, "epochs": 5, "cache_trunk": 2}

    class Interrupted(Exception):
        pass

    class StopsInEpoch3(Silent):
        def task(self, what: str, total: int) -> Any:
            if what != "training":
                return super().task(what, total)
            steps = iter(range(total))

            def advance() -> None:
                if next(steps) == 2:
                    raise Interrupted

            return nullcontext(advance)

    with pytest.raises(Interrupted):
        firstsight.fit(
            moths / "support", tmp_path / "m", device="cpu", checkpoint_every=0, progress=StopsInEpoch3(), **settings
        )
    firstsight.fit(moths / "support", tmp_path / "m", device="cpu", resume=True, **settings)
    firstsight.fit(moths / "support", tmp_path / "whole", device="cpu", **settings)
    assert weights(tmp_path / "m") == weights(tmp_path / "whole")


def begin_and_break(moths: Path, tiny: Tiny, out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave a run with a checkpoint and no model."""

    def full(*_: Any, **__: Any) -> None:
        raise DiskError("disk full")

    monkeypatch.setattr("firstsight.train.fit.save_model", full)
    with pytest.raises(DiskError):
        firstsight.fit(moths / "support", out, device="cpu", checkpoint_every=0, **tiny)
    monkeypatch.undo()


def test_resuming_with_other_settings_is_refused_by_name(
    moths: Path, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "m"
    begin_and_break(moths, tiny, out, monkeypatch)
    with pytest.raises(SettingsError, match=r"alpha was 0\.1 and is now 0\.5"):
        firstsight.fit(moths / "support", out, device="cpu", resume=True, alpha=0.5, **tiny)
    with pytest.raises(ModelError, match="--resume"):
        firstsight.fit(moths / "support", out, device="cpu", **tiny)


def test_resuming_with_other_images_is_refused(
    moths: Path, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_and_break(moths, tiny, tmp_path / "m", monkeypatch)
    shutil.copytree(moths / "support", tmp_path / "fewer")
    next((tmp_path / "fewer").rglob("*.jpg")).unlink()
    with pytest.raises(SettingsError, match="the support set was"):
        firstsight.fit(tmp_path / "fewer", tmp_path / "m", device="cpu", resume=True, **tiny)


def test_a_damaged_checkpoint_is_named(
    moths: Path, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    begin_and_break(moths, tiny, tmp_path / "m", monkeypatch)
    checkpoint = tmp_path / "m.training" / "checkpoint.safetensors"
    checkpoint.write_bytes(checkpoint.read_bytes()[:100])
    with pytest.raises(ModelError, match="is damaged"):
        firstsight.fit(moths / "support", tmp_path / "m", device="cpu", resume=True, **tiny)


def test_resuming_a_finished_run_gives_its_model_if_it_is_the_same_run(
    moths: Path, tiny: Tiny, model_folder: Path, tmp_path: Path
) -> None:
    out = shutil.copytree(model_folder, tmp_path / "m")
    (tmp_path / "m.training").mkdir()  # killed between saving and tidying up
    model = firstsight.fit(moths / "support", out, device="cpu", resume=True, **tiny)
    assert weights(out) == weights(model_folder)
    assert model.names
    assert not (tmp_path / "m.training").exists()
    with pytest.raises(ModelError, match="other settings"):
        firstsight.fit(moths / "support", out, device="cpu", resume=True, **{**tiny, "bits": 64})


def test_weights_that_changed_meanwhile_are_noticed(
    moths: Path, tiny: Tiny, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = shutil.copy(tiny["weights"], tmp_path / "w.safetensors")
    begin_and_break(moths, {**tiny, "weights": str(own)}, tmp_path / "m", monkeypatch)
    tensors = {name: tensor * 2 for name, tensor in load_file(own).items()}
    save_file(tensors, own)
    with pytest.raises(SettingsError, match="the weights' content was"):
        firstsight.fit(moths / "support", tmp_path / "m", device="cpu", resume=True, **{**tiny, "weights": str(own)})


def test_a_dangling_link_is_a_bad_image_like_any_other(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    shutil.copytree(moths / "support", tmp_path / "support")
    category = next((tmp_path / "support").iterdir())
    (category / "gone.jpg").symlink_to(tmp_path / "nowhere.jpg")
    (category / "loop").symlink_to(tmp_path / "support", target_is_directory=True)
    with pytest.raises(BadImages, match=r"gone\.jpg: does not exist") as caught:
        firstsight.fit(tmp_path / "support", device="cpu", **tiny)
    assert len(caught.value.errors) == 1


def test_two_fits_do_not_write_the_same_model(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    other = Checkpoint(tmp_path / "m.training", {}, 0)
    with other.held(), pytest.raises(ModelError, match="another fit is at work"):
        firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **tiny)
    firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **tiny)


def test_a_model_does_not_go_into_the_support_set(moths: Path, tiny: Tiny) -> None:
    with pytest.raises(SettingsError, match="inside the support set"):
        firstsight.fit(moths / "support", moths / "support" / "m", device="cpu", **tiny)


def test_an_existing_place_is_not_overwritten(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    with pytest.raises(ModelError, match="exists already"):
        firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **tiny)


def test_the_report_says_how_far_centres_are_and_where_images_lie(model_folder: Path, moths: Path) -> None:
    model = firstsight.load(model_folder, device="cpu")
    decision = model.decision
    assert isinstance(decision, CodeDecision)
    codes = np.unpackbits(decision.codes.view(np.uint8), axis=1, bitorder="little")
    distances = [(a != b).sum() for i, a in enumerate(codes) for b in codes[:i]]
    assert model.report["closest"] == min(distances)
    assert model.report["pairs_below"] == sum(d < decision.minimum_distance for d in distances)
    images = sorted((moths / "support").rglob("*.jpg"))
    near = 0
    for path in images:
        code = model.transform(model.encode([model.prepare(path)]))
        own = decision.codes[model.names.index(path.parent.name)]
        near += int(np.bitwise_count(code[0] ^ own).sum()) <= model.radius
    assert model.report["support_within_radius"] == pytest.approx(near / len(images))


@pytest.mark.parametrize(("third", "below"), [("11110000", 0), ("10000000", 1)])
def test_centres_closer_than_asked_are_said_so(third: str, below: int) -> None:
    """Centres of eight bits, four apart asked: 00000000, 00001111 and one that is as far away, or one bit."""
    codes = np.array([[2.0 * int(bit) - 1 for bit in code] for code in ("00000000", "00001111", third)], np.float32)
    decision = CodeDecision(names=("a", "b", "c"), centres=codes, minimum_distance=4, reach=2, rule="nearest")
    report = decision.report(codes, np.arange(3))
    assert (report["closest"], report["pairs_below"]) == (1 if below else 4, below)
    assert any("1 of 3 pairs of centres are closer than asked" in line for line in report["lines"]) == (below > 0)


def test_batches_of_one_image_train(moths: Path, tiny: Tiny) -> None:
    model = firstsight.fit(moths / "support", device="cpu", **{**tiny, "epochs": 1, "batch_size": 1})
    assert all(p.isfinite().all() for p in model.torch_encoder.learner.parameters())


def test_expected_categories_default_to_twice_the_known(moths: Path, tiny: Tiny) -> None:
    assert minimum_distance_for(PheSettings(), 100) == 3
    assert minimum_distance_for(PheSettings(expected_categories=200), 100) == 3
    assert minimum_distance_for(PheSettings(bits=1), 2) == 1
    with pytest.raises(SettingsError, match="fewer than the 100 known"):
        minimum_distance_for(PheSettings(expected_categories=99), 100)
    with pytest.raises(SettingsError, match="use --bits 7 or more"):
        minimum_distance_for(PheSettings(bits=6), 100)


def test_all_bad_images_are_listed_at_once(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    shutil.copytree(moths / "support", tmp_path / "support")
    first, *_, last = sorted((tmp_path / "support").rglob("*.jpg"))
    first.write_bytes(b"no picture")
    last.write_bytes(last.read_bytes()[:200])
    with pytest.raises(BadImages) as caught:
        firstsight.fit(tmp_path / "support", tmp_path / "m", device="cpu", **tiny)
    assert [error.source for error in caught.value.errors] == [str(first), str(last)]
    assert [path.name for path in tmp_path.iterdir()] == ["support"]


def test_a_category_with_one_image_is_warned_about_in_the_report(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    shutil.copytree(moths / "support", tmp_path / "support")
    category = next((tmp_path / "support").iterdir())
    for path in sorted(category.iterdir())[1:]:
        path.unlink()
    model = firstsight.fit(tmp_path / "support", device="cpu", **{**tiny, "epochs": 1})
    assert any(category.name in line and "1 image" in line for line in model.report["lines"])


def test_training_that_breaks_down_says_so(moths: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    """24 images in batches of 8: the loss is no number from the fourth step on, in the second epoch."""
    steps = itertools.count()
    monkeypatch.setattr(
        "firstsight.methods.phe.model.total_loss",
        lambda *terms: sum(terms[:3]) * (float("nan") if next(steps) >= 3 else 1.0),
    )
    with pytest.raises(TrainingError, match="broke down in epoch 2"):
        firstsight.fit(moths / "support", device="cpu", **{**tiny, "batch_size": 8})


@pytest.mark.parametrize(
    "changes",
    [{"method": "phe-paper"}, {"precision": "bf16"}, {"clip": 1.0}, {"ema": 0.99}, {"cache_trunk": 2},
     {"vary": True}, {"vary": True, "cache_trunk": 2},
     {"train_stages": 0}, {"hash_norm": "shared", "centres": "last-batch"}, {"bits": 2}, {"bits": 256}],
    ids=str,
)  # fmt: skip
def test_every_way_to_train_ends_in_a_model_that_answers(moths: Path, tiny: Tiny, changes: dict[str, Any]) -> None:
    settings = settings_of(**{**tiny, "epochs": 1, "expected_categories": 4, **changes})
    model = firstsight.fit(moths / "support", settings=settings, device="cpu")
    answer = firstsight.Discoverer(model, model.register()).discover_one(next((moths / "stream").rglob("*.jpg")))
    assert answer.category is not None


def test_a_backbone_that_cannot_be_cut_has_no_trunk_to_store(moths: Path, tmp_path: Path) -> None:
    import timm

    save_file(timm.create_model("test_byobnet", num_classes=0).state_dict(), tmp_path / "w.safetensors")
    with pytest.raises(SettingsError, match="cannot be cut"):
        firstsight.fit(
            moths / "support",
            device="cpu",
            method="phe",
            backbone="test_byobnet",
            weights=str(tmp_path / "w.safetensors"),
            cache_trunk=1,
        )


class OfFeatures(CentreDecision):
    """A method of one's own that says nothing of images."""


def test_a_method_without_settings_for_images_is_refused_them(moths: Path) -> None:
    method = f"{__name__}:OfFeatures"
    assert firstsight.fit_features([[0, 1], [1, 0]], ["ant", "bee"], method=method).names == ["ant", "bee"]
    with pytest.raises(SettingsError, match="no settings for images") as caught:
        firstsight.fit(moths / "support", device="cpu", method=method)
    assert "fit_features" in caught.value.remedy


def test_a_trunk_store_that_fits_nowhere_is_refused(moths: Path, tiny: Tiny, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support_module, "_free_memory", lambda: 1000.0)
    with pytest.raises(SettingsError, match=r"need .* GiB"):
        firstsight.fit(moths / "support", device="cpu", **tiny, cache_trunk=2)


def test_the_first_stored_view_is_what_answering_sees(moths: Path, tiny: Tiny) -> None:
    data = read_folder(moths / "support")
    encoder = untrained(settings_of(**tiny, cache_trunk=2, vary=True), data, "cpu")
    support = Support(data.labels, PixelCache(data.images, encoder.preprocess, Silent()), encoder, Silent())
    assert support.stems is not None
    fresh = torch.cat([encoder.stem(encoder.prepare(path)[None]) for path in data.images])
    assert_close(support.stems[:, 0], fresh)
    assert not torch.equal(support.stems[:, 1], support.stems[:, 0])


def test_every_purpose_and_epoch_draws_its_own_numbers() -> None:
    draws = {torch.rand(1, generator=seeded("cpu", 0, what, n)).item() for what in ("masks", "view") for n in range(5)}
    assert len(draws) == 10


def test_crops_stay_inside_and_flip() -> None:
    pixels = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    assert (crop(pixels, 4, 0.0, 0.0, 0.0) == pixels[:4, :4]).all()
    assert (crop(pixels, 4, 0.9999, 0.9999, 0.0) == pixels[1:, 3:]).all()
    assert (crop(pixels, 4, 0.0, 0.0, 0.9) == pixels[:4, 3::-1]).all()


def test_pixels_beyond_the_budget_are_kept_in_a_file(moths: Path) -> None:
    paths = tuple(sorted((moths / "support").rglob("*.jpg")))
    half = (0.5, 0.5, 0.5)
    preprocess = Preprocess(resize=32, crop=28, mean=half, std=half)
    one = resized(paths[0], preprocess).nbytes
    small, large = PixelCache(paths, preprocess, Silent(), budget=3 * one), PixelCache(paths, preprocess, Silent())
    assert small.file is not None
    assert large.file is None
    assert all((small[i] == large[i]).all() for i in range(len(paths)))


def test_nothing_to_learn_from_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError):
        firstsight.fit(tmp_path)


def test_training_does_not_touch_the_global_random_state(moths: Path, tiny: Tiny) -> None:
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    firstsight.fit(moths / "support", device="cpu", **{**tiny, "epochs": 1})
    assert_close(torch.rand(3), expected)


def test_more_epochs_are_a_longer_run_and_nothing_is_picked(moths: Path, tiny: Tiny, tmp_path: Path) -> None:
    """The saved model is that of the last epoch: its centres are those its last weights give."""
    model = firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **{**tiny, "epochs": 4})
    assert len((tmp_path / "m" / "metrics.jsonl").read_text().splitlines()) == 4
    learner, decision = model.image_encoder.learner, model.decision
    assert isinstance(learner, PHE)
    assert isinstance(decision, CodeDecision)
    assert_close(torch.from_numpy(decision.centres), learner.hash_centres().detach())
