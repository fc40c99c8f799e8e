"""The structure of the authors' released training loop, written anew, as the baseline of the training benchmark.

What makes it slow is kept: every JPEG is decoded every epoch by workers that are started anew, all blocks run eagerly,
features and prototypes are compared by a tensor of all their differences, and a scalar is read back every step.
"""

from __future__ import annotations

from pathlib import Path

import torch
from PIL import Image
from torch import Tensor
from torch.nn import functional as F
from torch.utils.data import DataLoader, Dataset
from torchvision.transforms import v2

from firstsight.encode.encoder import TorchEncoder
from firstsight.methods.phe.losses import total_loss
from firstsight.methods.phe.model import PHE
from firstsight.methods.phe.prototypes import category_logits, mask_prototypes

EPSILON = 1e-4


class Files(Dataset[tuple[Tensor, int]]):
    def __init__(self, paths: list[Path], labels: list[int], encoder: TorchEncoder) -> None:
        p = encoder.preprocess
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


def run(encoder: TorchEncoder, paths: list[Path], labels: list[int], epochs: int, workers: int) -> int:
    """Train for some epochs; how many images that were."""
    learner = encoder.learner.train()
    assert isinstance(learner, PHE)
    s, device = learner.settings, encoder.device
    optimiser = torch.optim.AdamW([p for p in learner.parameters() if p.requires_grad], lr=s.lr)
    scaler = torch.amp.GradScaler(device.type, enabled=device.type == "cuda")
    half = torch.float16 if device.type == "cuda" else torch.bfloat16
    seen = 0
    for _ in range(epochs):
        loader = DataLoader(
            Files(paths, labels, encoder), s.batch_size, shuffle=True, num_workers=workers, drop_last=False
        )
        for images, targets in loader:
            images, targets = images.to(device), targets.to(device)
            with torch.autocast(device.type, dtype=half, enabled=device.type == "cuda"):
                outputs = learner(encoder.trunk(images))
            z, prototypes = F.normalize(outputs.shown.float()), F.normalize(learner.points)
            distances = (z[:, None] - prototypes[None]).norm(dim=2)  # (N, m, D) first
            similarities = torch.log((distances + 1) / (distances + EPSILON))
            logits = category_logits(mask_prototypes(similarities, s.theta), s.prototypes)
            terms = learner.losses(outputs, targets)
            loss = total_loss(F.cross_entropy(logits, targets), terms["L_c"], terms["L_f"], s.alpha, s.beta)
            optimiser.zero_grad()
            scaler.scale(loss).backward()  # type: ignore[no-untyped-call]
            scaler.step(optimiser)
            scaler.update()
            loss.item()
            seen += len(targets)
    return seen


def gpu_work_alone(encoder: TorchEncoder, steps: int) -> int:
    """The same steps on one batch that is on the device already."""
    learner, device, size = encoder.learner, encoder.device, encoder.preprocess.crop
    images = torch.rand(learner.settings.batch_size, 3, size, size, device=device)
    targets = torch.arange(len(images), device=device) % learner.categories
    optimiser = torch.optim.AdamW([p for p in learner.parameters() if p.requires_grad], lr=1e-4)
    for _ in range(steps):
        with torch.autocast(device.type, dtype=torch.bfloat16, enabled=device.type == "cuda"):
            outputs = learner(encoder.trunk(images))
        terms = learner.losses(outputs, targets)
        optimiser.zero_grad()
        terms["total"].backward()  # type: ignore[no-untyped-call]
        optimiser.step()
    return steps * len(images)
