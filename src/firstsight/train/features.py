"""`fit_features`: a model of features that somebody has already, of whatever they were made. Loads no torch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import DataError, ModelError
from firstsight.core.packages import need
from firstsight.core.progress import Watcher, watched_by
from firstsight.core.protocols import SupportFeatures
from firstsight.core.settings import Settings
from firstsight.core.threads import one_thread
from firstsight.methods.catalogue import decision_of
from firstsight.methods.settings import settings_to_fit
from firstsight.model.examples import choose
from firstsight.model.model import Category, Model

Labels: TypeAlias = Sequence[Any] | NDArray[Any]  # names, or whatever has one by str()


def fit_features(
    features: Any,
    labels: Labels,
    out: Path | str | None = None,
    settings: Settings | None = None,
    *,
    progress: Watcher = None,
    **changes: Any,
) -> Model:
    """Fit a method that trains nothing on features (N, D) and their labels; save to `out` where one is named.

    >>> X = np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1]])
    >>> fit_features(X, ["ant", "ant", "bee", "bee"]).names
    ['ant', 'bee']
    """
    settings = settings_to_fit(settings, changes)
    need("fitting", "scipy", "sklearn")
    decision = decision_of(settings.method)
    if decision.settings_type is not type(settings):
        raise ModelError(
            f"{settings.method} trains an encoder, so it cannot be fitted on features", "use firstsight or ncm"
        )
    out = None if out is None else Path(out).absolute()
    if out is not None and out.exists():
        raise ModelError(f"{out} exists already", "choose another name, or remove it first")
    support = replace(checked(features, labels), progress=watched_by(progress))
    model = fit_decision(support, settings)
    if (each := getattr(settings, "prototypes", None)) is not None:  # which a method of one's own need not have
        likeness, categories = model.decision.similarity, len(support.names)
        model.examples = choose(support.features, support.labels, categories, likeness, each, None)
    if out is not None:
        from firstsight.model.folder import save_model  # loads more than the rest takes

        save_model(model, out)
    return model


@one_thread()
def fit_decision(support: SupportFeatures, settings: Settings) -> Model:
    """A model without an encoder: the decision fitted on these features, and how it came out."""
    decision_type = decision_of(settings.method)
    decision_type.check(len(support.names), settings)
    decision = decision_type.fit(support, settings)
    counts = np.bincount(support.labels, minlength=len(support.names)).tolist()
    categories = tuple(Category(name, count) for name, count in zip(support.names, counts, strict=True))
    return Model(settings, categories, decision, report=decision.report(support.features, support.labels))


def checked(features: Any, labels: Labels) -> SupportFeatures:
    """Features and labels as a decision takes them; DataError where they are none."""
    try:
        with np.errstate(over="ignore"):  # which is found below
            given = np.asarray(features, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise DataError(f"features are not numbers: {error}", "give an array of one feature per line") from None
    if given.ndim != 2 or not given.shape[1]:
        raise DataError(f"features have shape {given.shape}", "give an array of one feature per line, (N, D)")
    if not np.isfinite(given).all():
        raise DataError("features hold values that are not finite numbers", "leave those images out")
    if isinstance(labels, (str, bytes)):
        raise DataError("labels are a text, not a list", "give one label for each feature")
    if len(labels) != len(given):
        raise DataError(f"there are {len(given)} features and {len(labels)} labels", "give one label for each")
    if np.ndim(labels) != 1:
        raise DataError(f"labels have shape {np.shape(labels)}", "give one label for each feature, (N,)")
    names, numbers = np.unique(np.asarray([str(label) for label in labels]), return_inverse=True)
    if bad := [name for name in names.tolist() if not name.isprintable() or name in ("", "nan", "None")]:
        raise DataError(f"{bad[0]!r} is no name of a category", "give every feature a label")
    if len(names) < 2:
        raise DataError(f"there are {len(names)} categories", "give features of two or more")
    return SupportFeatures(given, numbers.astype(np.int64), tuple(names.tolist()))
