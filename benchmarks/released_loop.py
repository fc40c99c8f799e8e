"""The structure of the authors' released training loop, written anew, as the baseline of the training benchmark.

What makes it slow is kept: every JPEG is decoded every epoch by workers that are started anew, all blocks run eagerly,
features and prototypes are compared by a tensor of all their differences, and a scalar is read back every step.
"""

from __future__ import annotations

from pathlib import Path

import torch
from PIL import Image
from torch import Tensor, nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

from firstsight.methods.phe.losses import total_loss
from firstsight.methods.phe.model import PHE
from firstsight.methods.phe.prototypes import category_logits, mask_prototypes
from firstsight.model.model import Model

EPSILON = 1e-4


class Files(Dataset[tuple[Tensor, int]]):
    def __init__(self, paths: list[Path], labels: list[int], model: Model) -> None:
        p = model.preprocess
        self.paths, self.labels = paths, labels
        self.transform = v2.Compose(
            [
                v2.Resize(p.resize, v2.InterpolationMode.BICUBIC),
                v2.RandomCrop(p.crop),
                v2.RandomHorizontalFlip(),
                v2.ToImage(),
                v2.ToDtype(torch.float32, scale=True),
                v2.Normalize(list(p.mean), list(p.std)),
            ]
        )

    def __len__(self) -> int:
        return len(self.paths)

    def __getitem__(self, index: int) -> tuple[Tensor, int]:
        with Image.open(self.paths[index]) as picture:
            return self.transform(picture.convert("RGB")), self.labels[index]


def run(model: Model, paths: list[Path], labels: list[int], epochs: int, workers: int) -> int:
    """Train for some epochs; how many images that were."""
    network = model.network.train()
    assert isinstance(network, PHE)
    s = model.settings
    optimiser = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], lr=s.lr)
    scaler = torch.amp.GradScaler(model.device.type, enabled=model.device.type == "cuda")
    half = torch.float16 if model.device.type == "cuda" else torch.bfloat16
    seen = 0
    for _ in range(epochs):
        loader = DataLoader(
            Files(paths, labels, model), s.batch_size, shuffle=True, num_workers=workers, drop_last=False
        )
        for images, targets in loader:
            images, targets = images.to(model.device), targets.to(model.device)
            with torch.autocast(model.device.type, dtype=half, enabled=model.device.type == "cuda"):
                outputs = network(model.trunk(images))
            z, prototypes = F.normalize(outputs.features.float()), F.normalize(network.prototypes)
            distances = (z[:, None] - prototypes[None]).norm(dim=2)  # (N, m, D) first
            similarities = torch.log((distances + 1) / (distances + EPSILON))
            logits = category_logits(mask_prototypes(similarities, s.theta), s.prototypes)
            terms = network.losses(outputs, targets)
            loss = total_loss(F.cross_entropy(logits, targets), terms["L_c"], terms["L_f"], s.alpha, s.beta)
            optimiser.zero_grad()
            scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            scaler.step(optimiser)
            scaler.update()
            loss.item()
            seen += len(targets)
    return seen


def gpu_work_alone(model: Model, steps: int) -> int:
    """The same steps on one batch that is on the device already."""
    network: nn.Module = model.network
    assert isinstance(network, PHE)
    size = model.preprocess.crop
    images = torch.rand(model.settings.batch_size, 3, size, size, device=model.device)
    targets = torch.arange(len(images), device=model.device) % network.categories
    optimiser = torch.optim.AdamW([p for p in network.parameters() if p.requires_grad], lr=1e-4)
    for _ in range(steps):
        with torch.autocast(model.device.type, dtype=torch.bfloat16, enabled=model.device.type == "cuda"):
            outputs = network(model.trunk(images))
        terms = network.losses(outputs, targets)
        optimiser.zero_grad()
        terms["total"].backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return steps * len(images)
