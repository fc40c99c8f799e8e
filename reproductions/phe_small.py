"""PHE on small support sets: what a last batch of two images does, without a look at a query stream.

    python reproductions/phe_small.py cub=cub.tar scars=cars.tar pets=pets.tar --out phe_small.jsonl

642 images of some known categories teach, which is five batches of 128 and two images more. Others of the same
categories arrive: how many get their name is printed, beside how many centres no other category shares. `before` has
the two images make a batch, `repair` trains on after that, and with 640 images there are none left over.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.protocols import Silent
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.folder import LabelledImages
from firstsight.methods.settings import settings
from firstsight.reproduce.task import crops_of
from firstsight.train import support as batches
from firstsight.train.fit import fit_images
from firstsight.train.pixels import PixelCache

CATEGORIES = {"cub": 50, "scars": 41, "pets": 19}
TAUGHT = 642
SEEDS = (0, 1)
FORMS = {"before": (0.0, False), "repair": (0.0, True), "after": (batches.LEAST, True)}  # least last batch, repaired
TRIED = [(TAUGHT, "before"), (TAUGHT, "repair"), (TAUGHT, "after"), (TAUGHT - 2, "before")]


def part_of(data: LabelledImages, own: NDArray[np.int64], categories: NDArray[np.int64]) -> LabelledImages:
    """Some images of some categories, which are numbered anew."""
    return replace(
        data,
        images=tuple(data.images[i] for i in own),
        names=tuple(data.names[i] for i in own),
        labels=tuple(int(np.searchsorted(categories, data.labels[i])) for i in own),
        categories=tuple(data.categories[i] for i in categories),
    )


def tried(taught: LabelledImages, arriving: LabelledImages, form: str, seed: int, device: str) -> dict[str, Any]:
    """Train, and let the images that were kept back arrive."""
    batches.LEAST, repair = FORMS[form]
    chosen = settings("phe", backbone="efficientnet-lite2", cache_trunk=16, seed=seed, repair=repair)
    model = fit_images(taught, chosen, device, Silent())
    encoder, register = model.image_encoder, model.decision.register()
    pixels = PixelCache(arriving.images, encoder.preprocess, Silent())
    features = np.concatenate([encoder.encode(crops) for crops in crops_of(pixels, encoder.device)])
    answers = [register.match(each).category for each in model.decision.transform(features)]
    names = [arriving.categories[label] for label in arriving.labels]
    return {
        "alone": model.report["centres_alone"],
        "by_name": float(np.mean([answer == name for answer, name in zip(answers, names, strict=True)])),
        "within": model.report["support_within_radius"],
        "lines": model.report["lines"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="+", help="NAME=PATH")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    for name, _, root in (each.partition("=") for each in options.sets):
        of, images = open_data(name, Path(root))
        support, _ = split_of(of, images).apply(images)
        generator, labels = np.random.default_rng(0), np.asarray(support.labels)
        categories = np.sort(generator.permutation(len(support.categories))[: CATEGORIES[name]])
        own = generator.permutation(np.flatnonzero(np.isin(labels, categories)))
        arriving = part_of(support, own[TAUGHT:], categories)
        for count, form in TRIED:
            for seed in SEEDS:
                found = tried(part_of(support, own[:count], categories), arriving, form, seed, options.device)
                about = {"data": name, "images": count, "categories": len(categories), "what": form, "seed": seed}
                with options.out.open("a") as file:
                    file.write(json.dumps(about | found) + "\n")
                print(name, count, form, seed, f"{found['alone']} alone, {found['by_name']:.0%} by name", flush=True)


if __name__ == "__main__":
    main()
