"""How far apart centres can be: Lemma 3.1, Eq. 6-7 (d_max), the ball radius, and the packing limits.

Standard library only. `bits` is the paper's L, `categories` its |Y|.
"""

from __future__ import annotations

from math import comb
from typing import Literal

from firstsight.core.errors import SettingsError

DistanceRule = Literal["released", "eq7"]
Ball = Literal["touching", "disjoint"]

MAX_BITS = 256


def check_bits(bits: int) -> int:
    """The length, if it is one codes can have."""
    if not 1 <= bits <= MAX_BITS:
        raise SettingsError(f"bits is {bits}; a code has 1 to {MAX_BITS} bits")
    return bits


def ball_volume(bits: int, radius: int) -> int:
    """The number of codes within `radius` of a code: the sum of binomials in Lemma 3.1."""
    return sum(comb(bits, i) for i in range(min(radius, bits) + 1))


def gilbert_varshamov(bits: int, distance: int) -> int:
    """Lemma 3.1 (Eq. 6): this many codes, at least, exist with every two of them `distance` apart."""
    return -(-(1 << bits) // ball_volume(bits, distance - 1))


def distance_by_eq7(bits: int, categories: int) -> int:
    """d_max as printed (Eq. 7): the smallest d with categories * sum_{i<d} C(L, i) >= 2^L, clamped to L."""
    for distance in range(1, bits + 1):
        if categories * ball_volume(bits, distance - 1) >= 1 << bits:
            return distance
    return bits


def distance_by_released_rule(bits: int, categories: int) -> int | None:
    """d_max as the released code computes it, with single binomials; it gives all 32 cells of the paper's table.

    The smallest d in 2..L with C(L, d-2) <= 2^L / categories <= C(L, d-1); None where no d satisfies both.
    """
    for distance in range(2, bits + 1):
        if comb(bits, distance - 2) * categories <= (1 << bits) <= comb(bits, distance - 1) * categories:
            return distance
    return None


def minimum_distance(bits: int, categories: int, rule: DistanceRule = "released") -> int:
    """d_max, the distance training asks of every two centres (Eq. 7), for the number of categories expected.

    Where the released rule has no solution, or asks for more than the Hamming or Plotkin bound allows, the printed
    Eq. 7 decides. Never 0.
    """
    check_bits(bits)
    if categories < 2:
        raise SettingsError(f"expected categories is {categories}; at least 2 are needed to keep centres apart")
    if categories > 1 << bits:
        raise SettingsError(
            f"{categories} categories do not fit in {bits} bits, which give {1 << bits} codes",
            f"use --bits {(categories - 1).bit_length()} or more",
        )
    if rule == "released":
        distance = distance_by_released_rule(bits, categories)
        if distance is not None and categories <= min(hamming_bound(bits, distance), plotkin_bound(bits, distance)):
            return distance
    return distance_by_eq7(bits, categories)


def ball_radius(distance: int, ball: Ball = "touching") -> int:
    """R: how far from its centre a category reaches, max(floor(d_max / 2), 1) as in Algorithm 1.

    For an even d_max those balls touch; `disjoint` takes floor((d_max - 1) / 2), which never do (deviation 23).
    """
    return max(distance // 2, 1) if ball == "touching" else (distance - 1) // 2


def singleton_bound(bits: int, distance: int) -> int:
    """No more codes than this are pairwise `distance` apart (Singleton)."""
    return 1 << (bits - distance + 1)


def hamming_bound(bits: int, distance: int) -> int:
    """No more codes than this are pairwise `distance` apart (sphere packing)."""
    return (1 << bits) // ball_volume(bits, (distance - 1) // 2)


def plotkin_bound(bits: int, distance: int) -> int:
    """No more codes than this are pairwise `distance` apart (Plotkin; 2^L where it says nothing)."""
    if distance % 2:  # A(L, d) = A(L + 1, d + 1) for odd d
        return plotkin_bound(bits + 1, distance + 1)
    if 2 * distance > bits:
        return 2 * (distance // (2 * distance - bits))
    if 2 * distance == bits:
        return 4 * distance
    return 1 << bits


def packing_limit(bits: int, distance: int) -> int:
    """The most codes that can be pairwise `distance` apart, as far as the three bounds tell."""
    return min(singleton_bound(bits, distance), hamming_bound(bits, distance), plotkin_bound(bits, distance))
