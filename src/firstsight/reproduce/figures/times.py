"""Training times as a figure."""

from __future__ import annotations

from collections.abc import Sequence

from firstsight.reproduce.figures.charts import Chart, Panel, Series
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.tables.times import ratio_to_phe, training_seconds


def time_bars(results: Sequence[RunResult]) -> Chart | None:
    """SMILE's training time for one of PHE's."""
    found = {
        data: ratio_to_phe(results, data, method) for data, method in training_seconds(results) if method == "smile"
    }
    if not found:
        return None
    name = "SMILE's training time over PHE's"
    series = [Series(name, [ours for ours, _ in found.values()])]
    series.append(Series(name, [theirs for _, theirs in found.values()], paper=True))
    return Chart(name, [Panel(name, "", list(found), series, "bars")])
