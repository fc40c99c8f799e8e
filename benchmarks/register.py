"""How fast a register answers, beside faiss and a plain Python loop, and how that grows with the categories.

    uv run --extra bench python benchmarks/register.py

One run, one machine, one thread count for all: the ratios are what counts.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from typing import Any

import faiss
import numpy as np

from firstsight.core.bounds import packing_limit
from firstsight.core.codes import Words, hamming, pack, unpack
from firstsight.register.codes import CodeRegister

RADIUS = {12: 1, 16: 1, 32: 3, 64: 8}
CATEGORIES = (100, 1_000, 10_000, 100_000, 1_000_000)
PAIRS = 4_000_000_000  # comparisons a batch may take
CODES = 1_000_000  # codes in a batch at most
STREAM, TRUE = 100_000, 10_000  # codes of a stream, and its true categories


def main() -> None:
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, NumPy {np.__version__}, ", end="")
    print(f"faiss {faiss.__version__}; times are the best of 3\n")
    print(
        "| bits | radius | categories | match one, µs | faiss, µs | batch, codes/s | faiss | x faiss | loop | x loop |"
    )
    print("|" + "---:|" * 10)
    for bits, radius in RADIUS.items():
        for count in CATEGORIES:
            centres = make_centres(bits, radius, count)
            print(row(bits, radius, centres), flush=True)
            if len(centres) < count:
                break  # there is no room for more
    print(f"\nA stream from an empty register, births included ({TRUE:,} true categories, or as many as fit):\n")
    print("| bits | codes | categories founded | codes/s |")
    print("|" + "---:|" * 4)
    for bits, radius in RADIUS.items():
        print(stream(bits, radius), flush=True)


def row(bits: int, radius: int, centres: Words) -> str:
    """One line of the table: the same codes, all within the radius of a centre, asked of all three."""
    count = len(centres)
    register = CodeRegister(bits, radius, [str(i) for i in range(count)], centres)
    codes = near(centres, bits, radius, min(CODES, max(64, PAIRS // count)) if bits > 16 else CODES)
    theirs = faiss.IndexBinaryFlat(-(-bits // 8) * 8)
    theirs.add(octets(centres, bits))
    asked = octets(codes[: max(64, min(len(codes), PAIRS // count))], bits)
    single = seconds(lambda: [register.match(code) for code in codes[:50]]) / 50
    single_faiss = seconds(lambda: [theirs.search(code[None], 2) for code in asked[:50]]) / 50
    batch = len(codes) / seconds(lambda: register.assign_many(codes))
    batch_faiss = len(asked) / seconds(lambda: theirs.search(asked, 2))
    few = codes[: max(1, 20_000 // count)]
    loop = len(few) / seconds(lambda: plain_loop(lists(centres, bits), lists(few, bits), radius), once=True)
    cells: list[Any] = [bits, radius, f"{count:,}", f"{single * 1e6:.1f}", f"{single_faiss * 1e6:.1f}"]
    cells += [
        f"{batch:,.0f}",
        f"{batch_faiss:,.0f}",
        f"{batch / batch_faiss:.1f}",
        f"{loop:,.1f}",
        f"{batch / loop:,.0f}",
    ]
    return f"| {' | '.join(map(str, cells))} |"


def stream(bits: int, radius: int) -> str:
    codes = near(make_centres(bits, radius, TRUE), bits, radius // 2, STREAM)
    founded = 0

    def run() -> None:
        nonlocal founded
        register = CodeRegister(bits, radius)
        register.assign_many(codes)
        founded = len(register)

    took = seconds(run)
    return f"| {bits} | {len(codes):,} | {founded:,} | {len(codes) / took:,.0f} |"


def plain_loop(centres: list[list[int]], codes: list[list[int]], radius: int) -> list[int]:
    """As the released code does it: an exact match first, else the smallest of a list of distances."""
    answers = []
    for code in codes:
        if code in centres:
            answers.append(centres.index(code))
            continue
        distances = [sum(a != b for a, b in zip(code, centre, strict=True)) for centre in centres]
        nearest = min(distances)
        answers.append(distances.index(nearest) if nearest <= radius else -1)
    return answers


def make_centres(bits: int, radius: int, count: int) -> Words:
    """Centres founded by a stream, hence apart, where that is quick; drawn at random above 16 bits."""
    rng = np.random.default_rng(0)
    if bits <= 16:
        register = CodeRegister(bits, radius)
        for code in rng.permutation(1 << bits).astype(np.uint64)[:, None]:
            if len(register) == count:
                break
            register.assign(code)
        return register.centres
    count = min(count, packing_limit(bits, radius + 1))
    return pack(rng.integers(0, 2, size=(count, bits), dtype=np.int8))


def near(centres: Words, bits: int, radius: int, count: int) -> Words:
    """Codes within the radius of random centres."""
    rng = np.random.default_rng(1)
    codes = centres[rng.integers(0, len(centres), count)]
    for _ in range(radius):
        place = rng.integers(0, bits, count)
        codes[np.arange(count), place // 64] ^= np.uint64(1) << (place % 64).astype(np.uint64)
    assert (hamming(codes[:1], centres).min(0) <= radius).any()
    return codes


def octets(codes: Words, bits: int) -> Any:
    """Codes as faiss wants them: whole bytes."""
    return np.ascontiguousarray(codes.view(np.uint8)[:, : -(-bits // 8)])


def lists(codes: Words, bits: int) -> list[list[int]]:
    rows: list[list[int]] = unpack(codes, bits).tolist()
    return rows


def seconds(work: Callable[[], Any], once: bool = False) -> float:
    """The best of three runs, or of one."""
    best = float("inf")
    for _ in range(1 if once else 3):
        began = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - began)
    return best


if __name__ == "__main__":
    main()
