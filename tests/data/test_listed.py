"""Data sets by a user's list, by any folder and by a part of iNaturalist: in order, and explained when refused."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import pytest
from PIL import Image

from firstsight.core.errors import DataError, SettingsError
from firstsight.core.protocols import Silent
from firstsight.data.benchmarks import BENCHMARKS, Benchmark, open_data, read, split_of
from firstsight.data.folder import LabelledImages
from firstsight.data.pack import write_pack


def pictures(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 8)).save(root / name)
    return root


def listing(path: Path, names: Iterable[str]) -> Path:
    path.write_text("".join(f"{name}\n" for name in names))
    return path


def same_again(found: tuple[Benchmark, LabelledImages], pack: Path, name: str) -> None:
    """A pack of a data set is that data set under the same name, without its list."""
    of, data = found
    write_pack(data, pack, 64, Silent())
    again, packed = open_data(name, pack)
    assert (again.name, again.known, again.unknown) == (of.name, of.known, of.unknown)
    assert (packed.categories, packed.labels) == (data.categories, data.labels)
    assert split_of(again, packed) == split_of(of, data)


IMAGENET = ("n01/a.jpg", "n02/b.jpg", "n03/c.jpg", "n03/a.jpg", "n04/d.jpg")


@pytest.mark.parametrize("inside", ["ILSVRC/Data/CLS-LOC/train", "train", "."])
@pytest.mark.parametrize("name", ["imagenet100", "ImageNet-100"])
def test_imagenet100_has_the_listed_categories_in_the_lists_order(inside: str, name: str, tmp_path: Path) -> None:
    pictures(tmp_path / "x" / inside, *IMAGENET)
    classes = listing(tmp_path / "classes.txt", ["n03", "n01", "", "n02"])
    of, data = open_data(name, tmp_path / "x", classes)
    assert (of.name, of.title, of.categories) == ("imagenet100", "ImageNet-100", 3)
    assert data.categories == ("n03", "n01", "n02")
    assert list(data.names) == ["n03/a.jpg", "n03/c.jpg", "n01/a.jpg", "n02/b.jpg"]
    assert data.labels == (0, 0, 1, 2)
    assert (of.known, of.unknown) == ((0, 1), (2,))
    known = listing(tmp_path / "known.txt", ["n02", "n03"])
    of, _ = open_data(name, tmp_path / "x", classes, known)
    assert (of.known, of.unknown) == ((2, 0), (1,))
    assert read(of, tmp_path / "x") == data


@pytest.mark.parametrize("inside", ["small-train", "."])
@pytest.mark.parametrize("name", ["herbarium19", "Herbarium 19"])
def test_herbarium19_has_numbered_folders(inside: str, name: str, tmp_path: Path) -> None:
    pictures(tmp_path / inside, "0/a.jpg", "10/b.jpg", "2/c.jpg", "2/a.jpg")
    of, data = open_data(name, tmp_path, listing(tmp_path / "classes.txt", ["0", "2", "10"]))
    assert (of.name, of.title) == ("herbarium19", "Herbarium 19")
    assert list(data.names) == ["0/a.jpg", "2/a.jpg", "2/c.jpg", "10/b.jpg"]
    assert (of.known, of.unknown) == ((0, 1), (2,))


def test_a_folder_has_its_categories_in_name_order_or_the_lists(tmp_path: Path) -> None:
    root = pictures(tmp_path / "own", "b/1.jpg", "a/1.jpg", "c/deep/1.jpg")
    of, data = open_data("folder", root)
    assert (of.name, data.categories) == ("own", ("a", "b", "c"))
    assert (of.known, of.unknown) == ((0, 1), (2,))
    of, _ = open_data("folder", root, known=listing(tmp_path / "known.txt", ["c"]))
    assert (of.known, of.unknown) == ((2,), (0, 1))
    of, data = open_data("folder", root, listing(tmp_path / "classes.txt", ["c", "a"]))
    assert (data.categories, data.names) == (("c", "a"), ("c/deep/1.jpg", "a/1.jpg"))


@pytest.mark.parametrize(
    ("folder", "name"), [("My Birds!", "my-birds"), ("cub", "folder-cub"), ("inat", "folder-inat")]
)
def test_a_folder_is_called_by_its_name_unless_another_data_set_is(folder: str, name: str, tmp_path: Path) -> None:
    root = pictures(tmp_path / folder, "a/1.jpg", "b/1.jpg")
    assert open_data("folder", root)[0].name == name


@pytest.mark.parametrize("name", ["imagenet100", "herbarium19", "folder"])
def test_a_pack_of_listed_data_is_that_data_again(name: str, tmp_path: Path) -> None:
    root = pictures(tmp_path / "x", *IMAGENET)
    some = listing(tmp_path / "some.txt", ["n03", "n01"])
    same_again(open_data(name, root, some), tmp_path / "x.tar", name)
    whole = tmp_path / "whole" / "x.tar"
    whole.parent.mkdir()
    write_pack(open_data("folder", root)[1], whole, 64, Silent())
    (of, data), (again, packed) = open_data(name, root, some), open_data(name, whole, some)
    assert split_of(again, packed) == split_of(of, data)  # a pack of more, restricted by the list
    with pytest.raises(DataError, match=r"no images of 1 of the 2 categories .*, such as n99"):
        open_data(name, whole, listing(tmp_path / "bad.txt", ["n01", "n99"]))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "imagenet100",
            "ImageNet-100 needs a list of its categories\n"
            "give --classes FILE, a text file with one category per line, 100 in all, the known half first: "
            "a WordNet id such as n01440764, the name of a folder under ILSVRC/Data/CLS-LOC/train or train; "
            "a pack made with it needs none",
        ),
        (
            "herbarium19",
            "Herbarium 19 needs a list of its categories\n"
            "give --classes FILE, a text file with one category per line, 683 in all, the known half first: a number "
            "such as 42, the name of a folder under small-train; a pack made with it needs none",
        ),
    ],
)
def test_a_missing_list_is_explained(name: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as missing:
        open_data(name, pictures(tmp_path, *IMAGENET))
    assert str(missing.value) == said


def test_the_wrong_folder_and_wrong_lists_are_explained(tmp_path: Path) -> None:
    root = pictures(tmp_path / "x", *IMAGENET)
    (root / "n05").mkdir()
    classes = tmp_path / "classes.txt"
    with pytest.raises(DataError, match="is no file"):
        open_data("folder", root, classes)
    listing(classes, ["n03", "n01"])
    with pytest.raises(DataError, match=r"none of the 2 categories that .*classes.txt lists") as wrong:
        open_data("imagenet100", tmp_path, classes)
    assert f"{tmp_path}/ILSVRC/Data/CLS-LOC/train/n03" in wrong.value.remedy
    with pytest.raises(DataError, match="nowhere is no folder with the categories") as wrong:
        open_data("herbarium19", tmp_path / "nowhere", classes)
    assert "nowhere/small-train/n03" in wrong.value.remedy
    for lines, said in {
        ("n03", "n99"): "no images of 1 of the 2 categories .*, such as n99",
        ("n03", "n05"): "such as n05",  # a folder without images
        ("n03", ".."): r"such as \.\.",
        ("n03", "n03"): "lists 'n03' 2 times",
        (): "lists no category",
    }.items():
        with pytest.raises(DataError, match=said):
            open_data("imagenet100", root, listing(classes, lines))
    with pytest.raises(DataError, match=r"lists 'n02' as known, which is no category of .*classes.txt"):
        open_data("folder", root, listing(classes, ["n01"]), listing(tmp_path / "known.txt", ["n02"]))
    classes.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="no text in UTF-8"):
        open_data("folder", root, classes)


def test_a_pack_of_all_of_imagenet_is_not_imagenet100(tmp_path: Path) -> None:
    root = pictures(tmp_path / "x", *(f"n{i:03}/1.jpg" for i in range(101)))
    write_pack(open_data("folder", root)[1], tmp_path / "all.tar", 64, Silent())
    with pytest.raises(DataError, match=r"all\.tar has 101 categories; ImageNet-100 has 100\ngive --classes"):
        open_data("imagenet100", tmp_path / "all.tar")
    too_many = listing(tmp_path / "list.txt", (f"n{i:03}" for i in range(101)))
    with pytest.raises(DataError, match=r"list\.txt has 101 categories; ImageNet-100 has 100"):
        open_data("imagenet100", root, too_many)


@pytest.mark.parametrize("name", ["inat:Aves", "inat:aves", "iNat:AVES"])
def test_any_part_of_inaturalist_has_its_first_half_known(name: str, tmp_path: Path) -> None:
    birds = ("Anas acuta/1.jpg", "Corvus corax/1.jpg", "Corvus corax/0.jpg", "Sitta pusilla/1.jpg")
    pictures(tmp_path / "train_val_images" / "Aves", *birds)
    of, data = open_data(name, tmp_path)
    assert (of.name, of.title) == ("inat-aves", "iNaturalist 2017, Aves")
    assert list(data.names) == sorted(birds)
    assert (of.known, of.unknown) == ((0, 1), (2,))
    same_again((of, data), tmp_path / "birds.tar", name)


def test_the_papers_parts_of_inaturalist_stay_the_papers(tmp_path: Path) -> None:
    pictures(tmp_path / "2017" / "Fungi", *(f"{i:03}/1.jpg" for i in range(121)))
    assert open_data("inat:fungi", tmp_path)[0] is BENCHMARKS["fungi"]
    (tmp_path / "2017" / "Fungi" / "000" / "1.jpg").unlink()
    with pytest.raises(DataError, match="120 images of 120 categories; iNaturalist 2017, Fungi has 121"):
        open_data("inat:fungi", tmp_path)


def test_a_part_that_inaturalist_lacks_is_answered_with_those_it_has(tmp_path: Path) -> None:
    pictures(tmp_path / "2017", "Fungi/Amanita/1.jpg", "Plantae/Rosa/1.jpg")
    for root in (tmp_path, tmp_path / "2017"):
        with pytest.raises(DataError, match="2017 has no super-category Pisces; it has Fungi, Plantae") as missing:
            open_data("inat:Pisces", root)
        assert f"{tmp_path}/2017/Pisces exists" in missing.value.remedy


@pytest.mark.parametrize("name", ["cub", "inat:Aves", "inat:Fungi"])
def test_lists_are_refused_where_there_is_one(name: str, tmp_path: Path) -> None:
    own = listing(tmp_path / "own.txt", ["a"])
    for lists in ((own, None), (None, own)):
        with pytest.raises(SettingsError, match=r"has its own list .*own.txt cannot change it\n.* as folder"):
            open_data(name, tmp_path, *lists)


@pytest.mark.parametrize("name", ["birds", "inat:", "inat:../x", "cub:Aves", ""])
def test_unknown_names_are_answered_with_all_there_are(name: str, tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as wrong:
        open_data(name, tmp_path)
    assert wrong.value.what == (
        f"there is no benchmark {name!r}; allowed: {', '.join(BENCHMARKS)}, "
        "imagenet100, herbarium19, folder, inat:<SuperCategory>"
    )
