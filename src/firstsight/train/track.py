"""`fit --track DIR`: a run as TensorBoard shows it, by epoch and at its end. It looks on, and changes nothing."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from firstsight.core.errors import SettingsError
from firstsight.core.files import disk_errors
from firstsight.encode.learner import Learner
from firstsight.model.model import Model
from firstsight.train.optim import learning_rate

CATEGORIES = 50  # whose examples are shown
MOST = 512  # centres that are compared, evenly chosen: pairs grow with the square


def require_tensorboard() -> None:
    """SettingsError where nothing can be written; asked before the work it would show."""
    if find_spec("tensorboard") is None:
        raise SettingsError("--track needs tensorboard, which is not installed", "pip install 'firstsight[track]'")


class Untracked:
    """Nobody looks on."""

    def epoch(self, epoch: int, means: Mapping[str, float], learner: Learner) -> None:
        """An epoch is over; every loss term has this mean."""

    def finished(self, model: Model) -> None:
        """The model is made."""


class Tracked(Untracked):
    """Writes events to a folder. A run that goes on writes on, over the epochs it does again."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._writer: Any = None

    def writer(self, at: int = 0) -> Any:
        if self._writer is None:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(self.folder), purge_step=at or None)
        return self._writer

    def epoch(self, epoch: int, means: Mapping[str, float], learner: Learner) -> None:
        step, writer, settings = epoch + 1, self.writer(epoch + 1), learner.settings
        for name, value in means.items():
            writer.add_scalar(f"losses/{name}", value, step)
        for part, base in (("heads", settings.lr), ("backbone", settings.lr_backbone)):
            writer.add_scalar(f"learning rate/{part}", learning_rate(base, epoch, settings), step)
        learner.eval()  # or looking at centres would move running means; the next epoch sets it back
        for name, points in (("centres", learner.centres()), ("prototypes", learner.prototypes())):
            if points is not None:
                self._apart(name, _between(points, of_codes=name == "centres" and hasattr(settings, "bits")), step)

    def finished(self, model: Model) -> None:
        step, writer = getattr(model.settings, "epochs", 0), self.writer()
        centres = np.stack([centre.feature for centre in model.register().known_centres()])
        self._apart("register", _distances(centres), step)
        for name, value in model.report.items():
            if isinstance(value, int | float) and not isinstance(value, bool):
                writer.add_scalar(f"report/{name}", value, step)
        settings = "\n".join(f"- `{name}`: {value}" for name, value in model.settings.as_dict().items())
        writer.add_text("settings", settings, step)
        writer.add_text("how it came out", "\n".join(f"- {line}" for line in model.report["lines"]), step)
        self._examples(model, step)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()

    def _apart(self, name: str, distances: NDArray[np.float32], step: int) -> None:
        """How far some points are from each other."""
        if len(distances):
            self.writer().add_scalar(f"{name}/closest pair", float(distances.min()), step)
            self.writer().add_scalar(f"{name}/mean distance", float(distances.mean()), step)
            self.writer().add_histogram(f"{name}/distances", distances, step)

    def _examples(self, model: Model, step: int) -> None:
        """The support images that stand for each category, side by side; none where none are kept."""
        if model.examples is None or model.examples.pictures is None:
            return
        for number, category in enumerate(model.categories[:CATEGORIES]):
            own = np.flatnonzero(model.examples.category == number)
            pictures = [_pixels(model.examples.picture(int(entry)) or b"") for entry in own]
            if pictures:
                strip = np.concatenate(pictures, axis=1)
                self.writer().add_image(f"examples/{category.name}", strip, step, dataformats="HWC")


@contextmanager
def tracking(folder: Path | str | None) -> Iterator[Untracked]:
    """Whoever looks on at a run: only its first process writes, where there are several."""
    if folder is None or os.environ.get("RANK", "0") != "0":
        yield Untracked()
        return
    require_tensorboard()
    with disk_errors(Path(folder)):
        Path(folder).mkdir(parents=True, exist_ok=True)
    tracked = Tracked(Path(folder))
    try:
        yield tracked
    finally:
        tracked.close()


@torch.no_grad()
def _between(points: Tensor, of_codes: bool) -> NDArray[np.float32]:
    """Distances of points that are being learned: of codes in bits, of all others as they are."""
    given = points.detach().float().cpu().numpy()
    return _distances(given >= 0 if of_codes else given)


def _distances(points: NDArray[Any]) -> NDArray[np.float32]:
    """Of every two, once."""
    some = points[np.linspace(0, len(points) - 1, min(MOST, len(points))).round().astype(int)]
    one, other = np.triu_indices(len(some), k=1)
    if some.dtype == np.bool_:
        found = (some[one] != some[other]).sum(axis=1)
    elif some.dtype.kind == "u":  # codes, in one number or several
        found = np.bitwise_count(some[one] ^ some[other]).reshape(len(one), -1).sum(axis=1)
    else:
        found = np.linalg.norm(some[one] - some[other], axis=-1)
    return np.asarray(found, dtype=np.float32)


def _pixels(picture: bytes) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(picture)) as image:
        return np.asarray(image.convert("RGB"))
