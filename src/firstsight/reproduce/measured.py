"""What runs say beside accuracy: their time, and what a closer look saved of codes, centres and answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import nan
from typing import Any

import numpy as np

from firstsight.data.benchmarks import BENCHMARKS
from firstsight.reproduce.charts import Panel, Series, chart, matrix, scatter
from firstsight.reproduce.closer import column
from firstsight.reproduce.drawing import Drawing
from firstsight.reproduce.reproduction import Result
from firstsight.reproduce.sheets import Cell, Sheet
from firstsight.reproduce.tables import paper_tables

ROWS = {"smile": "SMILE", "phe": "PHE"}  # in the paper's tables of times
TIME = (
    "Seconds of training alone, of one run; `of PHE` is the time over that of PHE. The paper has DINO ViT-B/16 on "
    "an RTX A6000, so only ratios compare."
)


def training_time(results: Sequence[Result]) -> Sheet:
    """How long training takes, and how SMILE's time is to PHE's."""
    paper = paper_tables()["tab:training-time-all (minutes, RTX A6000, 200 epochs)"]
    rows: list[list[Cell]] = []
    for (data, method), seconds in _seconds(results).items():
        ours, theirs = _ratio(results, data, method)
        hardware = ", ".join(sorted({r["hardware"] for r in results if (r["data"], r["method"]) == (data, method)}))
        minutes = paper[ROWS[method]].get(data, nan)
        rows.append([data, method, seconds, minutes, ours, theirs, ours - theirs, hardware])
    header = ("data", "method", "seconds", "paper's minutes", "of PHE", "paper's of PHE", "difference", "hardware")
    return Sheet(header, rows, (TIME,) if rows else ())


def time_bars(results: Sequence[Result]) -> Drawing | None:
    """SMILE's training time for one of PHE's."""
    ratios = {data: _ratio(results, data, method) for data, method in _seconds(results) if method == "smile"}
    if not ratios:
        return None
    name = "SMILE's training time over PHE's"
    series = [Series(name, [ours for ours, _ in ratios.values()])]
    series.append(Series(name, [theirs for _, theirs in ratios.values()], paper=True))
    return chart(name, [Panel(name, "", list(ratios), series, "bars")])


def time_per_sample(results: Sequence[Result]) -> Sheet:
    """Training time over support images, which the paper says goes with the number of categories."""
    paper = paper_tables()["tab:training-time-persample"]["seconds per sample"]
    rows: list[list[Cell]] = []
    for (data, method), seconds in _seconds(results).items():
        of = BENCHMARKS.get(data)
        if of is not None and of.support and method == "phe":
            milliseconds = 1000 * seconds / of.support
            theirs = 1000 * paper.get(data, nan)
            rows.append([data, len(of.known), of.support, seconds, milliseconds, theirs, milliseconds - theirs])
    header = ("data", "known categories", "support images", "seconds", "ms per image", "paper's ms", "difference")
    return Sheet(header, rows, (TIME,) if rows else ())


def centre_distances(results: Sequence[Result]) -> Sheet:
    """How many pairs of centres are closer than asked, before training and after."""
    rows: list[list[Cell]] = []
    for name, (asked, histograms) in _centres(results).items():
        for when, counts in histograms.items():
            closest = next((distance for distance, count in enumerate(counts) if count), None)
            below, pairs = sum(counts[:asked]), sum(counts)
            rows.append([name, when, asked, closest, counts[0], below, pairs, 100 * below / max(pairs, 1)])
    header = ("run", "centres", "asked", "closest", "on the same code", "closer than asked", "pairs", "per cent closer")
    note = "The paper: before training some centres share a code, after it none is closer than d_max."
    return Sheet(header, rows, (note,) if rows else ())


def centre_bars(results: Sequence[Result]) -> Drawing | None:
    panels = [
        Panel(f"{name}: pairs of centres", "distance in bits", [str(i) for i in range(len(after))], series, "bars")
        for name, (_, histograms) in _centres(results).items()
        for after in [histograms["after training"]]
        for series in [[Series(when, counts) for when, counts in histograms.items()]]
    ]
    return chart("Distances of centres before and after training", panels) if panels else None


def sensitivity(results: Sequence[Result]) -> Sheet:
    """What small changes of the images do to codes and answers, and how many codes a category has."""
    rows: list[list[Cell]] = []
    for result in results:
        look, (row, *_) = result["look"], next(iter(result["rows"].values()))
        counts = look["codes_per_category"]
        for change, share in look["changed"].items():
            shares = [100 * share[part] for part in ("bits", "codes", "answers")]
            found = [round(row["categories"]), result["true_categories"]]
            rows.append([result["data"], result["bits"], result["method"], change, *shares, counts["all"], *found])
    header = ("data", "bits", "method", "change", "bits flipped, %", "codes changed, %", "answers changed, %")
    note = (
        "Crop moved by an eighth of its room, 5 % brighter, noise of 4 in 255. Codes per category: of the images of "
        "one true category. The paper's Fig. 1(e) has no figures."
    )
    return Sheet((*header, "codes per category", "found", "true"), rows, (note,) if rows else ())


def sensitivity_bars(results: Sequence[Result]) -> Drawing | None:
    if not results:
        return None
    changes = list(results[0]["look"]["changed"])
    titles = {"bits": "bits flipped, per cent", "answers": "answers changed, per cent"}
    panels = [
        Panel(title, "", changes, [Series(_named(r), _changed(r, part)) for r in results], "bars")
        for part, title in titles.items()
    ]
    count = [
        Series(_named(r), [r["look"]["codes_per_category"].get(part, nan) for part in ("all", "old", "new")])
        for r in results
    ]
    panels.append(Panel("different codes per category", "", ("All", "Old", "New"), count, "bars"))
    return chart("How codes bear small changes of the images", panels)


def cases(results: Sequence[Result]) -> Sheet:
    """What images are most like, by how they were answered."""
    rows: list[list[Cell]] = []
    for result in results:
        for group, found in result["look"]["cases"]["groups"].items():
            share = 100 * found.get("share_with_three_or_more", nan)
            means = [found.get(name, nan) for name in ("mean_similarity", "mean_categories")]
            rows.append([_named(result), group, found["images"], share, *means])
    header = (
        "run",
        "images",
        "how many",
        "three or more of the top five, %",
        "their similarity",
        "categories among them",
    )
    note = (
        "Of each image's five most similar prototypes, those of its category: the true one of a known image, of a new "
        "one that which answers or most are of. The paper's cases have 9.0 against 3.32 and 3.54. One image: `explain`."
    )
    return Sheet(header, rows, (note,) if rows else ())


def case_bars(results: Sequence[Result]) -> Drawing | None:
    """How many of the five are of the category in question."""
    panels = []
    for result in results:
        groups = {g: found for g, found in result["look"]["cases"]["groups"].items() if found["images"]}
        shares = {g: [100 * n / found["images"] for n in found["of_the_top_five"]] for g, found in groups.items()}
        series = [Series(group, values) for group, values in shares.items()]
        labels = [str(i) for i in range(max(map(len, shares.values())))]
        panels.append(Panel(f"{_named(result)}: images, per cent", "of the five prototypes", labels, series, "bars"))
    return chart("Of the five most similar prototypes, how many are of one category", panels) if panels else None


def confusion(results: Sequence[Result]) -> Sheet:
    """For every true category where most of it went."""
    rows: list[list[Cell]] = []
    for result in results:
        look, counts = result["look"], _counts(result["look"])
        for true, row in enumerate(counts):
            if row.sum():
                main = int(row.argmax())
                known = true < look["known"]
                found = look["names"][main] if main < look["known"] else f"new, number {main - look['known'] + 1}"
                share = 100 * float(row[main] / row.sum())
                split = int((row > 0).sum())
                rows.append([_named(result), look["names"][true], "Old" if known else "New", found, share, split])
    header = ("run", "true category", "part", "most of it was found as", "per cent of it", "categories it was found as")
    return Sheet(header, rows)


def confusion_view(results: Sequence[Result]) -> Drawing | None:
    """What went where, in the last of these runs: new categories in the order of the true one they hold most of."""
    if not results:
        return None
    result = results[-1]
    look, counts = result["look"], _counts(result["look"])
    used = np.flatnonzero(counts.sum(0))
    new = sorted(used[used >= look["known"]], key=lambda found: (counts[:, found].argmax(), -counts[:, found].max()))
    order = [*used[used < look["known"]], *new]
    shares = counts[:, order] / np.maximum(counts.sum(1, keepdims=True), 1)
    cells = [(int(row), int(at), float(shares[row, at])) for row, at in np.argwhere(shares > 0)]
    split = look["known"], len(order) - len(new)
    return matrix(f"{_named(result)}: true and found categories", cells, shares.shape, split)


def places(results: Sequence[Result]) -> Sheet:
    """Where images lie on the map, what they are, and what they were found as."""
    rows: list[list[Cell]] = []
    for result in results:
        look = result["look"]
        true, found = column(look, "true").astype(int), column(look, "found").astype(int)
        sample = column(look, "sample").astype(int)
        for image, x, y in zip(sample, column(look, "x"), column(look, "y"), strict=True):
            rows.append([_named(result), int(image), float(x), float(y), look["names"][true[image]], int(found[image])])
    return Sheet(("run", "image", "x", "y", "true category", "found category"), rows)


def place_map(results: Sequence[Result]) -> Drawing | None:
    """Known and new images of the last of these runs, and those that were taken for the other."""
    if not results:
        return None
    look = results[-1]["look"]
    sample, known = column(look, "sample").astype(int), look["known"]
    old, named = (column(look, name)[sample] < known for name in ("true", "found"))
    points = np.column_stack([column(look, "x"), column(look, "y")])
    groups = {
        "known, found known": old & named,
        "new, found new": ~old & ~named,
        "taken for the other": old != named,
    }
    return scatter(
        f"{_named(results[-1])}: {len(sample)} images of the stream",
        [(name, [(float(x), float(y)) for x, y in points[mask]]) for name, mask in groups.items()],
    )


def _seconds(results: Sequence[Result]) -> dict[tuple[str, str], float]:
    return {(result["data"], result["method"]): result["report"]["seconds"] for result in results}


def _ratio(results: Sequence[Result], data: str, method: str) -> tuple[float, float]:
    """A method's training time over PHE's, ours and the paper's; NaN where one is not known or too short to tell."""
    paper = paper_tables()["tab:training-time-all (minutes, RTX A6000, 200 epochs)"]
    seconds = _seconds(results)
    ours = seconds[data, method] / (seconds.get((data, "phe")) or nan)
    return ours, paper[ROWS[method]].get(data, nan) / paper["PHE"].get(data, nan)


def _centres(results: Sequence[Result]) -> dict[str, tuple[int, dict[str, list[int]]]]:
    found = {}
    for result in results:
        centres = result["look"]["centres"]
        before = {f"before, {start} start": counts for start, counts in centres["before"].items()}
        found[_named(result)] = centres["asked"], {**before, "after training": centres["after"]}
    return found


def _counts(look: Mapping[str, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
    """How many images of every true category were found as every category."""
    true, found = column(look, "true").astype(np.int64), column(look, "found").astype(np.int64)
    counts = np.zeros((len(look["names"]), int(found.max()) + 1), dtype=np.int64)
    np.add.at(counts, (true, found), 1)
    return counts


def _changed(result: Result, part: str) -> list[float]:
    return [100 * share[part] for share in result["look"]["changed"].values()]


def _named(result: Result) -> str:
    return f"{result['data']}, {result['method']}, {result['bits']} bits"
