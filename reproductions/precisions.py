"""What a faster precision costs: a model fitted in fp32 answers the query stream in fp32, bf16 and int8, by OpenVINO.

    python reproductions/precisions.py cub cub.tar --out precisions.jsonl

"As exported" the decision is the one fitted in fp32, as in a model that `firstsight export` writes; "fitted anew" it is
that of `firstsight fit --weights EXPORTED`. int8 is made with images of the support set. "Other ids" is the share of
images that get another id than in fp32. Every line is a look at a query stream: add it to the ledger.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from features import Part, fitted, split_images
from numpy.typing import NDArray

from firstsight.cli.console import Bars
from firstsight.core.accuracy import strict_accuracy
from firstsight.core.protocols import Features
from firstsight.core.threads import one_thread
from firstsight.data.folder import LabelledImages
from firstsight.encode.conversion import converted
from firstsight.encode.graph import Graph
from firstsight.encode.graph_encoder import GraphEncoder
from firstsight.encode.many import encode_many
from firstsight.encode.quantised import MOST, quantised
from firstsight.evaluate.orders import random_orders
from firstsight.methods.firstsight.decision import Firstsight
from firstsight.methods.settings import settings
from firstsight.model.assemble import assemble
from firstsight.reproduce.provenance import provenance

ORDERS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("root", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--backbone", default="efficientnet-lite2")
    options = parser.parse_args()
    support, query = split_images(options.data, options.root)
    known = {name: i for i, name in enumerate(support.categories)}
    truth = np.array([known.setdefault(query.categories[label], len(known)) for label in query.labels])
    labels, usual, exported = np.asarray(support.labels), list[Any](), None
    for encoder in by_precision(support, options.backbone):
        own = fitted(Part(encode_many(encoder, support.images, Bars()), labels))
        features, exported = encode_many(encoder, query.images, Bars()), exported or own
        for how, decision in (("as exported", exported), ("fitted anew", own)):
            scores, ids = in_orders(decision, features, truth)
            usual = usual or ids
            other = float(np.mean([(one != fp32).mean() for one, fp32 in zip(ids, usual, strict=True)]))
            line = {"data": options.data, "precision": encoder.precision, "decision": how, **scores, "other_ids": other}
            print(json.dumps(line), flush=True)
            with options.out.open("a") as file:
                file.write(json.dumps({**line, **asdict(provenance("cpu"))}) + "\n")


def in_orders(decision: Firstsight, features: Features, truth: NDArray[np.int64]) -> tuple[dict[str, float], list[Any]]:
    """What a decision comes to, on average, and the ids it gives in each of some random orders."""
    compared, known, scores, ids = decision.transform(features), truth < len(decision.names), [], []
    for order in random_orders(len(truth), ORDERS):
        with one_thread():
            given = np.asarray(decision.register().assign_many(compared[order]).category)
        found = strict_accuracy(truth[order], given, known[order])
        scores.append([found.all, found.old, found.new, given.max() + 1])
        ids.append(given)
    return dict(zip(("all", "old", "new", "found"), np.mean(scores, axis=0).tolist(), strict=True)), ids


def by_precision(support: LabelledImages, backbone: str) -> Iterator[GraphEncoder]:
    """The encoder of the method as its graph, in every precision, fp32 first."""
    chosen = settings("firstsight", backbone=backbone)
    encoder = assemble(chosen, len(support.categories), torch.device("cpu"), blank=False)

    def ready(graph: Graph) -> GraphEncoder:
        return GraphEncoder(graph, encoder.preprocess, encoder.licence, encoder.fingerprint)

    graph = converted(encoder)
    yield ready(graph)
    yield ready(replace(graph, precision="bf16"))
    some = np.linspace(0, len(support.images) - 1, MOST).astype(int).tolist()
    yield ready(quantised(graph, [encoder.prepare(support.images[i]) for i in some], transformer=False))


if __name__ == "__main__":
    main()
