"""A closer look at one trained model: what figures show beyond accuracy. Saved with its run, drawn at any time.

How codes bear small changes of the images (Fig. 1e), where centres were before training and are after it (Fig. 5), what
images are most like (Fig. 3), what went where, and a map of the stream.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from firstsight.core.codes import hamming, pairwise
from firstsight.core.protocols import Features, Progress, Register
from firstsight.core.threads import one_thread
from firstsight.data.images import CENTRE
from firstsight.methods.decisions import CodeDecision
from firstsight.model.model import Model
from firstsight.reproduce.case_studies import case_studies
from firstsight.reproduce.results import Centres, Changed, Codes, Histogram, Inspection
from firstsight.reproduce.task import CENTRAL, Task, encode_pixels
from firstsight.train.features import fit_decision
from firstsight.train.fit import support_features, untrained
from firstsight.train.support import Stems, Support, seeded

SAMPLE = 1000  # images of the stream that are changed and mapped
BRIGHTER, NOISE = 1.05, 4.0  # times, and levels of 255

# name: where to crop and whether to mirror, and what is done to the pixels (N, S, S, 3) in 0..255
CHANGES: dict[str, tuple[tuple[float, float, float], Callable[[Tensor], Tensor]]] = {
    "crop moved": ((0.625, 0.625, CENTRE), lambda pixels: pixels),
    "mirrored": ((CENTRE, CENTRE, 0.75), lambda pixels: pixels),
    "brighter": (CENTRAL, lambda pixels: BRIGHTER * pixels),
    "noise": (CENTRAL, lambda pixels: pixels + NOISE * _noise(pixels)),
}


@one_thread()
def inspect(task: Task, model: Model, settings: Any, encoded: Features, stems: Stems, progress: Progress) -> Inspection:
    """Everything about a run's model and stream that a figure is made of."""
    features = model.transform(encoded)
    answers = model.register().assign_many(features)
    sample = np.linspace(0, len(features) - 1, min(SAMPLE, len(features))).astype(np.int64)
    names = [*model.names, *sorted(set(task.truth) - set(model.names))]
    position = {name: i for i, name in enumerate(names)}
    places = _plane(model.decision.project(encoded[sample]))
    return Inspection(
        known=len(model.names),
        names=names,
        true=[position[name] for name in task.truth],
        found=answers.category.tolist(),
        sample=sample.tolist(),
        x=places[:, 0].tolist(),
        y=places[:, 1].tolist(),
        codes=_codes(task, model, settings, features, sample, stems, progress),
        cases=case_studies(model, task.stream, features, task.truth, progress) if settings.method == "phe" else None,
    )


def _codes(
    task: Task,
    model: Model,
    settings: Any,
    codes: NDArray[Any],
    sample: NDArray[np.int64],
    stems: Stems,
    progress: Progress,
) -> Codes | None:
    """What there is to say of codes, where features have any."""
    decision, register = model.decision, model.register()
    if not isinstance(decision, CodeDecision):
        return None
    register.assign_many(codes)  # what a change does is asked of the register at the end of the stream
    changed = {}
    for name, (draws, change) in CHANGES.items():
        now = encode_pixels(model, task.stream, torch.from_numpy(sample), draws, change)
        changed[name] = _changed(register, codes[sample], model.transform(now), decision.bits)
    before = {start: _before_training(task, each, stems, progress) for start, each in _starts(settings).items()}
    return Codes(
        bits=decision.bits,
        per_category=_codes_per_category(codes, task.truth, set(model.names)),
        changed=changed,
        centres=Centres(decision.minimum_distance, before, _histogram(decision)),
    )


def _noise(pixels: Tensor) -> Tensor:
    generator = seeded("cpu", 0, "noise", len(pixels))
    return torch.randn(pixels.shape, generator=generator).to(pixels.device)


def _changed(register: Register, codes: NDArray[Any], now: NDArray[Any], bits: int) -> Changed:
    """The share of bits that flip, of images whose code is another, and of those that are answered otherwise."""
    flipped = hamming(codes, now)
    pairs = zip(codes, now, strict=True)
    otherwise = [register.match(a).category != register.match(b).category for a, b in pairs]
    return Changed(float(flipped.mean()) / bits, float((flipped > 0).mean()), float(np.mean(otherwise)))


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
    own = getattr(settings, "prototype_start", None)
    if own is None:
        return {"random": settings}
    starts = {own, "random"} if settings.method == "phe" else {own}
    return {start: settings.changed(prototype_start=start) for start in sorted(starts)}


def _before_training(task: Task, settings: Any, stems: Stems, progress: Progress) -> Histogram:
    """How many pairs of centres are how far apart before any training."""
    encoder = untrained(settings, task.support, task.device)
    support = Support(task.support.labels, task.pixels, encoder, progress, stems)
    encoder.learner.start(support.central(), support.labels)
    decision = fit_decision(support_features(support, task.support.categories, progress)[0], settings).decision
    assert isinstance(decision, CodeDecision)
    return _histogram(decision)


def _histogram(decision: CodeDecision) -> Histogram:
    return [int(count) for count in np.bincount(pairwise(decision.codes), minlength=decision.bits + 1)]


def _plane(features: NDArray[np.float32]) -> NDArray[np.float64]:
    """The features in the plane, neighbours near each other (t-SNE)."""
    from sklearn.manifold import TSNE

    perplexity = min(30.0, (len(features) - 1) / 3)
    places = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(features)
    return np.asarray(places, dtype=np.float64).round(1)
