"""The field guide of moths: pure, prefix-stable, and laid out as promised."""

from __future__ import annotations

import re
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest
from PIL import Image

from firstsight.data.synthetic import contact_sheet, draw, known_and_new, species, write_folder


def test_same_arguments_same_pixels_whatever_was_drawn_before() -> None:
    first, second = species(6)[0], species(6)[5]
    forwards = [draw(first, 0, 64).tobytes(), draw(second, 3, 64).tobytes(), draw(first, 1, 64).tobytes()]
    backwards = [draw(first, 1, 64).tobytes(), draw(second, 3, 64).tobytes(), draw(first, 0, 64).tobytes()]
    assert forwards == backwards[::-1]


def test_index_seed_and_species_each_change_the_picture() -> None:
    one, other = species(2)
    pictures = [draw(one, 0, 64), draw(one, 1, 64), draw(one, 0, 64, seed=1), draw(other, 0, 64)]
    assert len({picture.tobytes() for picture in pictures}) == 4


def test_a_shorter_guide_is_a_prefix_of_a_longer() -> None:
    assert species(24)[:12] == species(12)
    assert species(24)[:5] == species(5)
    assert species(4, seed=1) != species(4)


def test_names_are_unique_and_folder_safe() -> None:
    guide = species(400)
    assert len({kind.name for kind in guide}) == 400
    assert all(re.fullmatch(r"[A-Z][a-z]+ [a-z]+", kind.name) for kind in guide)
    assert len({(kind.genus, kind.name.split()[0]) for kind in guide}) == 100


def test_siblings_differ_in_traits_that_show() -> None:
    guide = species(24)
    for one, other in combinations(guide, 2):
        assert one.fore != other.fore
        assert one.hind != other.hind


def test_half_of_each_genus_is_known_and_every_new_species_has_a_known_sibling() -> None:
    guide = species(24)
    known, new = known_and_new(guide)
    assert Counter(kind.genus for kind in known) == Counter(kind.genus for kind in new)
    assert {kind.name for kind in known} | {kind.name for kind in new} == {kind.name for kind in guide}
    assert len(known) + len(new) == 24


def test_a_cut_off_genus_still_gives_every_new_species_a_known_sibling() -> None:
    known, new = known_and_new(species(7))
    assert {kind.genus for kind in new} <= {kind.genus for kind in known}


@pytest.mark.parametrize("size", [1, 32, 97, 256])
def test_size_is_honoured(size: int) -> None:
    picture = draw(species(1)[0], 0, size)
    assert (picture.size, picture.mode) == ((size, size), "RGB")


def test_write_folder_writes_decodable_files_in_the_promised_layout(tmp_path: Path) -> None:
    guide = species(2)
    calls: list[None] = []
    paths = write_folder(tmp_path / "moths", guide, range(3, 5), size=48, progress=lambda: calls.append(None))
    assert paths == [tmp_path / "moths" / kind.name / f"{index}.jpg" for kind in guide for index in (3, 4)]
    assert len(calls) == 4
    for path in paths:
        with Image.open(path) as picture:
            picture.load()
            assert (picture.format, picture.size) == ("JPEG", (48, 48))


def test_contact_sheet_has_a_row_per_genus() -> None:
    assert contact_sheet(species(6), columns=2, size=20, gap=0).size == (160, 40)


def test_no_species_is_an_empty_guide() -> None:
    assert species(0) == []
    assert known_and_new([]) == ([], [])


def test_impossible_counts_are_refused_clearly() -> None:
    with pytest.raises(ValueError, match="count must be 0 or more, got -1"):
        species(-1)
    with pytest.raises(ValueError, match="per_genus must be 1 or more, got 0"):
        species(4, per_genus=0)
