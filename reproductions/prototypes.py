"""Do prototypes explain answers? What the images of a benchmark's stream are most like, by how they are answered.

    python reproductions/prototypes.py cub cub.tar cub.model "backbone=efficientnet-lite2 cache_trunk=16" --out f.json

Trains on the benchmark's support set and saves the model, or takes the one that is there, then measures what
firstsight.reproduce.cases says. With --categories N, only the first N known categories, and as many new ones arrive.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from firstsight.cli.console import Bars
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.folder import LabelledImages
from firstsight.methods.settings import all_specs, settings
from firstsight.model.folder import is_model, load_model, save_model
from firstsight.model.model import Model
from firstsight.reproduce.benchmark import split_digest
from firstsight.reproduce.cases import cases
from firstsight.reproduce.provenance import provenance, record
from firstsight.train.fit import fit_images
from firstsight.train.pixels import PixelCache


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
    new = [name for name in query.categories if name not in set(support.categories)]
    support = of_categories(support, support.categories[: options.categories])
    query = of_categories(query, [*support.categories, *new[: options.categories]])
    if is_model(options.model):
        model = load_model(options.model, options.device)
    else:
        model = trained(support, settings_of(options.settings), options.device)
        save_model(model, options.model)
    model.looking.exact = True  # figures depend on no batch
    truth = [query.categories[label] for label in query.labels]
    result = {
        "data": of.name,
        "known_categories": len(support.categories),
        "known_share": 50,
        "split": split_digest(support, query),
        **{name: getattr(model.settings, name) for name in ("method", "bits", "seed")},
        **cases(model, PixelCache(query.images, model.looking.preprocess, Bars()), truth, Bars()),
        **provenance(options.device),
        "command": shlex.join(["python", "reproductions/prototypes.py", *sys.argv[1:]]),
        "settings": model.settings.as_dict(),
    }
    if options.ledger is not None:
        record(options.ledger, result)
    if options.out is not None:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    for group, figures in result["groups"].items():
        print(group, json.dumps(figures))


def of_categories(data: LabelledImages, names: Sequence[str]) -> LabelledImages:
    labels = [data.categories.index(name) for name in names]
    return data.select([i for i, label in enumerate(data.labels) if label in set(labels)], labels)


def settings_of(text: str) -> Any:
    parts = (part.partition("=") for part in text.split())
    specs = all_specs()
    changes = {name: specs[name].parse(value, name) for name, _, value in parts}
    return settings(**{"method": "phe", **changes})


def trained(support: LabelledImages, settings: Any, device: str) -> Model:
    """With thumbnails, to look at."""
    model = fit_images(support, settings, device, Bars())
    assert model.examples is not None
    model.examples = model.examples.with_pictures(lambda i: support.images[i])
    return model


if __name__ == "__main__":
    main()
