"""How the method `firstsight` does with the few images people start with, without a look at a query stream.

    python reproductions/small_supports.py cub.npz pets.npz --out small.jsonl --scenes 12

Scenes are drawn from a support set: some of its categories with a few images teach, others of their images and as many
new categories arrive. Writes a line per scene, and prints the means: accuracy, that of k-means told the number, how
many taught images are called new when they are offered again, and the expected calibration error. Features come from
reproductions/features.py.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from features import Part, fitted, load
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from firstsight.core.accuracy import matched, strict_accuracy
from firstsight.methods.firstsight.forms import even

SIZES = [
    (2, 2), (2, 8), (3, 2), (3, 10), (3, 30), (4, 5), (4, 16), (6, 4), (6, 16), (8, 16), (9, 8), (9, 25), (12, 2),
    (12, 12),
]  # fmt: skip
ARRIVING = 15  # images of every category
LEAST_NEW = 3  # categories
BINS = 15


@dataclass(frozen=True)
class Scene:
    data: str
    categories: int
    images: int  # of each, or of the largest
    unequal: bool
    number: int

    def parts(self, support: Part) -> tuple[Part, Part]:
        """What teaches, and the stream, in turn; known categories are those with the lower numbers."""
        generator = np.random.default_rng([self.categories, self.images, self.unequal, self.number])
        drawn = generator.permutation(np.unique(support.labels))
        drawn = drawn[: self.categories + max(self.categories, LEAST_NEW)]
        sizes = self.images * np.ones(self.categories)
        if self.unequal:
            sizes = np.geomspace(self.images, 2, self.categories)
        teaching, arriving = [], []
        for place, category in enumerate(drawn):
            own = generator.permutation(np.flatnonzero(support.labels == category))
            taught = min(round(sizes[place]), len(own) - 2) if place < self.categories else 0
            teaching.append(own[:taught])
            arriving.append(own[taught : taught + ARRIVING])
        parts = []
        for some in (teaching, arriving):
            labels = np.repeat(np.arange(len(some)), [len(own) for own in some])
            order = generator.permutation(len(labels))
            parts.append(Part(support.features[np.concatenate(some)][order], labels[order]))
        return parts[0], parts[1]


def played(support: Part, scene: Scene) -> dict[str, Any]:
    """Teach, offer what was taught again, and discover the stream."""
    taught, stream = scene.parts(support)
    decision = fitted(taught)
    register: Any = decision.register()
    again = [register.match(each).category for each in decision.transform(taught.features)]
    answers = register.assign_many(decision.transform(stream.features))
    known = stream.labels < len(decision.names)
    clusters = KMeans(len(np.unique(stream.labels)), n_init=3, random_state=0).fit_predict(even(stream.features))
    return {
        **vars(scene),
        **_accuracy("", stream.labels, answers.category, known),
        **_accuracy("k-means ", stream.labels, clusters, known),
        "own": 100 * float(np.mean([name == str(label) for name, label in zip(again, taught.labels, strict=True)])),
        "called new": 100 * float(np.mean([name is None for name in again])),
        "found": len(np.unique(answers.category)),
        "there": len(np.unique(stream.labels)),
        "confidence": answers.confidence.tolist(),
        "right": matched(stream.labels, answers.category).tolist(),
    }


def _accuracy(prefix: str, truth: NDArray[Any], category: NDArray[Any], known: NDArray[np.bool_]) -> dict[str, float]:
    found = strict_accuracy(truth, category, known)
    return {f"{prefix}{name}": 100 * getattr(found, name) for name in ("all", "old", "new")}


def calibration_error(lines: Sequence[dict[str, Any]]) -> float:
    """How far confidence is from the share that is right, in bins of as many answers."""
    sure, right = (np.concatenate([line[key] for line in lines]) for key in ("confidence", "right"))
    parts = np.array_split(np.argsort(sure, kind="stable"), BINS)
    off = [len(part) * abs(sure[part].mean() - right[part].mean()) for part in parts if len(part)]
    return float(sum(off) / len(sure))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("features", type=Path, nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scenes", type=int, default=12, help="of every size, and as many with unequal categories")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    for path in options.features:
        support, _ = load(path)
        scenes = [
            Scene(path.stem, categories, images, unequal, number)
            for categories, images in SIZES
            for unequal in (False, True)
            for number in range(options.scenes)
            if categories + LEAST_NEW <= len(np.unique(support.labels))
        ]
        with ProcessPoolExecutor(options.processes) as pool:
            lines = list(pool.map(partial(played, support), scenes, chunksize=4))
        with options.out.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        report(lines)


def report(lines: Sequence[dict[str, Any]]) -> None:
    print(
        "| data, categories x images | All / Old / New | k-means, All / New | own | called new | found / true ", end=""
    )
    print("| calibration error |")
    print("|---|---|---|---|---|---|---|")
    groups: dict[str, list[dict[str, Any]]] = {}
    for line in lines:
        groups.setdefault(f"{line['categories']} x {line['images']}", []).append(line)
    for line in lines:
        groups.setdefault("2 and 3" if line["categories"] < 4 else "4 and more", []).append(line)
    for name, some in groups.items():
        mean = {key: np.mean([line[key] for line in some]) for key in some[0] if isinstance(some[0][key], int | float)}
        print(
            f"| {some[0]['data']}, {name} | {mean['all']:.1f} / {mean['old']:.1f} / {mean['new']:.1f} "
            f"| {mean['k-means all']:.1f} / {mean['k-means new']:.1f} | {mean['own']:.1f} | {mean['called new']:.1f} "
            f"| {mean['found'] / mean['there']:.2f} | {calibration_error(some):.3f} |"
        )


if __name__ == "__main__":
    main()
