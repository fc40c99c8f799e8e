"""Every benchmark's official layout in miniature: read in its own order, and explained when a part is missing."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from firstsight.core.errors import DataError, SettingsError
from firstsight.data import official
from firstsight.data.benchmarks import BENCHMARKS, Benchmark, benchmark, read, split_of
from firstsight.data.folder import LabelledImages
from firstsight.data.images import decode


def picture(path: Path, value: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (8, 8), (value, value, value)).save(path)


def cub(root: Path) -> None:
    """Two birds; the third image is of the test part."""
    home = root / "CUB_200_2011"
    names = ["002.B/b_1.jpg", "001.A/a_1.jpg", "001.A/a_2.jpg"]
    for i, name in enumerate(names):
        picture(home / "images" / name, i)
    (home / "images.txt").write_text("".join(f"{i + 1} {name}\n" for i, name in enumerate(names)))
    (home / "image_class_labels.txt").write_text("1 2\n2 1\n3 1\n")
    (home / "train_test_split.txt").write_text("1 1\n2 1\n3 0\n")
    (home / "classes.txt").write_text("1 001.A\n2 002.B\n")


def cars(root: Path) -> None:
    from scipy.io import savemat

    home = root / "stanford_cars"
    for i, name in enumerate(["00001.jpg", "00002.jpg", "00003.jpg"]):
        picture(home / "cars_train" / name, i)
    (home / "devkit").mkdir()
    kinds = np.array([["AM General Hummer", "Acura RL"]], dtype=object)
    savemat(home / "devkit" / "cars_meta.mat", {"class_names": kinds})
    annotations = np.array(
        [(1, 2, "00001.jpg"), (1, 1, "00002.jpg"), (1, 2, "00003.jpg")],
        dtype=[("bbox_x1", object), ("class", object), ("fname", object)],
    )
    savemat(home / "devkit" / "cars_train_annos.mat", {"annotations": annotations[None]})


def pets(root: Path) -> None:
    home = root / "oxford-iiit-pet"
    (home / "annotations").mkdir(parents=True)
    lines = ["#Image CLASS-ID SPECIES BREED ID", "great_pug_2 2 2 1", "Abyssinian_1 1 1 1", "great_pug_10 2 2 1"]
    (home / "annotations" / "trainval.txt").write_text("\n".join(lines) + "\n")
    for name in ("great_pug_2", "Abyssinian_1", "great_pug_10"):
        picture(home / "images" / f"{name}.jpg")


def food(root: Path) -> None:
    home = root / "food-101"
    listed = {"waffles": ["waffles/9", "waffles/1"], "apple_pie": ["apple_pie/5"]}
    (home / "meta").mkdir(parents=True)
    (home / "meta" / "train.json").write_text(json.dumps(listed))
    for name in ("waffles/9", "waffles/1", "apple_pie/5"):
        picture(home / "images" / f"{name}.jpg")


def inaturalist(root: Path) -> None:
    for name in ("Fungi/Russula/b.jpg", "Fungi/Amanita/z.jpg", "Fungi/Amanita/a.jpg", "Plantae/Rosa/r.jpg"):
        picture(root / "2017" / name)


def aircraft(root: Path) -> None:
    home = root / "fgvc-aircraft-2013b" / "data"
    for name in ("0034309", "0034958", "0000001"):
        picture(home / "images" / f"{name}.jpg")
    (home / "images_variant_trainval.txt").write_text("0034309 A340-200\n0034958 707-320\n0000001 A340-200\n")


def cifar10(root: Path) -> None:
    home = root / "cifar-10-batches-bin"
    home.mkdir(parents=True)
    (home / "batches.meta.txt").write_text("airplane\nautomobile\n")
    for batch in range(1, 6):
        record = np.zeros(3073, dtype=np.uint8)
        record[0], record[1 : 1 + 1024] = batch % 2, 10 * batch  # the red plane comes first
        record.tofile(home / f"data_batch_{batch}.bin")


def cifar100(root: Path) -> None:
    home = root / "cifar-100-binary"
    home.mkdir(parents=True)
    (home / "fine_label_names.txt").write_text("apple\nbear\n")
    record = np.zeros((2, 3074), dtype=np.uint8)
    record[:, 0], record[:, 1] = 7, [1, 0]  # coarse, then fine
    record.tofile(home / "train.bin")


LAYOUTS: dict[str, tuple[Callable[[Path], None], Callable[[Path], LabelledImages], list[str], list[int]]] = {
    "cub": (cub, official.read_cub, ["002.B/b_1.jpg", "001.A/a_1.jpg"], [1, 0]),
    "scars": (cars, official.read_cars, ["00001.jpg", "00002.jpg", "00003.jpg"], [1, 0, 1]),
    "pets": (pets, official.read_pets, ["great_pug_2.jpg", "Abyssinian_1.jpg", "great_pug_10.jpg"], [1, 0, 1]),
    "food101": (food, official.read_food, ["waffles/9.jpg", "waffles/1.jpg", "apple_pie/5.jpg"], [1, 1, 0]),
    "fungi": (
        inaturalist,
        lambda root: official.read_inaturalist(root, "Fungi"),
        ["Amanita/a.jpg", "Amanita/z.jpg", "Russula/b.jpg"],
        [0, 0, 1],
    ),
    "aircraft": (aircraft, official.read_aircraft, ["0034309.jpg", "0034958.jpg", "0000001.jpg"], [1, 0, 1]),
    "cifar10": (
        cifar10,
        lambda root: official.read_cifar(root, 10),
        [f"train/{i:05d}" for i in range(5)],
        [1, 0, 1, 0, 1],
    ),
    "cifar100": (cifar100, lambda root: official.read_cifar(root, 100), ["train/00000", "train/00001"], [1, 0]),
}


@pytest.mark.parametrize("name", LAYOUTS)
def test_an_official_download_is_read_in_its_own_order(name: str, tmp_path: Path) -> None:
    build, reader, names, labels = LAYOUTS[name]
    build(tmp_path)
    data = reader(tmp_path)
    assert list(data.names) == names
    assert list(data.labels) == labels
    assert len(data.categories) == 2
    assert all(decode(image).mode == "RGB" for image in data.images)


@pytest.mark.parametrize("name", LAYOUTS)
def test_the_folder_inside_will_do_and_what_is_missing_is_named(name: str, tmp_path: Path) -> None:
    build, reader, names, _ = LAYOUTS[name]
    with pytest.raises(DataError) as missing:
        reader(tmp_path / "nowhere")
    assert "download" in missing.value.remedy
    build(tmp_path)
    inner = next(tmp_path.iterdir())
    assert list(reader(inner).names) == names
    for part in sorted(inner.rglob("*")):
        if part.suffix in (".txt", ".mat", ".json", ".bin"):
            part.unlink()
            with pytest.raises(DataError):
                reader(tmp_path)
            return


def test_cifar_pixels_are_rows_of_red_green_and_blue(tmp_path: Path) -> None:
    cifar10(tmp_path)
    image: Any = official.read_cifar(tmp_path, 10).images[2]
    assert image.shape == (32, 32, 3)
    assert (image[..., 0] == 30).all()
    assert (image[..., 1:] == 0).all()


def test_pets_breeds_are_named_after_their_images(tmp_path: Path) -> None:
    pets(tmp_path)
    assert official.read_pets(tmp_path).categories == ("Abyssinian", "great_pug")


def test_a_benchmark_with_the_wrong_number_of_images_is_refused(tmp_path: Path) -> None:
    cub(tmp_path)
    with pytest.raises(DataError, match=r"2 images of 2 categories; CUB-200-2011 has 5,994 images of 200"):
        read(benchmark("cub"), tmp_path)
    with pytest.raises(SettingsError, match="cub, scars"):
        benchmark("birds")


def test_the_known_categories_are_the_papers() -> None:
    counts = {name: (len(b.known), b.categories) for name, b in BENCHMARKS.items()}
    assert counts == {
        "cub": (100, 200),
        "scars": (98, 196),
        "aircraft": (50, 100),
        "pets": (19, 37),
        "food101": (51, 101),
        "fungi": (61, 121),
        "arachnida": (28, 56),
        "animalia": (39, 77),
        "mollusca": (47, 93),
        "cifar10": (5, 10),
        "cifar100": (80, 100),
    }
    for each in BENCHMARKS.values():
        assert sorted((*each.known, *each.unknown)) == list(range(each.categories))


def test_the_published_sizes_are_support_and_query() -> None:
    assert {name: each.sizes for name, each in BENCHMARKS.items() if each.sizes} == {
        "cub": (1_498, 4_496),
        "scars": (2_000, 6_144),
        "pets": (942, 2_738),
        "food101": (19_125, 56_625),
        "cifar10": (12_500, 37_500),
        "cifar100": (20_000, 30_000),
    }


def labels_only(of: Benchmark, known: int, others: int) -> LabelledImages:
    """As many images of known categories, and of all others, dealt out evenly."""
    labels = [of.known[i % len(of.known)] for i in range(known)]
    labels += [of.unknown[i % len(of.unknown)] for i in range(others)]
    names = tuple(f"{i}.jpg" for i in range(len(labels)))
    return LabelledImages(tuple(map(str, range(of.categories))), names, tuple(labels), names)


@pytest.mark.parametrize(
    ("name", "known"),
    [("food101", 51 * 750), ("scars", 4_000), ("scars", 4_001), ("cub", 2_997), ("pets", 1_884)],
)
def test_sizes_follow_by_arithmetic(name: str, known: int) -> None:
    of = benchmark(name)
    assert of.images is not None
    made = split_of(of, labels_only(of, known, of.images - known))
    assert (len(made.support), len(made.query)) == of.sizes


@pytest.mark.parametrize(("known", "others"), [(3_999, 4_145), (4_002, 4_142), (4_000, 4_143)])
def test_labels_that_do_not_give_the_published_sizes_are_refused(known: int, others: int) -> None:
    of = benchmark("scars")
    with pytest.raises(DataError, match=r"Stanford Cars: .* came out, not 2,000 and 6,144"):
        split_of(of, labels_only(of, known, others))
