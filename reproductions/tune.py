"""Try settings without a look at the query stream: some known categories of the support set play new ones.

    python reproductions/tune.py cub cub.tar --out tuned.jsonl --jobs 8 base= slow=lr=1e-4 "both=lr=1e-4 alpha=0.3" ...

Every argument is a variant: a name, =, and settings by name. Common ones for all come with --common "backbone=... ...".
A variant is run on three folds; what is in the file already is not repeated. Prints a table, best first.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.cli.console import Bars
from firstsight.data.benchmarks import open_data, split_of
from firstsight.data.splits import held_out
from firstsight.methods.settings import all_specs, settings
from firstsight.reproduce.benchmark import Run, check_parts
from firstsight.reproduce.jobs import prepare, run_many


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data")
    parser.add_argument("root", type=Path)
    parser.add_argument("variants", nargs="+")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--common", default="")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    options = parser.parse_args()
    of, images = open_data(options.data, options.root)
    support, _ = split_of(of, images).apply(images)
    done = [json.loads(line) for line in options.out.read_text().splitlines()] if options.out.exists() else []
    for fold in range(options.folds):
        wanted = []
        for text in options.variants:
            name, _, changes = text.partition("=")
            if not any(d["data"] == of.name and d["name"] == name and d["fold"] == fold for d in done):
                settings = settings_of(f"{options.common} {changes}")
                wanted.append((Run(name, settings.method, settings.bits, fold), settings))
        if wanted:
            parts = held_out(support, fold)
            check_parts(*parts)
            task = prepare(parts, wanted[0][1], 3, "auto", Bars())
            with tempfile.TemporaryDirectory() as shared, options.out.open("a") as file:
                for run, result in run_many(task, wanted, options.jobs, Path(shared), Bars()):
                    done.append(summary(of.name, run, result))
                    file.write(json.dumps(done[-1]) + "\n")
                    file.flush()
    print_table([d for d in done if d["data"] == of.name])


def settings_of(text: str) -> Any:
    parts = (part.partition("=") for part in text.split())
    specs = all_specs()
    changes = {name: specs[name].parse(value, name) for name, _, value in parts}
    return settings(**{"method": "phe", **changes})


def summary(data: str, run: Run, result: dict[str, Any]) -> dict[str, Any]:
    rows = {row["name"].split(" ")[0]: row for row in next(iter(result["rows"].values()))}
    figures = {name: [round(100 * rows[name]["accuracy"][p], 2) for p in ("all", "old", "new")] for name in rows}
    report = {key: result["report"].get(key) for key in ("closest", "pairs_below", "support_within_radius")}
    return {
        "data": data,
        "name": run.data,
        "fold": run.seed,
        **figures,
        "found": rows["random"]["categories"],
        "true": result["true_categories"],
        **report,
        "seconds": result["seconds"],
        "commit": result["commit"],
        "settings": result["settings"],
    }


def print_table(done: list[dict[str, Any]]) -> None:
    """Means over the folds that all variants have: folds differ by more than variants do."""
    folds = {name: {d["fold"] for d in done if d["name"] == name} for name in (d["name"] for d in done)}
    common = set.intersection(*folds.values())
    lines = []
    for name in folds:
        own = [d for d in done if d["name"] == name and d["fold"] in common]
        means = {key: np.mean([d[key] for d in own], axis=0) for key in ("random", "closed-set", "offline")}
        found = f"{np.mean([d['found'] for d in own]):.0f}/{np.mean([d['true'] for d in own]):.0f}"
        shown = "  ".join(f"{key} " + "/".join(f"{v:.1f}" for v in value) for key, value in means.items())
        lines.append((means["random"][0], f"{name:28s} {shown}  found {found}  folds {len(own)}"))
    for _, line in sorted(lines, reverse=True):
        print(line)


if __name__ == "__main__":
    main()
