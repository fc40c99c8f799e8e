"""Features of a data set, encoded once: what the scripts beside this one fit hundreds of times.

    python reproductions/features.py cub cub.tar --out cub.npz --backbone efficientnet-lite2
    python reproductions/features.py cub cub.tar --out cub-once.npz --once

`moths` draws its own images and needs no file. With --once there is no second look. With --bf16 a GPU encodes as it
does when it answers, without in plain fp32. The settings of the machine count: run it with OMP_NUM_THREADS=1, or held
to AVX2, to see another machine's.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from firstsight.cli.console import Bars
from firstsight.cli.demo import draw
from firstsight.core.protocols import SupportFeatures
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.folder import LabelledImages
from firstsight.data.source import read_images
from firstsight.encode.many import encode_many
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.firstsight.settings import FirstsightSettings
from firstsight.methods.settings import settings
from firstsight.model.assemble import assemble


@dataclass(frozen=True)
class Part:
    """Features and the categories of their images, by number; known ones come first."""

    features: NDArray[np.float32]
    labels: NDArray[np.int64]

    def of(self, categories: NDArray[np.int64], most: int, generator: np.random.Generator) -> Part:
        """At most so many images of each of these categories, which are numbered anew in that order."""
        own = [generator.permutation(np.flatnonzero(self.labels == category))[:most] for category in categories]
        return Part(self.features[np.concatenate(own)], np.repeat(np.arange(len(own)), [len(some) for some in own]))


def load(path: Path) -> tuple[Part, Part]:
    """The support set and the query stream."""
    held = np.load(path)
    support, query = (Part(held[f"{part}_features"], held[f"{part}_labels"]) for part in ("support", "query"))
    return support, query


def fitted(part: Part, seed: int = 0) -> Firstsight:
    """The decision of the method `firstsight`, taught these features."""
    names = tuple(str(i) for i in range(int(part.labels.max()) + 1))
    return Firstsight.fit(SupportFeatures(part.features, part.labels, names), settings("firstsight", seed=seed))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("root", type=Path, nargs="?")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    parser.add_argument("--weights")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--bf16", action="store_true")
    parser.add_argument("--once", action="store_true", help="without the second look")
    options = parser.parse_args()
    chosen = settings("firstsight", backbone=options.backbone, weights=options.weights, second_look=not options.once)
    with tempfile.TemporaryDirectory() as folder:
        support, query = _moths(Path(folder)) if options.data == "moths" else split_images(options.data, options.root)
        held: dict[str, Any] = {}
        known = {name: i for i, name in enumerate(support.categories)}
        for name, images in (("support", support), ("query", query)):
            held[f"{name}_features"] = _encoded(images, chosen, options.device, not options.bf16)
            names = [images.categories[label] for label in images.labels]
            held[f"{name}_labels"] = np.array([known.setdefault(each, len(known)) for each in names])
    np.savez(options.out, **held)


def split_images(data: str, root: Path) -> tuple[LabelledImages, LabelledImages]:
    of, images = open_data(data, root)
    return split_of(of, images).apply(images)


def _moths(folder: Path) -> tuple[LabelledImages, LabelledImages]:
    draw(folder)
    return read_images(folder / "support"), read_images(folder / "stream")


def _encoded(images: LabelledImages, chosen: FirstsightSettings, device: str, exact: bool) -> NDArray[np.float32]:
    encoder = assemble(chosen, len(images.categories), torch.device(device), blank=False)
    encoder.exact = exact
    return encode_many(encoder, images.images, Bars())


if __name__ == "__main__":
    main()
