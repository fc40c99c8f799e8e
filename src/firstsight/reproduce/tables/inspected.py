"""What runs say that were looked at closely: of codes, centres and prototypes, and of where images went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from firstsight.reproduce.results import CaseStudies, Centres, Codes, Histogram, Inspection, RunResult
from firstsight.reproduce.tables.sheet import Cell, Sheet


def centre_distances(results: Sequence[RunResult]) -> Sheet:
    """How many pairs of centres are closer than asked, before training and after."""
    rows: list[list[Cell]] = []
    for result, codes in with_codes(results):
        asked = codes.centres.asked
        for when, counts in histograms(codes.centres).items():
            closest = next((distance for distance, count in enumerate(counts) if count), None)
            below, pairs = sum(counts[:asked]), sum(counts)
            rows.append([titled(result), when, asked, closest, counts[0], below, pairs, 100 * below / max(pairs, 1)])
    header = ("run", "centres", "asked", "closest", "on the same code", "closer than asked", "pairs", "per cent closer")
    note = "The paper: before training some centres share a code, after it none is closer than d_max."
    return Sheet(header, rows, (note,) if rows else ())


def sensitivity(results: Sequence[RunResult]) -> Sheet:
    """What small changes of the images do to codes and answers, and how many codes a category has."""
    rows: list[list[Cell]] = []
    for result, codes in with_codes(results):
        run, found = result.run, [round(result.headline.categories), result.true_categories]
        for change, share in codes.changed.items():
            shares = [100 * part for part in (share.bits, share.codes, share.answers)]
            rows.append([run.data, run.bits, run.method, change, *shares, codes.per_category["all"], *found])
    header = ("data", "bits", "method", "change", "bits flipped, %", "codes changed, %", "answers changed, %")
    note = (
        "Crop moved by an eighth of its room, 5 % brighter, noise of 4 in 255. Codes per category: of the images of "
        "one true category. The paper's Fig. 1(e) has no figures."
    )
    return Sheet((*header, "codes per category", "found", "true"), rows, (note,) if rows else ())


def cases(results: Sequence[RunResult]) -> Sheet:
    """What images are most like, by how they were answered."""
    rows: list[list[Cell]] = []
    for result, studies in with_cases(results):
        for group, found in studies.groups.items():
            share, means = 100 * found.share_with_three_or_more, [found.mean_similarity, found.mean_categories]
            rows.append([titled(result), group, found.images, share, *means])
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


def confusion(results: Sequence[RunResult]) -> Sheet:
    """For every true category where most of it went."""
    rows: list[list[Cell]] = []
    for result, look in looks(results):
        for true, counts in enumerate(confusion_counts(look)):
            if counts.sum():
                main = int(counts.argmax())
                part = "Old" if true < look.known else "New"
                found = look.names[main] if main < look.known else f"new, number {main - look.known + 1}"
                share, split = 100 * float(counts[main] / counts.sum()), int((counts > 0).sum())
                rows.append([titled(result), look.names[true], part, found, share, split])
    header = ("run", "true category", "part", "most of it was found as", "per cent of it", "categories it was found as")
    return Sheet(header, rows)


def places(results: Sequence[RunResult]) -> Sheet:
    """Where images lie on the map, what they are, and what they were found as."""
    rows: list[list[Cell]] = []
    for result, look in looks(results):
        for image, x, y in zip(look.sample, look.x, look.y, strict=True):
            rows.append([titled(result), image, x, y, look.names[look.true[image]], look.found[image]])
    return Sheet(("run", "image", "x", "y", "true category", "found category"), rows)


def looks(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, Inspection]]:
    """Those that were inspected."""
    return ((result, result.inspection) for result in results if result.inspection)


def with_codes(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, Codes]]:
    return ((result, look.codes) for result, look in looks(results) if look.codes)


def with_cases(results: Sequence[RunResult]) -> Iterator[tuple[RunResult, CaseStudies]]:
    return ((result, look.cases) for result, look in looks(results) if look.cases)


def histograms(centres: Centres) -> dict[str, Histogram]:
    """Distances of centres by when they were taken."""
    before = {f"before, {start} start": counts for start, counts in centres.before.items()}
    return {**before, "after training": centres.after}


def confusion_counts(look: Inspection) -> NDArray[np.int64]:
    """How many images of every true category were found as every category."""
    counts = np.zeros((len(look.names), max(look.found) + 1), dtype=np.int64)
    np.add.at(counts, (look.true, look.found), 1)
    return counts


def titled(result: RunResult) -> str:
    """What a run is called in a table."""
    return f"{result.run.data}, {result.run.method}, {result.run.bits} bits"
