"""The paper's case studies (Sec. 4.4 and the appendix) as figures: what images of a whole stream are most like.

An image of a known category should be most like that category's prototypes; one of a new category like several known
ones at once, or, where it is taken for a known one, less like it than that category's own images are.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import nan
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from firstsight.core.protocols import Progress
from firstsight.evidence.points import TOP, Points, top
from firstsight.model.model import Model
from firstsight.reproduce.results import CaseStudies, Likeness
from firstsight.reproduce.task import crops_of
from firstsight.train.pixels import PixelCache

MANY = 3  # of the top five: the category is in the majority
GROUPS = ("known, named right", "known, not named", "new, found new", "new, taken for known")


def case_studies(
    model: Model, stream: PixelCache, features: NDArray[Any], truth: Sequence[str], progress: Progress
) -> CaseStudies:
    """For each group of images: how many of the five most similar points are of the category in question.

    That is the true one of a known image, the one that answers where a new image is taken for it, and otherwise the
    one most of the five are of. Every image is asked about as if it were the first of the stream; `features` are as
    the register compares them.
    """
    points, scores, encoder, register = Points(model), [], model.torch_encoder, model.register()
    answers = [register.match(feature).category for feature in features]
    learner = encoder.learner.eval()
    with progress.task("comparing", len(truth)) as advance, torch.no_grad():
        for crops in crops_of(stream, encoder.device):
            scores.append(points.similarity(learner.shown(encoder.stem(crops)).cpu().numpy()))
            for _ in crops:
                advance()
    likeness = _likeness(points, np.concatenate(scores), model.names, truth, answers)
    group_of = np.array(_groups(model.names, truth, answers))
    assert model.examples is not None
    return CaseStudies(
        points=len(points),
        dead=int((model.examples.wins == 0).sum()),
        strays=int((model.examples.category != model.examples.image_category).sum()),
        groups={group: _summary(likeness[group_of == group]) for group in GROUPS},
    )


def _groups(names: Sequence[str], truth: Sequence[str], answers: Sequence[str | None]) -> list[str]:
    known = set(names)
    return [
        GROUPS[(0 if answer == true else 1) if true in known else (2 if answer is None else 3)]
        for true, answer in zip(truth, answers, strict=True)
    ]


def _likeness(
    points: Points,
    scores: NDArray[np.float32],
    names: Sequence[str],
    truth: Sequence[str],
    answers: Sequence[str | None],
) -> NDArray[np.float64]:
    """For every image: how many of its top five are of the category in question, their sum, how many categories."""
    position = {name: i for i, name in enumerate(names)}
    likeness = []
    for image, best in enumerate(top(scores)):
        categories, values = points.category[best], scores[image, best]
        counts = np.bincount(categories, minlength=len(names))
        asked = position.get(truth[image], position.get(str(answers[image]), int(counts.argmax())))
        likeness.append((counts[asked], values[categories == asked].sum(), np.count_nonzero(counts)))
    return np.array(likeness, dtype=np.float64).reshape(-1, 3)


def _summary(likeness: NDArray[np.float64]) -> Likeness:
    count, total, categories = likeness.T
    if not len(count):
        return Likeness(0, [], nan, nan, nan)
    return Likeness(
        images=len(count),
        of_the_top_five=np.bincount(count.astype(np.int64), minlength=TOP + 1).tolist(),
        share_with_three_or_more=round(float((count >= MANY).mean()), 4),
        mean_similarity=round(float(total.mean()), 3),
        mean_categories=round(float(categories.mean()), 2),
    )
