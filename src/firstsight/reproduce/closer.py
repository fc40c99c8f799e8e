"""A closer look at one trained model: what figures show beyond accuracy. Saved with its run, drawn at any time.

How codes bear small changes of the images (Fig. 1e), where centres were before training and are after it (Fig. 5), what
images are most like (Fig. 3), what went where, and a map of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.manifold import TSNE
from torch import Tensor

from firstsight.core.codes import hamming, pairwise
from firstsight.core.protocols import Features, Progress, SupportFeatures
from firstsight.core.threads import one_thread
from firstsight.data.images import CENTRE
from firstsight.encode.many import encode_crops
from firstsight.methods.decisions import CodeDecision
from firstsight.model.model import Model
from firstsight.reproduce.cases import cases
from firstsight.train.features import decided
from firstsight.train.fit import support_features, untrained
from firstsight.train.pixels import PixelCache
from firstsight.train.support import Stems, Support, seeded

if TYPE_CHECKING:
    from firstsight.reproduce.jobs import Task

SAMPLE = 1000  # images of the stream that are changed and mapped
BATCH = 128
BRIGHTER, NOISE = 1.05, 4.0  # times, and levels of 255

# name: where to crop and whether to mirror, and what is done to the pixels (N, S, S, 3) in 0..255
CHANGES: dict[str, tuple[tuple[float, float, float], Callable[[Tensor], Tensor]]] = {
    "crop moved": ((0.625, 0.625, CENTRE), lambda pixels: pixels),
    "mirrored": ((CENTRE, CENTRE, 0.75), lambda pixels: pixels),
    "brighter": ((CENTRE, CENTRE, CENTRE), lambda pixels: BRIGHTER * pixels),
    "noise": ((CENTRE, CENTRE, CENTRE), lambda pixels: pixels + NOISE * _noise(pixels)),
}


@one_thread()
def closer_look(
    task: Task, model: Model, settings: Any, encoded: Features, stems: Stems, progress: Progress
) -> dict[str, Any]:
    """Everything about a run's model and stream that a figure is made of, as JSON can hold it."""
    register: Any = model.register()
    rows = model.transform(encoded)
    answers = register.assign_many(rows)
    sample = np.linspace(0, len(rows) - 1, min(SAMPLE, len(rows))).astype(np.int64)
    names = [*model.names, *sorted(set(task.truth) - set(model.names))]
    places = _plane(model.decision.project(encoded)[sample])
    columns = {  # one line each in the file: positions among the true names, and among the register's
        "true": [names.index(name) for name in task.truth],
        "found": answers.category.tolist(),
        "sample": sample.tolist(),
        "x": places[:, 0].tolist(),
        "y": places[:, 1].tolist(),
    }
    look: dict[str, Any] = {
        "known": len(model.names),
        "names": names,
        **{name: " ".join(f"{value:g}" for value in values) for name, values in columns.items()},
    }
    if settings.method == "phe":
        look["cases"] = cases(model, task.stream, task.truth, progress)
    if isinstance(model.decision, CodeDecision):
        look["bits"] = model.decision.bits
        look["codes_per_category"] = _codes_per_category(rows, task.truth, set(model.names))
        look["changed"] = {
            name: _changed(register, rows[sample], _rows(model, task.stream, sample, *how), model.decision.bits)
            for name, how in CHANGES.items()
        }
        before = {start: _centres(task, settings, stems, progress) for start, settings in _starts(settings).items()}
        look["centres"] = {
            "asked": model.decision.minimum_distance,
            "before": before,
            "after": _histogram(model.decision),
        }
    return look


def _rows(
    model: Model,
    pixels: PixelCache,
    images: NDArray[np.int64],
    draws: tuple[float, float, float],
    change: Callable[[Tensor], Tensor],
) -> NDArray[Any]:
    """What the model makes of these images, changed."""
    parts = []
    for some in torch.split(torch.from_numpy(images), BATCH):
        crops = pixels.crops(some, torch.tensor(draws).expand(len(some), 3), model.looking.device)
        parts.append(change(crops.float()).round().clamp(0, 255).to(torch.uint8))
    return model.transform(encode_crops(model, parts))


def _noise(pixels: Tensor) -> Tensor:
    generator = seeded("cpu", 0, "noise", len(pixels))
    return torch.randn(pixels.shape, generator=generator).to(pixels.device)


def _changed(register: Any, rows: NDArray[Any], changed: NDArray[Any], bits: int) -> dict[str, float]:
    """The share of bits that flip, of images whose code is another, and of those that are answered otherwise."""
    flipped = hamming(rows, changed)
    pairs = zip(rows, changed, strict=True)
    otherwise = [register.match(a).category != register.match(b).category for a, b in pairs]
    return {
        "bits": float(flipped.mean()) / bits,
        "codes": float((flipped > 0).mean()),
        "answers": float(np.mean(otherwise)),
    }


def _codes_per_category(codes: NDArray[Any], truth: Sequence[str], known: set[str]) -> dict[str, float]:
    """How many different codes the images of one true category have, on average."""
    names = np.array(truth)
    counts = {name: len(np.unique(codes[names == name], axis=0)) for name in dict.fromkeys(truth)}
    parts = {
        "all": list(counts),
        "old": [n for n in counts if n in known],
        "new": [n for n in counts if n not in known],
    }
    return {part: float(np.mean([counts[name] for name in some])) for part, some in parts.items() if some}


def _starts(settings: Any) -> dict[str, Any]:
    """The settings a training could start with: as it did and, for PHE, with prototypes at random."""
    own = getattr(settings, "prototype_start", "random")
    starts = {own, "random"} if settings.method == "phe" else {own}
    return {
        start: settings.changed(prototype_start=start) if hasattr(settings, "prototype_start") else settings
        for start in sorted(starts)
    }


def _centres(task: Task, settings: Any, stems: Stems, progress: Progress) -> list[int]:
    """How many pairs of centres are how far apart before any training."""
    encoder = untrained(settings, task.support, task.device)
    support = Support(task.support.labels, task.pixels, encoder, progress, stems)
    encoder.learner.start(support.central(), support.labels)
    encoder.learner.eval()
    features, centres = support_features(support)[0], encoder.learner.centres()
    found = SupportFeatures(
        features.cpu().numpy(),
        np.asarray(task.support.labels),
        tuple(task.support.categories),
        None if centres is None else centres.cpu().numpy(),
    )
    decision = decided(found, settings).decision
    assert isinstance(decision, CodeDecision)
    return _histogram(decision)


def _histogram(decision: CodeDecision) -> list[int]:
    return [int(count) for count in np.bincount(pairwise(decision.codes), minlength=decision.bits + 1)]


def column(look: Mapping[str, Any], name: str) -> NDArray[np.float64]:
    """A column of a saved look."""
    return np.array(look[name].split(), dtype=np.float64)


def _plane(features: NDArray[np.float32]) -> NDArray[np.float64]:
    """The rows in the plane, neighbours near each other (t-SNE)."""
    perplexity = min(30.0, (len(features) - 1) / 3)
    places = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(features)
    return np.asarray(places, dtype=np.float64).round(1)
