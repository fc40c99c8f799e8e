"""Fixed hash centres, for the methods that do not learn theirs: codes kept a distance apart, and CSQ's Hadamard rows.

NumPy only. Centres are codes of -1 and +1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from firstsight.core.bounds import check_bits, packing_limit
from firstsight.core.codes import Words, pack, pairwise, popcount, unpack
from firstsight.core.errors import SettingsError

# the hardest cell of the paper's table (12 bits, 100 categories) takes ten draws on average; this many take a second
DRAWS = 4096


def separated_codes(bits: int, count: int, distance: int, seed: int = 0) -> NDArray[np.int8]:
    """`count` codes, each two of them at least `distance` bits apart: (count, bits).

    They are taken from a random linear code, moved by a random offset. The distance of two of its words is the weight
    of a third, so the lightest word proves the whole. Gilbert and Varshamov's argument, which is behind d_max, says
    that such a code is soon met; one that has to be non-linear is never found.
    """
    check_bits(bits)
    if count < 1:
        raise SettingsError(f"{count} codes were asked for; at least 1 is needed")
    if not 1 <= distance <= bits:
        raise SettingsError(f"the distance is {distance}; two codes of {bits} bits are 1 to {bits} bits apart")
    wanted = f"{count} codes of {bits} bits, every two at least {distance} apart"
    remedy = "use more bits, fewer categories or a smaller distance"
    if count > packing_limit(bits, distance):
        raise SettingsError(f"there are no {wanted}: at most {packing_limit(bits, distance)} can exist", remedy)
    rng = np.random.default_rng(seed)
    for _ in range(DRAWS):
        words = _linear_code(bits, max(1, (count - 1).bit_length()), distance % 2 == 0, rng)
        if popcount(words[1:]).min() >= distance:  # the first word is zero
            offset = pack(rng.integers(0, 2, size=(1, bits)))
            return unpack(words[rng.permutation(len(words))[:count]] ^ offset, bits)
    raise SettingsError(f"no {wanted}, were found in {DRAWS} draws", remedy)


def _linear_code(bits: int, dimension: int, even: bool, rng: np.random.Generator) -> Words:
    """The 2^dimension words of a random linear code, zero first; `even` makes the last bit their parity.

    The columns of its generator are dealt from shuffled decks of all non-zero columns. Each whole deck is a simplex
    code, in which all words are equally far apart: so few categories in many bits come out near the Plotkin bound.
    """
    deck = (1 << dimension) - 1
    columns = 1 + np.concatenate([rng.permutation(deck) for _ in range(-(-bits // deck))])[:bits]
    if even:  # no loss for an even distance: drop a bit, add the parity, and the distance is what it was
        columns[-1] = np.bitwise_xor.reduce(columns[:-1])
    generator = pack((columns >> np.arange(dimension)[:, None]) & 1)
    words = np.zeros_like(generator[:1])
    for row in generator:
        words = np.concatenate([words, words ^ row])
    return words


def hadamard_codes(bits: int, count: int, seed: int = 0) -> NDArray[np.int8]:
    """The centres of CSQ (Central Similarity Quantization, CVPR 2020): (count, bits).

    The rows of the Hadamard matrix of order `bits`, then their negatives: 2 * bits codes, every two bits / 2 apart or
    opposite. Beyond those, as in CSQ, every bit is drawn from Bernoulli(0.5), and nothing keeps the codes apart except
    that one already there is drawn again (100 categories in 32 bits: 64 rows and 36 random codes). The seed moves the
    random codes only.
    """
    check_bits(bits)
    if bits & (bits - 1):
        raise SettingsError(
            f"bits is {bits}; Hadamard centres need a power of two", f"use --bits {1 << bits.bit_length()}"
        )
    if not 1 <= count <= 1 << bits:
        raise SettingsError(f"{count} codes were asked for; {bits} bits give 1 to {1 << bits}")
    index = np.arange(bits)
    rows = 1 - 2 * (np.bitwise_count(index[:, None] & index) & 1).astype(np.int8)  # Sylvester's matrix
    codes = np.concatenate([rows, -rows])[:count]
    rng = np.random.default_rng(seed)
    while len(codes) < count:
        drawn = 2 * rng.integers(0, 2, size=bits, dtype=np.int8) - 1
        if not (codes == drawn).all(axis=1).any():
            codes = np.concatenate([codes, drawn[None]])
    return codes


def closest(codes: NDArray[np.int8]) -> int:
    """The smallest distance of any two codes, every pair compared."""
    if len(codes) < 2:
        raise SettingsError(f"{len(codes)} codes have no distance between them; at least 2 are needed")
    return int(pairwise(pack(codes)).min())
