"""Drawing the support set, and splits that name every image."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from firstsight.core.errors import DataError, SettingsError
from firstsight.data.benchmarks import benchmark
from firstsight.data.folder import LabelledImages
from firstsight.data.splits import Split, canonical, draw_support, held_out, known_share, split


def test_the_pooled_draw_is_numpys_legacy_choice_with_seed_0() -> None:
    np.random.seed(0)  # what the released code does
    expected = sorted(np.random.choice(10, 5, replace=False).tolist())
    assert np.flatnonzero(draw_support([0] * 5 + [1] * 5)).tolist() == expected


def test_the_pooled_draw_takes_half_of_all_not_of_each() -> None:
    labels = np.repeat(np.arange(20), 7)
    per_category = np.bincount(labels[draw_support(labels)], minlength=20)
    assert per_category.sum() == 70
    assert per_category.min() < per_category.max()


def test_the_stratified_draw_takes_the_share_of_each() -> None:
    labels = np.repeat(np.arange(20), 6)
    assert (np.bincount(labels[draw_support(labels, share=0.5, stratified=True)]) == 3).all()


def test_cub_and_pets_have_as_many_support_images_as_the_released_split() -> None:
    assert draw_support([0] * 2997).sum() == 1498  # CUB: 5,994 images, 2,997 of known categories
    assert draw_support([0] * 1884).sum() == 942  # Pets


def listed(*labels: int, suffix: str = ".jpg") -> LabelledImages:
    names = tuple(f"images/{label}/{i}{suffix}" for i, label in enumerate(labels))
    return LabelledImages(tuple("abc"), names, labels, names)


def test_a_split_names_every_image_once_and_the_stream_keeps_its_order() -> None:
    made = split("x", listed(2, 0, 1, 0, 2, 1, 1, 0), known=[1, 2])
    assert made.known == ("b", "c")
    assert len(made.support) == 2  # half of the five of known categories
    assert sorted([*made.support, *made.query]) == sorted(
        canonical(name) for name in listed(2, 0, 1, 0, 2, 1, 1, 0).names
    )
    assert list(made.query) == sorted(made.query, key=lambda name: int(name.split("/")[1]))


def test_a_pack_has_the_split_of_its_download(tmp_path: Path) -> None:
    labels = (2, 0, 1, 0, 2, 1, 1, 0)
    split("x", listed(*labels), known=[2, 1]).save(tmp_path / "x.json")
    support, query = Split.load(tmp_path / "x.json").apply(listed(*labels, suffix=".webp"))
    assert support.categories == ("c", "b")  # in the order of the known list
    assert query.categories == ("a", "b", "c")
    assert len(support.images) + len(query.images) == 8
    for part in (support, query):
        assert all(
            f"/{'abc'.index(part.categories[label])}/" in name
            for label, name in zip(part.labels, part.names, strict=True)
        )


def test_images_that_differ_in_their_suffix_only_are_told_apart() -> None:
    names = ("a/1.jpg", "a/1.png", "b/1.jpg", "b/2.jpg")
    folder = LabelledImages(("a", "b"), names, (0, 0, 1, 1), names)
    packed = tuple(f"images/{name}.webp" for name in names)  # what a pack calls them
    made = split("x", folder, known=[0])
    assert sorted([*made.support, *made.query]) == sorted(names)
    assert made == split("x", LabelledImages(("a", "b"), packed, (0, 0, 1, 1), packed), known=[0])
    support, query = made.apply(folder)
    assert len({*support.names, *query.names}) == 4


def test_a_split_of_other_images_is_refused(tmp_path: Path) -> None:
    made = split("x", listed(0, 1, 2, 0), known=[0])
    with pytest.raises(DataError, match="1 images that are not there"):
        made.apply(listed(0, 1, 2))
    (tmp_path / "no.json").write_text("{}")
    with pytest.raises(DataError, match="no split"):
        Split.load(tmp_path / "no.json")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[" * 100_000, "is no split"),
        ("[1]", "is no split"),
        ('{"known": [], "support": [], "query": []}', "is no split"),
        ('{"data": [], "known": [], "support": [], "query": []}', "is no split"),
        ('{"data": "x", "known": "ab", "support": [], "query": []}', "is no split"),
        ('{"data": "x", "known": [1], "support": [], "query": []}', "is no split"),
        ('{"data": "x", "known": ["a", "a"], "support": [], "query": []}', "names 'a' 2 times"),
        ('{"data": "x", "known": ["a"], "support": ["1"], "query": ["1"]}', "names '1' 2 times"),
        ("\udcff", "cannot be read: it is no text"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, text: str, why: str) -> None:
    (tmp_path / "s.json").write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(DataError, match=r"s\.json") as caught:
        Split.load(tmp_path / "s.json")
    assert why in caught.value.what


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="cannot be read: No such file"):
        Split.load(tmp_path / "none.json")


def test_a_split_teaches_known_categories_that_are_there() -> None:
    data = listed(0, 0, 1)
    with pytest.raises(DataError, match="knows 1 categories that are not there, such as 'zebra'"):
        Split("x", ("zebra",), ("0/0",), ("0/1",)).apply(data)
    with pytest.raises(DataError, match="teaches 1/2, whose category is not among the known ones"):
        Split("x", (data.categories[0],), ("0/0", "1/2"), ("0/1",)).apply(data)


@pytest.mark.parametrize(("name", "support", "query"), [("cub", 1_498, 4_496), ("pets", 942, 2_738)])
def test_the_shipped_splits_are_the_published_ones(name: str, support: int, query: int) -> None:
    shipped, of = Split.shipped(name), benchmark(name)
    assert (len(shipped.support), len(shipped.query)) == (support, query)
    assert len(set(shipped.support) | set(shipped.query)) == of.images
    assert len(shipped.known) == len(of.known)
    if name == "cub":
        assert {name.split("/")[0] for name in shipped.support} == set(shipped.known)


def test_a_quarter_and_three_quarters_known_are_ours() -> None:
    known, unknown = [5, 3, 1, 0], [4, 2, 6, 7]
    assert known_share(known, unknown, 50) == known
    assert known_share(known, unknown, 25) == [5, 3]
    assert known_share(known, unknown, 75) == [5, 3, 1, 0, 4, 2]
    with pytest.raises(SettingsError, match="25, 50, 75"):
        known_share(known, unknown, 10)


def test_a_held_out_stream_is_made_of_the_support_set_alone() -> None:
    """Nine categories of six images: three play new ones, four images of each of the others teach."""
    labels = tuple(np.repeat(np.arange(9), 6).tolist())
    data = LabelledImages(
        categories=tuple("abcdefghi"),
        images=tuple(f"{i}.jpg" for i in range(54)),
        labels=labels,
        names=tuple(f"{i}.jpg" for i in range(54)),
    )
    new = set()
    for fold in range(3):
        support, query = held_out(data, fold)
        assert len(support.categories) == 6
        assert support.counts() == [4] * 6
        assert sorted(support.names + query.names) == sorted(data.names)
        new |= {query.categories[label] for label in query.labels} - set(support.categories)
    assert new == set(data.categories)  # every category plays a new one once
