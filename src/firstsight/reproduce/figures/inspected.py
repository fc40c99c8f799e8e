"""What a closer look at runs saved, as figures."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan

import numpy as np

from firstsight.reproduce.figures.charts import Chart, Map, Matrix, Panel, Series
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.tables.inspected import confusion_counts, histograms, looks, titled, with_cases, with_codes


def centre_bars(results: Sequence[RunResult]) -> Chart | None:
    """How many pairs of centres are how far apart, before training and after."""
    panels = []
    for result, codes in with_codes(results):
        series = [Series(when, counts) for when, counts in histograms(codes.centres).items()]
        labels = [str(i) for i in range(len(codes.centres.after))]
        panels.append(Panel(f"{titled(result)}: pairs of centres", "distance in bits", labels, series, "bars"))
    return Chart("Distances of centres before and after training", panels) if panels else None


def sensitivity_bars(results: Sequence[RunResult]) -> Chart | None:
    """What small changes of the images do to bits and to answers, and how many codes a category has."""
    found = [(titled(result), codes) for result, codes in with_codes(results)]
    if not found:
        return None
    changes = list(found[0][1].changed)
    bits = [Series(name, [100 * share.bits for share in codes.changed.values()]) for name, codes in found]
    answers = [Series(name, [100 * share.answers for share in codes.changed.values()]) for name, codes in found]
    counts = [Series(name, [codes.per_category.get(p, nan) for p in ("all", "old", "new")]) for name, codes in found]
    panels = [
        Panel("bits flipped, per cent", "", changes, bits, "bars"),
        Panel("answers changed, per cent", "", changes, answers, "bars"),
        Panel("different codes per category", "", ("All", "Old", "New"), counts, "bars"),
    ]
    return Chart("How codes bear small changes of the images", panels)


def case_bars(results: Sequence[RunResult]) -> Chart | None:
    """How many of the five are of the category in question."""
    panels = []
    for result, studies in with_cases(results):
        groups = {name: found for name, found in studies.groups.items() if found.images}
        series = [
            Series(name, [100 * n / found.images for n in found.of_the_top_five]) for name, found in groups.items()
        ]
        labels = [str(i) for i in range(max(len(each.values) for each in series))]
        panels.append(Panel(f"{titled(result)}: images, per cent", "of the five prototypes", labels, series, "bars"))
    return Chart("Of the five most similar prototypes, how many are of one category", panels) if panels else None


def confusion_view(results: Sequence[RunResult]) -> Matrix | None:
    """What went where, in the last of these runs: new categories in the order of the true one they hold most of."""
    found = list(looks(results))
    if not found:
        return None
    result, look = found[-1]
    counts = confusion_counts(look)
    used = np.flatnonzero(counts.sum(0))
    new = sorted(used[used >= look.known], key=lambda column: (counts[:, column].argmax(), -counts[:, column].max()))
    order = [*used[used < look.known], *new]
    shares = counts[:, order] / np.maximum(counts.sum(1, keepdims=True), 1)
    return Matrix(f"{titled(result)}: true and found categories", shares, (look.known, len(order) - len(new)))


def place_map(results: Sequence[RunResult]) -> Map | None:
    """Known and new images of the last of these runs, and those that were taken for the other."""
    found = list(looks(results))
    if not found:
        return None
    result, look = found[-1]
    old, named = (np.array(which)[look.sample] < look.known for which in (look.true, look.found))
    points = np.column_stack([look.x, look.y])
    groups = {
        "known, found known": points[old & named],
        "new, found new": points[~old & ~named],
        "taken for the other": points[old != named],
    }
    return Map(f"{titled(result)}: {len(look.sample)} images of the stream", groups)
