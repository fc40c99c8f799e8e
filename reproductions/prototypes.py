"""Do prototypes explain answers? What the images of a benchmark's stream are most like, by how they are answered.

    python reproductions/prototypes.py cub cub.tar cub.model "backbone=efficientnet-lite2 cache_trunk=16" --out f.json

Trains on the benchmark's support set and saves the model, or takes the one that is there, then measures what
firstsight.reproduce.case_studies says. With --categories N, only the first N known categories, and as many new ones
arrive.
"""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from firstsight.cli.console import Bars
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.folder import LabelledImages
from firstsight.evaluate.scores import without_nan
from firstsight.methods.settings import all_specs, settings
from firstsight.model.folder import is_model, load_model, save_model
from firstsight.model.model import Model
from firstsight.reproduce.case_studies import case_studies
from firstsight.reproduce.provenance import Look, provenance, record
from firstsight.reproduce.runs import Run
from firstsight.reproduce.task import encode_pixels, split_digest
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
    model.image_encoder.exact = True  # figures depend on no batch
    truth = [query.categories[label] for label in query.labels]
    stream = PixelCache(query.images, model.image_encoder.preprocess, Bars())
    found = case_studies(model, stream, model.transform(encode_pixels(model, stream)), truth, Bars())
    command = shlex.join(["python", "reproductions/prototypes.py", *sys.argv[1:]])
    made_by = replace(provenance(options.device), command=command)
    used, split = model.settings, split_digest(support, query)
    run = Run(of.name, used.method, getattr(used, "bits", None), used.seed)
    result = {
        "data": of.name,
        "known_categories": len(support.categories),
        "known_share": run.known_share,
        "split": split,
        **{name: getattr(run, name) for name in ("method", "bits", "seed")},
        **without_nan(asdict(found)),
        **asdict(made_by),
        "settings": used.as_dict(),
    }
    if options.ledger is not None:
        record(options.ledger, Look.of(run, split, made_by, used.as_dict()))
    if options.out is not None:
        options.out.write_text(json.dumps(result, indent=1) + "\n")
    for group, figures in result["groups"].items():
        print(group, json.dumps(figures))


def of_categories(data: LabelledImages, names: Sequence[str]) -> LabelledImages:
    labels = [data.categories.index(name) for name in names]
    return data.select([i for i, label in enumerate(data.labels) if label in set(labels)], labels)


def settings_of(text: str) -> Any:
    parts = (part.partition("=") for part in text.split())
    changes = {name: all_specs()[name].parse(value, name) for name, _, value in parts}
    return settings(changes.pop("method", "phe"), **changes)


def trained(support: LabelledImages, chosen: Any, device: str) -> Model:
    """With thumbnails, to look at."""
    model = fit_images(support, chosen, device, Bars())
    assert model.examples is not None
    model.examples = model.examples.with_pictures(lambda i: support.images[i])
    return model


if __name__ == "__main__":
    main()
