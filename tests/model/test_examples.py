"""Support images that stand for prototypes: which they are, how they are kept, and that nothing else of them is."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import timm
import torch
from numpy.typing import NDArray
from PIL import Image
from safetensors.torch import save_file

import firstsight
from colours import colour_model
from firstsight.cli.explain import drawn
from firstsight.core.errors import ModelError
from firstsight.core.protocols import Features
from firstsight.data.synthetic import species, write_folder
from firstsight.evidence.points import Points
from firstsight.methods.baselines.leader import ClassMeans
from firstsight.model.examples import SIDE, Examples, choose
from firstsight.model.folder import save_model
from firstsight.pages.gallery import as_page, remarks
from tiny_settings import tiny_for


def test_a_prototype_is_shown_by_the_support_image_most_like_it() -> None:
    """Prototypes red, orange, magenta; blue, azure, magenta. The images: red, pink, azure."""
    shown = np.array([[1.0, 0, 0], [1, 0.2, 0.9], [0, 0.5, 1]], dtype=np.float32)
    model = colour_model()
    prototypes = Points(model).points

    def likeness(images: Features, points: Features) -> NDArray[np.float32]:
        alike = model.torch_encoder.learner.similarity(torch.from_numpy(images), torch.from_numpy(points))
        return np.asarray(alike.detach().numpy())

    found = choose(shown, np.array([0, 0, 1]), 2, likeness, 3, prototypes)
    assert found.points is None  # they are the learner's
    assert found.category.tolist() == [0, 0, 0, 1, 1, 1]
    assert found.image.tolist() == [0, 0, 1, 2, 2, 1]
    assert found.image_category.tolist() == [0, 0, 0, 1, 1, 0]  # the last is blue's, and shown by an image of red
    assert found.wins.tolist() == [1, 0, 1, 0, 1, 0]
    said = remarks(prototypes, found)
    assert said.duplicate.tolist() == [False, True, False, False, True, False]
    assert said.dead.tolist() == [False, True, False, True, False, True]
    assert said.stray.tolist() == [False] * 5 + [True]


def test_images_stand_for_every_group_of_a_category_however_late_they_come() -> None:
    """1,200 images in one direction and then 60 in another; three of a second category, and none of a third."""
    decision = ClassMeans(names=("a", "b", "c"), centres=np.zeros((3, 2), dtype=np.float32), reach=0.0)
    shown = np.array([[1.0, 0]] * 1200 + [[0, 1.0]] * 60 + [[-1.0, 0]] * 3, dtype=np.float32)
    found = choose(shown, np.array([0] * 1260 + [1] * 3), 3, decision.similarity, 2, None)
    assert found.category.tolist() == [0, 0, 1, 1]
    assert found.points is not None
    assert found.points.tolist() == [[1, 0], [0, 1], [-1, 0], [-1, 0]]
    assert found.wins.tolist() == [1200, 60, 3, 0]


def test_nearly_equal_prototypes_are_duplicates_whatever_shows_them() -> None:
    points = np.array([[1, 0], [1, 0.001], [0, 1], [1, 0]], dtype=np.float32)
    numbers = np.arange(4)
    found = Examples(np.array([0, 0, 0, 1]), numbers, np.array([0, 0, 0, 1]), numbers)
    assert remarks(points, found).duplicate.tolist() == [False, True, False, False]  # the last is another category's


@pytest.mark.parametrize("pictures", [None, {3: b"\xff\xd8one", 7: b"\xff\xd8", 9: b"\xff\xd8three"}])
def test_kept_and_read_again(pictures: dict[int, bytes] | None) -> None:
    points = np.eye(3, dtype=np.float32)
    column = np.array([3, 7, 9])
    kept = Examples(np.array([0, 1, 1]), column, np.array([0, 1, 1]), column, points, pictures)
    found = Examples.of_bytes(kept.to_bytes())
    assert found.pictures == pictures
    assert found.picture(2) == (pictures[9] if pictures else None)
    for name in ("category", "image", "image_category", "wins", "points"):
        assert np.array_equal(getattr(found, name), getattr(kept, name))


@pytest.fixture(scope="module")
def tagged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Support images that say where and by whom they were taken."""
    folder = tmp_path_factory.mktemp("tagged")
    write_folder(folder, species(2), range(3), size=96)
    for path in folder.rglob("*.jpg"):
        image = Image.open(path)
        exif = image.getexif()
        exif[0x010E], exif[0x8825] = "SECRET PLACE", {1: "N", 2: (48.0, 12.0, 0.0)}
        image.save(path, exif=exif, comment=b"SECRET PLACE")
    return folder


def test_thumbnails_hold_no_metadata(tagged: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    model = firstsight.fit(tagged, tmp_path / "m", device="cpu", **{**tiny, "epochs": 1})
    assert model.examples is not None
    assert model.examples.pictures
    for picture in model.examples.pictures.values():
        image = Image.open(io.BytesIO(picture))
        assert (image.format, image.size, dict(image.getexif())) == ("JPEG", (SIDE, SIDE), {})
        assert not {"exif", "comment", "icc_profile", "xmp"} & set(image.info)
    assert all(b"SECRET" not in path.read_bytes() for path in (tmp_path / "m").iterdir())
    assert "thumbnails of 128 x 128 pixels" in (tmp_path / "m" / "README.md").read_text()


def test_without_thumbnails_numbers_stand_for_pictures(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    firstsight.fit(moths / "support", tmp_path / "m", device="cpu", thumbnails=False, **{**tiny, "epochs": 1})
    assert b"JFIF" not in (tmp_path / "m" / "examples.safetensors").read_bytes()
    assert "No image is in this folder" in (tmp_path / "m" / "README.md").read_text()
    model = firstsight.load(tmp_path / "m", device="cpu")
    found = firstsight.explain(model, next((moths / "stream").rglob("*.jpg")))
    assert all(each.picture is None for each in found.similar)
    assert f"prototype {found.similar[0].number}<" in drawn([found], ".html").decode()
    assert b"prototype 3<" in as_page(model, "m")[0]


def test_a_folder_without_examples_still_explains(model_folder: Path, moths: Path, tmp_path: Path) -> None:
    bare = Path(shutil.copytree(model_folder, tmp_path / "bare.model"))
    (bare / "examples.safetensors").unlink()
    checksums = json.loads((bare / "checksums.json").read_text())
    del checksums["examples.safetensors"]
    (bare / "checksums.json").write_text(json.dumps(checksums))
    model, now = firstsight.load(bare, device="cpu"), firstsight.load(model_folder, device="cpu")
    assert model.examples is None
    assert model.fingerprint == now.fingerprint
    image = next((moths / "stream").rglob("*.jpg"))
    found, expected = firstsight.explain(model, image), firstsight.explain(now, image)
    assert found.as_dict() == expected.as_dict()
    with pytest.raises(ModelError, match="no support images that stand for"):
        as_page(model, "bare.model")


def test_a_method_without_prototypes_or_examples_has_its_centres(moths: Path, tiny: dict[str, Any]) -> None:
    model = firstsight.fit(moths / "support", device="cpu", **tiny_for("ncm", tiny))
    model.examples = None
    found = firstsight.explain(model, next((moths / "stream").rglob("*.jpg")))
    assert (found.similar, found.sums) == ((), ())
    assert len(found.near) == 3
    assert b"keeps nothing to compare" in drawn([found], ".html")


def test_a_category_of_one_image_is_not_doubted_for_it(moths: Path, tiny: dict[str, Any], tmp_path: Path) -> None:
    support = Path(shutil.copytree(moths / "support", tmp_path / "support"))
    alone, *others = sorted(sorted(support.iterdir())[0].iterdir())
    for each in others:
        each.unlink()
    model = firstsight.fit(support, device="cpu", **tiny_for("ncm", tiny))
    found = firstsight.explain(model, alone)
    assert found.answer.category == alone.parent.name
    assert "one is that category's own." in found.sentence


@pytest.mark.parametrize("stages", [0, 1])
@pytest.mark.parametrize("backbone", ["test_efficientnet", "test_resnet", "test_convnext"])
def test_cnns_show_where_they_looked(
    backbone: str, stages: int, moths: Path, tiny: dict[str, Any], tmp_path: Path
) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        save_file(timm.create_model(backbone, num_classes=0).state_dict(), tmp_path / "w.safetensors")
    changes = {**tiny, "backbone": backbone, "weights": str(tmp_path / "w.safetensors"), "epochs": 1}
    model = firstsight.fit(moths / "support", device="cpu", train_stages=stages, **changes)
    images = sorted((moths / "stream").rglob("*.jpg"))
    looked = [firstsight.explain(model, image).looked for image in images[:4]]
    seen = [each for each in looked if each is not None]
    assert seen
    assert all(each.shape == (2, 2) and each.min() == 0 and each.max() == 1 for each in seen)


def test_explaining_changes_neither_the_model_nor_its_answers(model_folder: Path, moths: Path, tmp_path: Path) -> None:
    model = firstsight.load(model_folder, device="cpu")
    pixels = [model.prepare(next((moths / "stream").rglob("*.jpg")))]
    before = model.encode(pixels)
    firstsight.explain(model, pixels[0])
    assert np.array_equal(model.encode(pixels), before)
    assert all(parameter.grad is None for parameter in model.torch_encoder.learner.parameters())
    save_model(model, tmp_path / "again")
    for name in ("encoder.safetensors", "decision.safetensors"):
        assert (tmp_path / "again" / name).read_bytes() == (model_folder / name).read_bytes()
