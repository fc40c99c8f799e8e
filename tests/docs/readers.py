"""What a reader of the docs has, made small: photographs, models, registers, downloads, and a folder to work in."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
from documented import ROOT, blocks

import firstsight
from firstsight.cli import demo
from firstsight.core.protocols import Provenance, Silent
from firstsight.data import benchmarks
from firstsight.data.folder import read_folder
from firstsight.data.pack import write_pack
from firstsight.data.synthetic import species
from firstsight.encode import backbones
from firstsight.methods import settings as methods_settings
from firstsight.methods.catalogue import method as method_of
from firstsight.model import assemble
from firstsight.register.spread import Spread
from firstsight.register.statistics import StatisticsRegister
from firstsight.reproduce import runs, task
from firstsight.serve.app import create_app
from firstsight.serve.service import Service
from firstsight.store.store import Arrival, Store
from swatches import COLOURS, write_swatches

SETTINGS = {"epochs": 1, "feature_dim": 32, "hash_hidden": 64, "batch_size": 8}
OWN = ("mine.py", "learned.py")  # methods that docs/methods.md shows
# pages whose commands and snippets are for one reader, who goes from the first to the last: test_in_order.py
IN_ORDER = ("index", "with-photographs", "with-embeddings", "run-a-service", "do-research", "api")


def fill(home: Path, swatches: Path, sure_model: Path, tiny: dict[str, Any]) -> None:
    """Everything the docs speak of as the reader's own, by the names it has there."""
    names = sorted(each.name for each in species(24))[: len(COLOURS)]
    for guide in ("birds", "moths"):
        shutil.copytree(swatches / "support", home / guide / "train")
        write_swatches(home / guide / "labelled", dict(zip(COLOURS, names, strict=True)), range(20, 23))
        (home / f"{guide}.model").symlink_to(sure_model)
        with firstsight.Discoverer(firstsight.load(sure_model, device="cpu"), store=home / f"{guide}.db") as discoverer:
            list(discoverer.discover_many(sorted((home / guide / "labelled").rglob("*.jpg"))))
    firstsight.fit(swatches / "support", home / "OTHER.model", device="cpu", **{**tiny, "epochs": 1, "seed": 5})
    (home / "demo").mkdir()
    (home / "demo" / "model").symlink_to(sure_model)
    (home / "birds" / "new").mkdir()
    for number, path in enumerate(sorted((swatches / "stream").rglob("*.jpg")), start=1):
        shutil.copy(path, home / "birds" / "new" / f"{number}.jpg")
    shutil.copy(home / "birds" / "new" / "1.jpg", home / "photo.jpg")
    shutil.copy(home / "birds" / "new" / "20.jpg", home / "other.jpg")
    write_swatches(home / "many", {name: name for name in COLOURS}, range(8))
    for pack in ("cub", "pets"):
        write_pack(read_folder(home / "many"), home / f"{pack}.tar", 64, Silent())
    downloads(home / "downloads", swatches / "stream")
    (home / "imagenet100.txt").write_text("\n".join(COLOURS))
    for name, example in zip(OWN, blocks(ROOT / "docs" / "methods.md", "python"), strict=True):
        (home / name).write_text(example)
    statistics(home / "unsure.db")
    box = {"category": "1", "conf": 0.9, "bbox": [0.1, 0.1, 0.8, 0.8]}
    frames = sorted((home / "moths" / "labelled").rglob("*.jpg"))
    found = [{"file": f"{path.parent.name}/{path.name}", "detections": [box]} for path in frames]
    (home / "boxes.json").write_text(json.dumps({"images": found, "detection_categories": {"1": "animal"}}))
    (home / "sites.csv").write_text("folder,latitude,longitude\nlabelled,52.4,4.6\n")
    embeddings(home)
    for name in ("cub", "cub-once", "pets", "cars"):
        clouds(home / f"{name}.npz")
    answered = {"concentration": 9.0, "sharpness": 0.15, "log_odds": [-3.0], "all": [50.0], "answers": [[0, 1]]}
    (home / "fits.jsonl").write_text(json.dumps({"data": "cub", "size": "whole", "name": "native", **answered}) + "\n")


def downloads(home: Path, images: Path) -> None:
    """The same few images in the official layouts of three benchmarks."""
    cub = home / "CUB_200_2011"
    shutil.copytree(images, cub / "images")
    paths = sorted(path.relative_to(cub / "images") for path in (cub / "images").rglob("*.jpg"))
    classes = sorted({path.parent.name for path in paths})
    lists = {
        "images": [str(path) for path in paths],
        "image_class_labels": [str(classes.index(path.parent.name) + 1) for path in paths],
        "train_test_split": ["1"] * len(paths),
        "classes": classes,
    }
    for name, lines in lists.items():
        (cub / f"{name}.txt").write_text("".join(f"{i} {line}\n" for i, line in enumerate(lines, start=1)))
    shutil.copytree(images, home / "imagenet" / "train")
    shutil.copytree(images, home / "inat2017" / "Aves")


def statistics(path: Path) -> None:
    """A register that can tell how sure it is."""
    spread = Spread(np.ones(1), np.full(1, 25.0), concentration=-6.0)
    register = StatisticsRegister(spread, ["ant", "bee"], np.array([4, 4]), np.array([[0.0], [36.0]]))
    maker = Provenance("f" * 64, 1, "cpu", "fp32")
    with Store.create(path, register, maker) as store:
        store.record([Arrival(f"{i}.jpg", bytes([i]) * 32, np.array([i], dtype=np.float32)) for i in range(9)], maker)


def embeddings(home: Path) -> None:
    """Tables of features: labelled ones of two categories, and a stream with a third."""
    generator = np.random.default_rng(0)
    for name, categories in (("known", "ab"), ("arriving", "abc"), ("labelled", "abc"), ("measured", "ab")):
        lines = [",".join(["genus" if name == "measured" else "label", *(f"d{i}" for i in range(16))])]
        for category in categories:
            drawn = generator.standard_normal((6, 16)) / 9 + np.eye(16)[ord(category) - 97]
            lines += [",".join([category, *map(str, feature)]) for feature in drawn]
        (home / f"{name}.csv").write_text("\n".join(lines) + "\n")


def clouds(path: Path) -> None:
    """Features as reproductions/features.py writes them: each category a cloud, a third of them new."""
    generator = np.random.default_rng(0)
    centres = generator.standard_normal((12, 16))
    held: dict[str, Any] = {}
    for part, categories, images in (("support", 8, 8), ("query", 12, 4)):
        labels = np.repeat(np.arange(categories), images)
        features = centres[labels] + 0.3 * generator.standard_normal((len(labels), 16))
        features /= np.linalg.norm(features, axis=1, keepdims=True)
        held |= {f"{part}_features": features.astype(np.float32), f"{part}_labels": labels}
    np.savez(path, **held)


def make_small(monkeypatch: pytest.MonkeyPatch, tiny: dict[str, Any]) -> None:
    """Tiny networks behind every backbone's name, few categories, and settings for a second of training."""
    monkeypatch.setenv("FIRSTSIGHT_DEVICE", "cpu")
    build, settings = backbones.build, methods_settings.settings

    def small_unless_given(method: str = methods_settings.DEFAULT, **given: Any) -> Any:
        small = {**SETTINGS, "image_size": tiny["image_size"]}
        return settings(method, **{name: value for name, value in small.items() if method_of(method).has(name)} | given)

    def tiny_instead(name: str, image_size: int, stages: int, weights: str | None = None, **how: Any) -> Any:
        assert name in backbones.SHORTCUTS or timm.is_model(name), name
        return build(tiny["backbone"], tiny["image_size"], stages, tiny["weights"], **how)

    for shared in ("common", "features"):  # by scripts: one that another test has loaded knows the settings as they are
        monkeypatch.delitem(sys.modules, shared, raising=False)
    monkeypatch.setattr(methods_settings, "settings", small_unless_given)
    monkeypatch.setattr(runs, "settings", small_unless_given)
    monkeypatch.setattr(assemble, "build", tiny_instead)
    monkeypatch.setattr(task, "build", tiny_instead)
    monkeypatch.setattr(task, "check_weights", lambda *given: None)
    for name in ("cub", "pets"):
        few = replace(benchmarks.BENCHMARKS[name], categories=8, known=(0, 1, 2, 3), unknown=(4, 5, 6, 7), images=None)
        monkeypatch.setitem(benchmarks.BENCHMARKS, name, few)
    for name, value in {"SPECIES": 8, "SUPPORT": 3, "STREAM": 2}.items():
        monkeypatch.setattr(demo, name, value)
    monkeypatch.setattr("firstsight.serve.run.run", _for_a_moment)


def _for_a_moment(service: Service, *_: Any) -> None:
    """What serves until it is interrupted is made, and ends."""
    create_app(service)
    service.close()
