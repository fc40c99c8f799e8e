"""PHE on a packed data set, until the benchmark harness does this: unpack, split as the paper does, fit, score.

    python reproductions/phe_on_packs.py cub.tar cub.json --known splits.json --work runs [--trace] name=value ...

A pack is a tar of images with a JSON of `classes`, `files` and `labels`; `--known` is a JSON list of known class ids,
or a range such as 0-18. Prints one JSON line; `--trace` adds how many pairs of centres are closer than asked, by epoch.
"""

from __future__ import annotations

import argparse
import json
import tarfile
from dataclasses import astuple
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.codes import hamming, pack
from firstsight.config import SPECS, Settings
from firstsight.data.folder import read_folder
from firstsight.data.splits import draw_support
from firstsight.evaluate.stream import encode_images, score
from firstsight.methods.model import Model
from firstsight.protocols import Silent
from firstsight.train.checkpoint import Checkpoint
from firstsight.train.fit import report, untrained
from firstsight.train.loop import train
from firstsight.train.support import Support


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tar", type=Path)
    parser.add_argument("index", type=Path)
    parser.add_argument("settings", nargs="*", metavar="name=value")
    parser.add_argument("--known", required=True)
    parser.add_argument("--work", type=Path, default=Path("runs"))
    parser.add_argument("--preset", default="default")
    parser.add_argument("--trace", action="store_true")
    options = parser.parse_intermixed_args()
    folder = unpack(options.tar, json.loads(options.index.read_text()), known_ids(options.known), options.work)
    changes = {name: SPECS[name].parse(text, name) for name, _, text in (s.partition("=") for s in options.settings)}
    settings = Settings.preset(options.preset, **{"backbone": "efficientnet-lite2", **changes})
    data = read_folder(folder / "support")
    model = untrained(settings, data, "auto")
    support = Support(data, model, Silent())
    trace: dict[int, int] = {}

    def on_epoch(epoch: int, means: dict[str, float]) -> None:
        if options.trace and (epoch + 1) % 20 == 0:
            trace[epoch + 1] = len(close_pairs(model))

    train(model.network, support, Checkpoint(None, {}, 0), on_epoch)
    query = read_folder(folder / "query")
    codes = encode_images(model, query.images, Silent()).codes
    assert codes is not None
    truth = [query.categories[label] for label in query.labels]
    result: dict[str, Any] = {"data": options.tar.stem, "preset": options.preset, "settings": changes}
    result["report"] = report(model, support, [])
    if options.trace:
        result |= {"close_pairs_by_epoch": trace, "close_pairs": close_pairs(model)}
    for rule in dict.fromkeys([settings.rule, "nearest", "reference"]):
        rows = score(model, codes, truth, partial(model.register, None, rule)).rows
        result[rule] = {row.name: [round(100 * v, 1) for v in astuple(row.accuracy)] + [row.categories] for row in rows}
    print(json.dumps(result))


def close_pairs(model: Model) -> list[tuple[str, str, int]]:
    """Pairs of known categories whose centres are closer than asked."""
    centres = pack(model.network.hash_centres().detach().float().cpu().numpy())
    distances = hamming(centres[:, None], centres)
    rows, columns = np.nonzero(np.triu(distances < model.minimum_distance, k=1))
    names = model.names
    return [(names[i], names[j], int(distances[i, j])) for i, j in zip(rows, columns, strict=True)]


def known_ids(text: str) -> list[int]:
    if "-" in text and not Path(text).exists():
        first, last = map(int, text.split("-"))
        return list(range(first, last + 1))
    return [int(i) for i in json.loads(Path(text).read_text())]


def unpack(tar: Path, index: dict[str, Any], known: list[int], work: Path) -> Path:
    """support/ and query/ as folders per category; half of the pooled known images are support."""
    root = work / tar.stem
    if (root / "complete").exists():
        return root
    labels = np.array(index["labels"])
    of_known = np.flatnonzero(np.isin(labels, known))
    support = set(of_known[draw_support(labels[of_known])].tolist())
    with tarfile.open(tar) as archive:
        for number, (name, label) in enumerate(zip(index["files"], labels, strict=True)):
            part = "support" if number in support else "query"
            target = root / part / f"{label:03d} {index['classes'][label]}" / f"{number:05d}{Path(name).suffix}"
            target.parent.mkdir(parents=True, exist_ok=True)
            member = archive.extractfile(name)
            assert member is not None
            target.write_bytes(member.read())
    (root / "complete").touch()
    return root


if __name__ == "__main__":
    main()
