"""The model folder: round trip, and every way it can be wrong."""

from __future__ import annotations

import errno
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

import firstsight
from firstsight.core.errors import DeviceError, DiskError, ModelError
from firstsight.core.files import digest
from firstsight.methods.decisions import CodeDecision
from firstsight.model.folder import save_model


@pytest.fixture
def copy(model_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(model_folder, tmp_path / "copy.model"))


def test_a_loaded_model_answers_as_the_fitted_one(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    fitted = firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **tiny)
    loaded = firstsight.load(tmp_path / "m", device="cpu")
    assert loaded.names == fitted.names
    assert loaded.settings == fitted.settings
    assert loaded.image_encoder.preprocess == fitted.image_encoder.preprocess
    assert (loaded.radius, loaded.report) == (fitted.radius, fitted.report)
    assert loaded.register().header() == fitted.register().header()
    images = [fitted.prepare(path) for path in sorted((moths / "stream").rglob("*.jpg"))]
    assert np.array_equal(loaded.encode(images), fitted.encode(images))


def test_loading_needs_neither_the_weights_file_nor_the_hub(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    config["settings"]["weights"] = "/nowhere/weights.pth"
    rewrite(copy, config)
    assert firstsight.load(copy, device="cpu").names


def test_the_folder_holds_a_card_metrics_and_no_pickle(model_folder: Path) -> None:
    assert {path.name for path in model_folder.iterdir()} == {
        "encoder.safetensors", "decision.safetensors", "config.json", "categories.json", "examples.safetensors",
        "checksums.json", "metrics.jsonl", "README.md",
    }  # fmt: skip
    card = (model_folder / "README.md").read_text()
    assert "Known limits" in card
    assert "licence of its weights" in card
    rows = [json.loads(line) for line in (model_folder / "metrics.jsonl").read_text().splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert {"L_p", "L_f", "L_sep", "L_q", "L_c", "total"} <= set(rows[0])


def rewrite(folder: Path, config: dict[str, Any]) -> None:
    """Change the configuration as someone would who also mends the checksums."""
    (folder / "config.json").write_text(json.dumps(config))
    mend(folder, "config.json")


def mend(folder: Path, name: str) -> None:
    if name != "checksums.json":
        checksums = json.loads((folder / "checksums.json").read_text())
        checksums[name] = digest(folder / name)
        (folder / "checksums.json").write_text(json.dumps(checksums))


@pytest.mark.parametrize(
    "name",
    [
        "encoder.safetensors",
        "decision.safetensors",
        "config.json",
        "categories.json",
        "examples.safetensors",
        "checksums.json",
    ],
)
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(ModelError, match=f"{name} is missing"):
        firstsight.load(copy, device="cpu")


@pytest.mark.parametrize(
    "name", ["encoder.safetensors", "decision.safetensors", "categories.json", "examples.safetensors"]
)
def test_an_altered_file_is_named(copy: Path, name: str) -> None:
    content = bytearray((copy / name).read_bytes())
    content[len(content) // 2] ^= 1
    (copy / name).write_bytes(content)
    with pytest.raises(ModelError, match=f"{name} is not as it was written"):
        firstsight.load(copy, device="cpu")


@pytest.mark.parametrize("name", ["config.json", "checksums.json"])
@pytest.mark.parametrize("content", ["", "[]", "{", "null"])
def test_damaged_json_is_named(copy: Path, name: str, content: str) -> None:
    (copy / name).write_text(content)
    with pytest.raises(ModelError, match=r"copy\.model: .* is "):
        firstsight.load(copy, device="cpu")


def test_a_newer_format_is_refused_with_what_to_do(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    rewrite(copy, {**config, "format": 99, "firstsight": "9.0"})
    with pytest.raises(ModelError, match="format 99") as caught:
        firstsight.load(copy, device="cpu")
    assert "9.0" in caught.value.remedy


def test_centres_that_are_no_numbers_are_refused(model_folder: Path, tmp_path: Path) -> None:
    model = firstsight.load(model_folder, device="cpu")
    assert isinstance(model.decision, CodeDecision)
    no_numbers = np.full_like(model.decision.centres, np.nan)
    save_model(replace(model, decision=replace(model.decision, centres=no_numbers)), tmp_path / "m")
    with pytest.raises(ModelError, match="not numbers"):
        firstsight.load(tmp_path / "m", device="cpu")


def test_settings_of_another_release_are_refused(copy: Path) -> None:
    config = json.loads((copy / "config.json").read_text())
    config["settings"]["wings"] = 4
    rewrite(copy, config)
    with pytest.raises(ModelError, match="wings"):
        firstsight.load(copy, device="cpu")


@pytest.mark.parametrize(
    ("part", "change", "why"),
    [
        ("preprocess", {"crop": 10**9, "resize": 10**9}, "crop is 1000000000"),
        ("preprocess", {"crop": 96, "resize": 110}, "crop is 96 and image_size 64"),
        ("preprocess", {"crop": 64.5}, "crop is 64.5"),
        ("preprocess", {"std": [0, 1, 1]}, "expected numbers above 0"),
        ("preprocess", {"std": [1, 1]}, "expected three numbers"),
        ("preprocess", {"mean": [float("nan"), 0, 0]}, "expected three numbers"),
        ("preprocess", {"interpolation": "magic"}, "interpolation is 'magic'"),
        ("preprocess", {"interpolation": 3}, "interpolation is 3"),
        ("settings", {"method": 3}, "method is 3"),
        ("settings", {"bits": "12"}, "bits is '12'"),
        ("settings", {"backbone": "../../etc"}, "neither a shortcut nor a timm model"),
        ("report", [1], ""),
        ("decision", None, ""),
        ("decision", {"minimum_distance": None}, ""),
        ("decision", {"reach": "2"}, ""),
        ("decision", {"wings": 4}, "its decision has"),
    ],
)
def test_configurations_edited_by_hand_are_refused(copy: Path, part: str, change: Any, why: str) -> None:
    config = json.loads((copy / "config.json").read_text())
    rewrite(copy, {**config, part: {**config[part], **change} if isinstance(change, dict) else change})
    with pytest.raises(ModelError, match=r"copy\.model: is no model this release can read") as caught:
        firstsight.load(copy, device="cpu")
    assert why in caught.value.what


@pytest.mark.parametrize("name", ["config.json", "categories.json", "checksums.json"])
def test_json_nested_without_end_is_refused(copy: Path, name: str) -> None:
    (copy / name).write_text("[" * 100_000)
    mend(copy, name)
    with pytest.raises(ModelError, match=r"copy\.model: "):
        firstsight.load(copy, device="cpu")


@pytest.mark.parametrize(
    "change",
    [{"name": 3}, {"name": ""}, {"name": "Belana fusatea"}, {"support": -1}, {"support": True}, {"wings": 4}],
)
def test_categories_edited_by_hand_are_refused(copy: Path, change: dict[str, Any]) -> None:
    entries = json.loads((copy / "categories.json").read_text())
    entries = [entries[0], {**entries[0], "name": "Belana fusatea"}, {**entries[1], **change}, entries[3]]
    (copy / "categories.json").write_text(json.dumps(entries))
    mend(copy, "categories.json")
    with pytest.raises(ModelError, match="is no model this release can read"):
        firstsight.load(copy, device="cpu")


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("category", lambda column: column + 4),
        ("image_category", lambda column: column - 9),
        ("wins", lambda column: column[:-1]),
        ("image", lambda column: column + 1000),
        ("category", lambda column: column.astype(np.float32)),
    ],
)
def test_examples_that_do_not_fit_are_refused(copy: Path, name: str, change: Any) -> None:
    tensors = load((copy / "examples.safetensors").read_bytes())
    (copy / "examples.safetensors").write_bytes(save({**tensors, name: change(tensors[name])}))
    mend(copy, "examples.safetensors")
    with pytest.raises(ModelError, match="examples: "):
        firstsight.load(copy, device="cpu")


def test_weights_that_are_no_numbers_are_refused(model_folder: Path, tmp_path: Path) -> None:
    model = firstsight.load(model_folder, device="cpu")
    next(model.torch_encoder.trunk.parameters()).data.fill_(float("inf"))
    save_model(model, tmp_path / "m")
    with pytest.raises(ModelError, match=r"encoder\.safetensors: .* holds values that are not numbers"):
        firstsight.load(tmp_path / "m", device="cpu")


def test_features_that_are_no_numbers_are_an_error(model_folder: Path, moths: Path) -> None:
    model = firstsight.load(model_folder, device="cpu")
    for parameter in model.torch_encoder.learner.parameters():
        parameter.data.fill_(float("nan"))
    with pytest.raises(ModelError, match="makes values that are not numbers"):
        model.encode([model.prepare(min((moths / "stream").rglob("*.jpg")))])


def test_a_spread_that_cannot_be_is_refused(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    own = {key: tiny[key] for key in ("backbone", "weights", "image_size")}
    firstsight.fit(moths / "support", tmp_path / "m", device="cpu", **own)
    file = tmp_path / "m" / "decision.safetensors"
    tensors = load(file.read_bytes())
    for name, value in (("within", -1.0), ("between", 0.0)):
        file.write_bytes(save({**tensors, name: np.full_like(tensors[name], value)}))
        mend(tmp_path / "m", file.name)
        with pytest.raises(ModelError, match="not made of numbers above 0"):
            firstsight.load(tmp_path / "m", device="cpu")
    file.write_bytes(save(tensors))
    mend(tmp_path / "m", file.name)
    config = json.loads((tmp_path / "m" / "config.json").read_text())
    rewrite(tmp_path / "m", {**config, "decision": {**config["decision"], "sharpness": -1.0}})
    with pytest.raises(ModelError, match="not made of numbers above 0"):
        firstsight.load(tmp_path / "m", device="cpu")


def test_no_folder_and_no_model_in_it(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="there is no model folder"):
        firstsight.load(tmp_path / "none")
    with pytest.raises(ModelError, match=r"config\.json is missing"):
        firstsight.load(tmp_path)


def test_a_full_disk_leaves_nothing_half_written(
    model_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = firstsight.load(model_folder, device="cpu")
    synced = 0

    def fills_up(descriptor: int) -> None:
        nonlocal synced
        synced += 1
        if synced == 4:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", fills_up)
    with pytest.raises(DiskError, match="No space left"):
        save_model(model, tmp_path / "m")
    assert list(tmp_path.iterdir()) == []


def test_cuda_asked_for_and_absent(model_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(DeviceError, match="0 CUDA devices are here"):
        firstsight.load(model_folder, device="cuda")


@pytest.mark.parametrize("device", ["gpu", "meta", "cuda:x"])
def test_devices_that_are_none(model_folder: Path, device: str) -> None:
    with pytest.raises(DeviceError, match="allowed: auto, cpu, cuda, cuda:N, mps"):
        firstsight.load(model_folder, device=device)
