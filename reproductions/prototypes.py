"""Do prototypes explain answers? Of the known query images that are named right, how many are most like their own.

    python reproductions/prototypes.py cub cub.tar cub.model "backbone=efficientnet-lite2 cache_trunk=16" --out cub-100.json

Trains on the benchmark's support set and saves the model, or takes the one that is there. For every arriving image of a
known category that the register calls by its name, counts how many of the five most activated prototypes are that
category's. With --categories N, only the first N known categories and what arrives of them.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

from firstsight.cli.console import Bars
from firstsight.config import SPECS
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.folder import LabelledImages
from firstsight.data.images import CENTRE
from firstsight.evaluate.benchmark import split_digest
from firstsight.evaluate.provenance import provenance, record
from firstsight.evidence.points import TOP, Points, top
from firstsight.methods.catalogue import method
from firstsight.methods.folder import is_model, load_model, save_model
from firstsight.methods.model import Model
from firstsight.train.fit import fit_images
from firstsight.train.pixels import PixelCache

BATCH = 64


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("root", type=Path)
    parser.add_argument("model", type=Path)
    parser.add_argument("settings", nargs="?", default="")
    parser.add_argument("--categories", type=int)
    parser.add_argument("--device", default="auto")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--ledger", type=Path, help="append a line about this look at the query stream")
    options = parser.parse_args()
    of, images = open_data(options.data, options.root)
    support, query = split_of(of, images).apply(images)
    known = support.categories[: options.categories]
    support, query = of_categories(support, known), of_categories(query, known)
    if is_model(options.model):
        model = load_model(options.model, options.device)
    else:
        model = trained(support, options.settings, options.device)
        save_model(model, options.model)
    result = {
        "data": of.name,
        "known_categories": len(known),
        "known_share": 50,
        "split": split_digest(support, query),
        **{name: getattr(model.settings, name) for name in ("method", "bits", "seed")},
        "settings": model.settings.as_dict(),
        **shares(model, query),
        **provenance(options.device),
        "command": shlex.join(["python", "reproductions/prototypes.py", *sys.argv[1:]]),
    }
    if options.ledger is not None:
        record(options.ledger, result)
    if options.out is not None:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    print(json.dumps({name: value for name, value in result.items() if name != "settings"}, indent=1))


def of_categories(data: LabelledImages, names: tuple[str, ...]) -> LabelledImages:
    labels = [data.categories.index(name) for name in names]
    return data.select([i for i, label in enumerate(data.labels) if label in set(labels)], labels)


def trained(support: LabelledImages, text: str, device: str) -> Model:
    parts = (part.partition("=") for part in text.split())
    changes: dict[str, Any] = {name: SPECS[name].parse(value, name) for name, _, value in parts}
    settings = method(changes.pop("method", "phe")).settings(**changes)
    model = fit_images(support, settings, device, Bars())
    assert model.examples is not None
    model.examples = model.examples.with_pictures(lambda i: support.images[i])
    return model


def shares(model: Model, query: LabelledImages) -> dict[str, Any]:
    """How many of the known images are named, and of those, how often so many of the top five are their own."""
    model.exact = True
    pixels, points = PixelCache(query.images, model.preprocess, Bars()), Points(model)
    truth, register = np.array(query.labels), model.register()
    named, own, sums = [], [], []
    with Bars().task("comparing", len(truth)) as advance, torch.no_grad():
        for some in torch.split(torch.arange(len(truth)), BATCH):
            crops = pixels.crops(some, torch.full((len(some), 3), CENTRE), model.device)
            rows = register.rows_of(model.encoded(model.rows(crops)))
            named += [
                register.match(row).category == query.categories[truth[i]] for row, i in zip(rows, some, strict=True)
            ]
            scores = points.similarity(model.network.eval().features(model.stem(crops))).cpu().numpy()
            best = top(scores)
            is_own = points.category[best] == truth[some.numpy()][:, None]
            own += is_own.sum(1).tolist()
            sums += (np.take_along_axis(scores, best, 1) * is_own).sum(1).tolist()
            for _ in some:
                advance()
    right, counts = np.array(named), np.array(own)
    histogram = np.bincount(counts[right], minlength=TOP + 1)
    assert model.examples is not None
    return {
        "known_images": len(truth),
        "named_right": int(right.sum()),
        "own_among_top_five": histogram.tolist(),
        "share_with_three_or_more": round(float((counts[right] >= 3).mean()), 4) if right.any() else None,
        "mean_own_similarity": round(float(np.mean(np.array(sums)[right])), 3) if right.any() else None,
        "not_named_share_with_three_or_more": round(float((counts[~right] >= 3).mean()), 4)
        if not right.all()
        else None,
        "points": len(points),
        "dead": int((model.examples.wins == 0).sum()),
        "shown_by_another_category": int((model.examples.category != model.examples.image_category).sum()),
    }


if __name__ == "__main__":
    main()
