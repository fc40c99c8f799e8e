"""Codes: packing and the Hamming distance."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from firstsight.core.codes import hamming, pack, pairwise, unpack
from firstsight.core.errors import SettingsError


def signs(rows: int, bits: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).choice(np.array([-1, 1], dtype=np.int8), size=(rows, bits))


@pytest.mark.parametrize("bits", range(1, 257))
def test_packing_round_trips_for_every_length(bits: int) -> None:
    original = signs(5, bits, seed=bits)
    packed = pack(original)
    assert packed.shape == (5, -(-bits // 64))
    assert (unpack(packed, bits) == original).all()


def test_bit_i_is_bit_i_of_the_word() -> None:
    assert pack(np.array([[1, -1, 1, 1]])).tolist() == [[0b1101]]


def test_zero_and_nan_are_not_positive() -> None:
    assert pack(np.array([[0.0, np.nan, 1e-30, -0.0]])).tolist() == [[0b0100]]


@given(st.integers(1, 256), st.integers(0, 2**31))
def test_hamming_is_a_metric(bits: int, seed: int) -> None:
    a, b, c = pack(signs(3, bits, seed))
    assert hamming(a, a) == 0
    assert hamming(a, b) == hamming(b, a)
    assert (hamming(a, b) == 0) == bool((a == b).all())
    assert hamming(a, c) <= hamming(a, b) + hamming(b, c)


@given(st.integers(1, 256), st.integers(0, 2**31))
def test_hamming_counts_differing_bits(bits: int, seed: int) -> None:
    a, b = signs(2, bits, seed)
    assert hamming(pack(a), pack(b)) == (a != b).sum()


@pytest.mark.parametrize("bits", [0, 257])
def test_other_lengths_are_refused(bits: int) -> None:
    with pytest.raises(SettingsError, match="1 to 256"):
        pack(np.ones((1, bits)))


def test_pairwise_takes_each_pair_once() -> None:
    assert pairwise(np.array([[0b000], [0b001], [0b111]], dtype=np.uint64)).tolist() == [1, 3, 2]
