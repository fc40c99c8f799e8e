"""Codes: the sign bits of a hash feature, as words of 64 bits, and the Hamming distance between them.

NumPy only. Bit i of a code is bit i % 64 of word i // 64; the bits above the length are zero.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from firstsight.core.bounds import check_bits

Words: TypeAlias = NDArray[np.uint64]


def pack(signs: NDArray[np.generic]) -> Words:
    """Pack features into codes: a bit is 1 where the value is above zero (zero and NaN give 0)."""
    positive = np.atleast_2d(signs) > 0  # (N, L)
    count, bits = positive.shape
    words = -(-check_bits(bits) // 64)
    padded = np.zeros((count, words * 64), dtype=bool)
    padded[:, :bits] = positive
    return np.packbits(padded, axis=1, bitorder="little").view("<u8").astype(np.uint64, copy=False)


def unpack(codes: Words, bits: int) -> NDArray[np.int8]:
    """Unpack codes into -1 and +1."""
    octets = np.ascontiguousarray(np.atleast_2d(codes), dtype="<u8").view(np.uint8)
    set_bits = np.unpackbits(octets, axis=1, count=check_bits(bits), bitorder="little")
    return set_bits.astype(np.int8) * 2 - 1


def popcount(words: Words) -> NDArray[np.int16]:
    """The number of ones in each code of an array whose last axis is words."""
    if words.shape[-1] == 1:  # the common case needs no sum over words
        return np.bitwise_count(words[..., 0]).astype(np.int16)
    total: NDArray[np.int16] = np.bitwise_count(words).sum(axis=-1, dtype=np.int16)
    return total


def hamming(a: Words, b: Words) -> NDArray[np.int16]:
    """The number of differing bits, with broadcasting over all axes but the last."""
    return popcount(a ^ b)


def pairwise(codes: Words) -> NDArray[np.int16]:
    """The distance of every two codes, each pair once."""
    return hamming(codes[:, None], codes)[np.triu_indices(len(codes), k=1)]
