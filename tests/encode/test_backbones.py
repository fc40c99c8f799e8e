"""Backbones: cut where asked, filled from files, clear when they cannot be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import timm
import torch
from safetensors.torch import save_file
from torch import nn

from firstsight.core.errors import ModelError, SettingsError
from firstsight.encode import backbones, hub
from firstsight.encode.backbones import SHORTCUTS, build, check_weights, lite2_weights, split
from firstsight.encode.weights import read_weights

CASES = [
    ("test_vit", {"img_size": 64}, 64),
    ("vit_small_patch16_dinov3", {"img_size": 64, "depth": 2, "global_pool": "token"}, 64),
    ("test_efficientnet", {}, 64),
    ("test_resnet", {}, 64),
    ("test_convnext", {}, 64),
    ("test_byobnet", {}, 64),  # an architecture we do not know how to cut
]


@pytest.mark.parametrize(("name", "options", "size"), CASES, ids=[case[0] for case in CASES])
@pytest.mark.parametrize("stages", [0, 1, 2])
def test_trunk_and_tail_make_the_models_own_feature(name: str, options: dict[str, Any], size: int, stages: int) -> None:
    model = timm.create_model(name, num_classes=0, **options).eval()
    images = torch.randn(2, 3, size, size)
    with torch.no_grad():
        expected = model(images)
    trunk, tail = split(model, stages)
    torch.testing.assert_close(tail.train()(trunk.train()(images)), expected)
    assert not any(p.requires_grad for p in trunk.parameters())
    assert any(p.requires_grad for p in tail.parameters()) == (stages > 0)


def test_a_vit_learns_in_its_last_block_only() -> None:
    model = timm.create_model("test_vit", num_classes=0, img_size=64)
    blocks = len(list(model.get_submodule("blocks").children()))
    trunk, tail = split(model, 1)
    learning = [name for name, p in tail.named_parameters() if p.requires_grad]
    assert {name.split(".")[1] for name in learning} == {"0"}
    assert all(name.startswith("blocks.") for name in learning)  # not the final norm
    assert len(list(trunk.get_submodule("model.blocks").children())) == blocks - 1


@pytest.mark.parametrize("name", ["test_efficientnet", "test_resnet", "test_byobnet", "densenet121"])
def test_a_cnn_keeps_its_batch_norm_frozen_in_training(name: str) -> None:
    _, tail = split(timm.create_model(name, num_classes=0), 1)
    norms = [m for m in tail.train().modules() if isinstance(m, nn.modules.batchnorm._BatchNorm)]
    assert norms
    assert not any(norm.training or norm.weight.requires_grad for norm in norms)


def test_an_efficientnet_learns_in_its_last_group_and_conv_head() -> None:
    _, tail = split(timm.create_model("test_efficientnet", num_classes=0), 1)
    assert {name.split(".")[1] for name, p in tail.named_parameters() if p.requires_grad} == {"0", "1"}


def test_more_stages_than_there_are_is_refused() -> None:
    with pytest.raises(SettingsError, match="train_stages is 99"):
        split(timm.create_model("test_vit", num_classes=0), 99)


def test_geometry_is_the_papers_and_colours_are_the_weights(tiny_weights: Path) -> None:
    default = build("test_vit", 224, 1, blank=True).preprocess
    assert (default.resize, default.crop) == (256, 224)
    lite2 = build("efficientnet-lite2", 224, 1, blank=True).preprocess
    assert lite2.mean == (0.498,) * 3
    assert lite2.std == (0.502,) * 3
    dino = build("dino-vitb16", 224, 1, blank=True)
    assert dino.preprocess.mean == (0.485, 0.456, 0.406)
    assert dino.features == 768


def test_every_shortcut_is_a_timm_model() -> None:
    assert all(timm.is_model(shortcut.timm_name.split(".")[0]) for shortcut in SHORTCUTS.values())


def test_lite2_comes_from_its_package_and_sees_colours() -> None:
    path = lite2_weights()
    assert path is not None
    model = build("efficientnet-lite2", 224, 0)
    assert model.features == 1280
    packed = list(read_weights(path).values())
    torch.testing.assert_close(next(iter(model.trunk.state_dict().values())), packed[0])


def test_without_the_package_lite2_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backbones, "LITE2_PACKAGE", "no_such_package")
    with pytest.raises(ModelError, match=r"firstsight\[lite2\]"):
        build("efficientnet-lite2", 224, 1)


def test_an_unknown_backbone_names_the_shortcuts() -> None:
    with pytest.raises(SettingsError, match="dino-vitb16"):
        build("resnet51", 224, 1)


def offline(*_: Any, **__: Any) -> None:
    raise OSError("no route to host")


def test_a_hub_that_cannot_be_reached_is_asked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any, **__: Any) -> None:
        raise AssertionError("its client would try for a minute")

    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *_: None)
    monkeypatch.setattr(hub, "get_hf_file_metadata", offline)
    monkeypatch.setattr(timm, "create_model", never)
    with pytest.raises(ModelError, match="could not be downloaded: no route to host") as caught:
        build("dino-vitb16", 224, 1)
    assert "firstsight[lite2]" in caught.value.remedy


def test_weights_that_are_here_already_need_no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "get_hf_file_metadata", offline)
    check_weights("dino-vitb16", weights="some.safetensors")
    check_weights("efficientnet-lite2")
    monkeypatch.setattr(hub, "try_to_load_from_cache", lambda *_: "model.safetensors")
    check_weights("dino-vitb16")


def test_a_failed_download_says_how_to_pass_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hub, "check_reachable", lambda *_: None)
    monkeypatch.setattr(timm, "create_model", offline)
    with pytest.raises(ModelError, match="could not be downloaded: no route to host") as caught:
        build("dino-vitb16", 224, 1)
    assert "--weights FILE" in caught.value.remedy


# weights files: the tiny ViT in every wrapping people publish


def state(tiny_weights: Path) -> dict[str, torch.Tensor]:
    return read_weights(tiny_weights)


def wrapped(kind: str, tensors: dict[str, torch.Tensor]) -> Any:
    in_backbone = {f"backbone.{n}": t for n, t in tensors.items()}
    return {
        "plain": tensors,
        "with a head": {**tensors, "head.weight": torch.zeros(5, 3), "head.bias": torch.zeros(5)},
        "state_dict": {"state_dict": tensors, "epoch": 3},
        "dino teacher": {"teacher": {**in_backbone, "head.mlp.0.weight": torch.zeros(1)}},
        "dino student": {"student": {f"module.{n}": t for n, t in in_backbone.items()}},
    }[kind]


@pytest.mark.parametrize("kind", ["plain", "with a head", "state_dict", "dino teacher", "dino student"])
def test_weights_load_from_every_wrapping(tiny_weights: Path, tmp_path: Path, kind: str) -> None:
    path = tmp_path / "w.pth"
    torch.save(wrapped(kind, state(tiny_weights)), path)
    from_pth, from_safetensors = (build("test_vit", 64, 1, str(p)) for p in (path, tiny_weights))
    for a, b in ((from_pth.trunk, from_safetensors.trunk), (from_pth.tail, from_safetensors.tail)):
        torch.testing.assert_close(a.state_dict(), b.state_dict())


def test_the_original_dino_release_has_timms_names() -> None:
    names = build("dino-vitb16", 224, 0, blank=True).trunk.get_submodule("model").state_dict()
    assert {"cls_token", "pos_embed", "patch_embed.proj.weight", "blocks.11.attn.qkv.weight", "norm.bias"} <= set(names)


def test_weights_of_another_architecture_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "other.safetensors"
    save_file(timm.create_model("test_resnet", num_classes=0).state_dict(), path)
    with pytest.raises(ModelError, match="another architecture"):
        build("test_vit", 64, 1, str(path))


@pytest.mark.parametrize(
    "content", [b"", b"not weights", b"bits = 12", b".", b"\x80\x04N."], ids=["empty", "text", "toml", "end", "pickle"]
)
@pytest.mark.parametrize("suffix", [".pth", ".safetensors"])
def test_files_that_are_no_weights_are_refused(tmp_path: Path, content: bytes, suffix: str) -> None:
    path = tmp_path / f"w{suffix}"
    path.write_bytes(content)
    with pytest.raises(ModelError, match="cannot be read as weights"):
        read_weights(path)


def test_a_pickle_that_would_run_code_is_not_run(tmp_path: Path) -> None:
    import pickle

    class Trap:
        def __reduce__(self) -> Any:
            return (Path(tmp_path / "sprung").touch, ())

    (tmp_path / "trap.pth").write_bytes(pickle.dumps(Trap()))
    with pytest.raises(ModelError):
        read_weights(tmp_path / "trap.pth")
    assert not (tmp_path / "sprung").exists()


def test_a_missing_weights_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such weights file"):
        build("test_vit", 64, 1, str(tmp_path / "none.pth"))


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_that_are_no_numbers_are_refused(tiny_weights: Path, tmp_path: Path, value: float) -> None:
    tensors = read_weights(tiny_weights)
    tensors["norm.weight"][3] = value
    save_file(tensors, tmp_path / "w.safetensors")
    with pytest.raises(ModelError, match=r"w\.safetensors: norm\.weight holds values that are not numbers"):
        build("test_vit", 64, 1, str(tmp_path / "w.safetensors"))
