"""Lemma 3.1, Eq. 6-7 and the paper's table of d_max (App. A.2)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.bounds import (
    ball_radius,
    ball_volume,
    distance_by_eq7,
    distance_by_released_rule,
    gilbert_varshamov,
    hamming_bound,
    minimum_distance,
    packing_limit,
    plotkin_bound,
    singleton_bound,
)
from firstsight.core.errors import SettingsError

CATEGORIES = {
    "cub": 200,
    "scars": 196,
    "pets": 38,
    "food": 101,
    "fungi": 121,
    "arachnida": 56,
    "animalia": 77,
    "mollusca": 93,
}
TABLE = {  # the paper's table, row by row
    12: [3, 3, 4, 3, 3, 4, 3, 3],
    16: [4, 4, 5, 5, 4, 5, 5, 5],
    32: [10, 10, 12, 11, 11, 12, 11, 11],
    64: [24, 24, 27, 25, 25, 26, 25, 25],
}
CELLS = [(bits, name, d) for bits, row in TABLE.items() for name, d in zip(CATEGORIES, row, strict=True)]


@pytest.mark.parametrize(("bits", "name", "printed"), CELLS)
def test_the_released_rule_gives_every_cell_of_the_papers_table(bits: int, name: str, printed: int) -> None:
    assert minimum_distance(bits, CATEGORIES[name], "released") == printed


def test_printed_eq7_gives_19_of_the_32_cells() -> None:
    assert sum(minimum_distance(bits, CATEGORIES[name], "eq7") == d for bits, name, d in CELLS) == 19


def test_pets_has_37_breeds_and_no_cell_depends_on_it() -> None:
    assert [minimum_distance(bits, 37) for bits in TABLE] == [minimum_distance(bits, 38) for bits in TABLE]


def test_lemma_3_1_by_hand() -> None:
    assert ball_volume(bits=4, radius=1) == 1 + 4
    assert gilbert_varshamov(bits=4, distance=2) == 4  # 16 / 5, rounded up


def test_eq7_by_hand() -> None:
    # 4 bits, 4 categories: 4 * 1 < 16, 4 * (1 + 4) >= 16
    assert distance_by_eq7(bits=4, categories=4) == 2


def test_where_the_released_rule_has_no_solution_eq7_decides() -> None:
    assert distance_by_released_rule(12, 4) is None  # 4096 / 4 is above every C(12, i)
    assert minimum_distance(12, 4) == distance_by_eq7(12, 4) == 6


def test_where_the_released_rule_asks_too_much_eq7_decides() -> None:
    assert distance_by_released_rule(2, 4) == 2  # but only 2 codes of 2 bits are 2 apart
    assert plotkin_bound(2, 2) == 2
    assert minimum_distance(2, 4) == distance_by_eq7(2, 4) == 1


@given(st.integers(1, 256), st.integers(2, 5000), st.sampled_from(["released", "eq7"]))
def test_d_max_is_at_least_1_and_at_most_the_length(bits: int, categories: int, rule: str) -> None:
    if categories <= 2**bits:
        assert 1 <= minimum_distance(bits, categories, rule) <= bits  # type: ignore[arg-type]


def test_more_categories_than_codes_are_refused_with_the_bits_needed() -> None:
    with pytest.raises(SettingsError, match="--bits 9 or more"):
        minimum_distance(8, 257)


def test_the_radius_is_half_the_distance_and_never_0() -> None:
    assert [ball_radius(d) for d in (1, 2, 3, 4, 10, 25)] == [1, 1, 1, 2, 5, 12]


def test_disjoint_balls_do_not_touch() -> None:
    assert [ball_radius(d, "disjoint") for d in (1, 2, 3, 4, 10, 25)] == [0, 0, 1, 1, 4, 12]


def test_packing_bounds_by_hand() -> None:
    assert singleton_bound(bits=4, distance=4) == 2
    assert hamming_bound(bits=7, distance=3) == 16  # 128 / 8: the Hamming code reaches it
    assert plotkin_bound(bits=8, distance=4) == 16  # 2d = L: the extended Hamming code reaches it
    assert plotkin_bound(bits=12, distance=7) == 4  # A(12, 7) = A(13, 8) = 2 * floor(8 / 3)
    assert packing_limit(bits=12, distance=2) == 2048  # half of all codes: those of even weight
