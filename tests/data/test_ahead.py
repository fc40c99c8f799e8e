"""Working ahead: order, bounds, and errors."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from firstsight.data.ahead import ahead


def test_results_come_in_order() -> None:
    assert list(ahead(lambda x: x * x, range(50), window=8)) == [x * x for x in range(50)]


def test_no_more_than_the_window_is_taken_in_advance() -> None:
    taken = []

    def source() -> Iterator[int]:
        for i in range(100):
            taken.append(i)
            yield i

    results = ahead(lambda x: x, source(), window=5)
    assert next(results) == 0
    assert len(taken) <= 6


def test_an_error_reaches_the_consumer() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda x: 1 // x, [1, 0], window=2))
