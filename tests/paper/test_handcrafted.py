"""Fixed centres: the paper's d_max is reached for the known categories of every data set, and CSQ's are Hadamard's."""

from __future__ import annotations

import json
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.bounds import minimum_distance
from firstsight.core.codes import pack, pairwise
from firstsight.core.errors import SettingsError
from firstsight.methods.baselines.handcrafted import closest, hadamard_codes, separated_codes

TABLES = json.loads((files("firstsight.reproduce") / "paper_tables.json").read_text())
KNOWN = TABLES["tab:dataset"]["Y_S"]
CELLS = [(int(bits), KNOWN[name], d) for bits, row in TABLES["tab:dmax"].items() for name, d in row.items()]


def test_the_table_has_32_cells() -> None:
    assert len(CELLS) == 32


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(("bits", "count", "distance"), CELLS)
def test_every_cell_of_the_papers_table_is_reached(bits: int, count: int, distance: int, seed: int) -> None:
    codes = separated_codes(bits, count, distance, seed)
    assert codes.shape == (count, bits)
    assert codes.dtype == np.int8
    assert set(np.unique(codes)) == {-1, 1}
    assert len(np.unique(codes, axis=0)) == count
    assert closest(codes) >= distance


def test_a_seed_always_gives_the_same_codes_and_another_gives_others() -> None:
    first, again, other = (separated_codes(12, 100, 3, seed) for seed in (5, 5, 6))
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_the_codes_of_a_seed_are_the_same_on_every_machine() -> None:
    assert pack(separated_codes(12, 4, 8, seed=0)).ravel().tolist() == [2722, 276, 1609, 3583]


@given(st.integers(4, 24), st.integers(2, 40), st.integers(0, 2**31))
def test_d_max_of_twice_the_known_categories_is_always_reached(bits: int, count: int, seed: int) -> None:
    count = min(count, 1 << (bits - 1))
    distance = minimum_distance(bits, 2 * count)
    codes = separated_codes(bits, count, distance, seed)
    assert len(np.unique(codes, axis=0)) == count
    assert closest(codes) >= distance


@given(st.integers(1, 12), st.integers(1, 20), st.integers(1, 12), st.integers(0, 2**31))
def test_codes_are_as_far_apart_as_asked_or_refused(bits: int, count: int, distance: int, seed: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("firstsight.methods.baselines.handcrafted.DRAWS", 50)
        try:
            codes = separated_codes(bits, count, distance, seed)
        except SettingsError:
            return
    assert codes.shape == (count, bits)
    assert count == 1 or closest(codes) >= distance


@pytest.mark.parametrize(
    ("bits", "count", "distance"), [(64, 2, 64), (63, 4, 42), (31, 32, 16), (7, 16, 3), (12, 2048, 2)]
)
def test_famous_codes_are_found(bits: int, count: int, distance: int) -> None:
    # opposite words, two simplex codes (Plotkin), the Hamming code, all words of even weight
    assert closest(separated_codes(bits, count, distance)) == distance


@pytest.mark.parametrize(
    ("bits", "count", "distance", "message"),
    [
        (4, 3, 3, "at most 2 can exist"),  # Plotkin
        (7, 17, 3, "at most 16 can exist"),  # Hamming
        (4, 9, 2, "at most 8 can exist"),  # Singleton
        (8, 20, 3, "were found in 4096 draws"),  # exists, but is not linear
        (8, 0, 3, "0 codes"),
        (8, 2, 0, "the distance is 0"),
        (8, 2, 9, "the distance is 9"),
        (0, 2, 1, "bits is 0"),
        (257, 2, 1, "bits is 257"),
    ],
)
def test_what_cannot_be_had_is_said(bits: int, count: int, distance: int, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        separated_codes(bits, count, distance)


def test_the_remedy_names_what_to_change() -> None:
    with pytest.raises(SettingsError) as raised:
        separated_codes(4, 3, 3)
    assert raised.value.remedy == "use more bits, fewer categories or a smaller distance"


@pytest.mark.parametrize("bits", [1, 2, 4, 16, 32, 64, 256])
def test_hadamard_rows_are_half_the_bits_apart_or_opposite(bits: int) -> None:
    codes = hadamard_codes(bits, 2 * bits)
    rows = codes[:bits].astype(int)
    np.testing.assert_array_equal(rows @ rows.T, bits * np.eye(bits))
    np.testing.assert_array_equal(codes[bits:], -codes[:bits])
    assert set(pairwise(pack(codes)).tolist()) == ({bits // 2, bits} if bits > 1 else {1})


def test_hadamard_of_order_4_by_hand() -> None:
    assert hadamard_codes(4, 5).tolist() == [[1, 1, 1, 1], [1, -1, 1, -1], [1, 1, -1, -1], [1, -1, -1, 1], [-1] * 4]


def test_beyond_the_hadamard_rows_csq_draws_at_random() -> None:
    codes, again, other = (hadamard_codes(32, 100, seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(codes, again)
    np.testing.assert_array_equal(codes[:64], hadamard_codes(32, 64))
    np.testing.assert_array_equal(codes[:64], other[:64])
    assert (codes[64:] != other[64:]).any()
    assert abs(codes[64:].mean()) < 0.1  # 1152 fair coins
    assert len(np.unique(codes, axis=0)) == 100


def test_hadamard_codes_are_distinct_to_the_last() -> None:
    assert len(np.unique(hadamard_codes(4, 16), axis=0)) == 16


@pytest.mark.parametrize(
    ("bits", "count", "message"), [(12, 10, "power of two"), (4, 17, "1 to 16"), (4, 0, "0 codes")]
)
def test_hadamard_refuses(bits: int, count: int, message: str) -> None:
    with pytest.raises(SettingsError, match=message):
        hadamard_codes(bits, count)


def test_closest_by_hand() -> None:
    assert closest(np.array([[1, 1, 1, 1], [-1, -1, 1, 1], [-1, -1, -1, 1]], dtype=np.int8)) == 1
    with pytest.raises(SettingsError, match="at least 2"):
        closest(np.ones((1, 4), dtype=np.int8))
