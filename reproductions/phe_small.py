"""PHE on small support sets: what a last batch of two images does, without a look at a query stream.

    python reproductions/phe_small.py cub cub.tar --out phe_small.jsonl

642 images of some known categories teach, which is five batches of 128 and two images more. Others of the same
categories arrive: how many get their name is printed, beside how many centres no other category shares. `before` has
the two images make a batch, `repair` trains on after that, and with 640 images there are none left over.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from itertools import product
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
FORMS = {"before": (0.0, False), "repair": (0.0, True), "after": (batches.LEAST, True)}  # least last batch, repaired
TRIED = [(0, "before"), (0, "repair"), (0, "after"), (-2, "before")]  # images more or less, form


def part_of(data: LabelledImages, own: NDArray[np.int64], categories: NDArray[np.int64]) -> LabelledImages:
    """Some images of some categories, which are numbered anew."""
    return replace(
        data,
        images=tuple(data.images[i] for i in own),
        names=tuple(data.names[i] for i in own),
        labels=tuple(int(np.searchsorted(categories, data.labels[i])) for i in own),
        categories=tuple(data.categories[i] for i in categories),
    )


def tried(taught: LabelledImages, arriving: LabelledImages, form: str, device: str, **more: Any) -> dict[str, Any]:
    """Train, and let the images that were kept back arrive."""
    batches.LEAST, repair = FORMS[form]
    chosen = settings("phe", backbone="efficientnet-lite2", repair=repair, **more)
    model = fit_images(taught, chosen, device, Silent())
    encoder, register = model.torch_encoder, model.decision.register()
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
    parser.add_argument("data", choices=CATEGORIES)
    parser.add_argument("root", type=Path)
    parser.add_argument("--taught", type=int, default=642, help="support images")
    parser.add_argument("--seeds", type=int, default=2)
    parser.add_argument("--epochs", type=int, default=200)
    parser.add_argument("--cache-trunk", type=int, default=16)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="auto")
    options = parser.parse_args()
    name, more = options.data, {"epochs": options.epochs, "cache_trunk": options.cache_trunk}
    of, images = open_data(name, options.root)
    support, _ = split_of(of, images).apply(images)
    generator, labels = np.random.default_rng(0), np.asarray(support.labels)
    categories = np.sort(generator.permutation(len(support.categories))[: CATEGORIES[name]])
    own = generator.permutation(np.flatnonzero(np.isin(labels, categories)))
    arriving = part_of(support, own[options.taught :], categories)
    for (less, form), seed in product(TRIED, range(options.seeds)):
        count = options.taught + less
        taught = part_of(support, own[:count], categories)
        found = tried(taught, arriving, form, options.device, seed=seed, **more)
        about = {"data": name, "images": count, "categories": len(categories), "what": form, "seed": seed}
        with options.out.open("a") as file:
            file.write(json.dumps(about | found) + "\n")
        print(name, count, form, seed, f"{found['alone']} alone, {found['by_name']:.0%} by name", flush=True)


if __name__ == "__main__":
    main()
