"""Benchmark data sets, read from their official downloads in the order of their own annotation files.

Only the training part of each is used, as the paper does: half of its known images teach, all others arrive. A reader
checks the layout it expects and says what to download and where to put it.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from firstsight.core.errors import DataError
from firstsight.data.folder import LabelledImages, read_folder


def read_cub(root: Path) -> LabelledImages:
    """CUB-200-2011: 5,994 training images of 200 birds, in the order of images.txt."""
    root = _find(root, ["images.txt", "images"], "CUB_200_2011", "CUB_200_2011.tgz, from the Caltech data repository")
    paths, labels, train = (
        _columns(_need(root / f"{name}.txt")) for name in ("images", "image_class_labels", "train_test_split")
    )
    classes = [name for _, name in sorted((int(i), name) for i, name in _columns(_need(root / "classes.txt")).items())]
    taken = [i for i in paths if train[i] == "1"]
    names = [paths[i] for i in taken]
    return _labelled(classes, [root / "images" / name for name in names], [int(labels[i]) - 1 for i in taken], names)


def read_cars(root: Path) -> LabelledImages:
    """Stanford Cars: 8,144 training images of 196 models, in the order of the devkit's annotations."""
    from scipy.io import loadmat

    root = _find(root, ["devkit"], "stanford_cars", "cars_train.tgz and car_devkit.tgz, unpacked side by side")
    classes = [str(name[0]) for name in loadmat(_need(root / "devkit" / "cars_meta.mat"))["class_names"][0]]
    annotations = loadmat(_need(root / "devkit" / "cars_train_annos.mat"), squeeze_me=True)["annotations"]
    names = [str(name) for name in np.atleast_1d(annotations["fname"])]
    labels = [int(label) - 1 for label in np.atleast_1d(annotations["class"])]
    return _labelled(classes, [root / "cars_train" / name for name in names], labels, names)


def read_pets(root: Path) -> LabelledImages:
    """Oxford-IIIT Pet: 3,680 trainval images of 37 breeds, in the order of trainval.txt."""
    root = _find(root, ["annotations", "images"], "oxford-iiit-pet", "images.tar.gz and annotations.tar.gz")
    rows = [line.split() for line in _need(root / "annotations" / "trainval.txt").read_text().splitlines()]
    rows = [row for row in rows if row and not row[0].startswith("#")]
    labels = [int(row[1]) - 1 for row in rows]
    breeds = {label: row[0].rpartition("_")[0] for label, row in zip(labels, rows, strict=True)}
    classes = [breeds.get(i, f"breed {i + 1}") for i in range(max(labels) + 1)]
    return _labelled(
        classes, [root / "images" / f"{row[0]}.jpg" for row in rows], labels, [f"{row[0]}.jpg" for row in rows]
    )


def read_food(root: Path) -> LabelledImages:
    """Food-101: 75,750 training images of 101 dishes, in the order of train.json."""
    root = _find(root, ["meta", "images"], "food-101", "food-101.tar.gz")
    listed: dict[str, list[str]] = json.loads(_need(root / "meta" / "train.json").read_text())
    classes = sorted(listed)
    names = [f"{name}.jpg" for files in listed.values() for name in files]
    labels = [classes.index(dish) for dish, files in listed.items() for _ in files]
    return _labelled(classes, [root / "images" / name for name in names], labels, names)


def read_inaturalist(root: Path, group: str) -> LabelledImages:
    """A super-category of iNaturalist 2017, training and validation images; folders and files in name order."""
    root = _find(root, [], "2017", "train_val_images.tar.gz of the 2017 competition")
    places = [folder for folder in (root / "2017", root / "train_val_images", root) if folder.is_dir()]
    for folder in places:
        groups = {entry.name.casefold(): entry for entry in _folders(folder)}
        if group.casefold() in groups:
            return read_folder(groups[group.casefold()])
    found = [entry.name for entry in _folders(places[0])]
    there = ", ".join(found[:20]) + (" and more" if len(found) > 20 else "") or "no folder at all"
    raise DataError(
        f"{places[0]} has no super-category {group}; it has {there}",
        f"unpack train_val_images.tar.gz so that {places[0] / group} exists",
    )


def read_aircraft(root: Path) -> LabelledImages:
    """FGVC-Aircraft: 6,667 trainval images of 100 variants, in the order of images_variant_trainval.txt."""
    root = _find(root, ["data"], "fgvc-aircraft-2013b", "fgvc-aircraft-2013b.tar.gz")
    lines = _need(root / "data" / "images_variant_trainval.txt").read_text().splitlines()
    rows = [line.split(" ", 1) for line in lines if line.strip()]
    classes = sorted({variant for _, variant in rows})
    labels = [classes.index(variant) for _, variant in rows]
    names = [f"{number}.jpg" for number, _ in rows]
    return _labelled(classes, [root / "data" / "images" / name for name in names], labels, names)


def read_cifar(root: Path, categories: int) -> LabelledImages:
    """CIFAR-10 or CIFAR-100: 50,000 training images from the binary version (the Python one is a pickle)."""
    folder = {10: "cifar-10-batches-bin", 100: "cifar-100-binary"}[categories]
    files = [f"data_batch_{i}.bin" for i in range(1, 6)] if categories == 10 else ["train.bin"]
    root = _find(root, files[:1], folder, f"{folder.split('-b')[0]}-binary.tar.gz, the binary version")
    meta = _need(root / ("batches.meta.txt" if categories == 10 else "fine_label_names.txt"))
    classes = [line.strip() for line in meta.read_text().splitlines() if line.strip()]
    head = 1 if categories == 10 else 2  # label bytes before the pixels; the last one is the fine label
    raw = [np.fromfile(_need(root / name), dtype=np.uint8) for name in files]
    if any(len(part) % (head + 3072) for part in raw):
        raise DataError(
            f"{root} is no binary version of CIFAR-{categories}: a file has an odd length", "download it again"
        )
    records = np.concatenate([part.reshape(-1, head + 3072) for part in raw])
    pixels = records[:, head:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
    names = [f"train/{i:05d}" for i in range(len(records))]
    return _labelled(classes, list(pixels), records[:, head - 1].tolist(), names)


def _labelled(
    classes: Sequence[str], images: Sequence[Any], labels: Sequence[int], names: Sequence[str]
) -> LabelledImages:
    return LabelledImages(tuple(classes), tuple(images), tuple(labels), tuple(names))


def _find(root: Path, parts: Iterable[str], inner: str, download: str) -> Path:
    """The folder that has these parts: the one named, or the one the archive unpacks to inside it."""
    for folder in (root, root / inner):
        if folder.is_dir() and all((folder / part).exists() for part in parts):
            return folder
    where = "does not exist" if not root.is_dir() else f"has no {' and '.join(parts) or inner}"
    raise DataError(f"{root} {where}", f"download {download}, and unpack it so that {root / inner} exists")


def _folders(folder: Path) -> list[Path]:
    return sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))


def _need(path: Path) -> Path:
    if not path.is_file():
        raise DataError(f"{path} is missing", "unpack the whole archive again")
    return path


def _columns(path: Path) -> dict[str, str]:
    """Lines of `key value`."""
    return dict(line.split(" ", 1) for line in path.read_text().splitlines() if line.strip())
