"""Odds for people: how many times as probable one thing is as another."""

from __future__ import annotations

from math import exp

MOST = 16.1  # the log of ten million, above which a figure says no more


def times(log_odds: float) -> str:
    """
    >>> times(0.3), times(2), times(7.3), times(114.3)
    ('1.3 times', '7.4 times', '1,500 times', 'over ten million times')
    """
    if log_odds > MOST:
        return "over ten million times"
    factor = exp(log_odds)
    return f"{factor:.2g} times" if factor < 10 else f"{float(f'{factor:.2g}'):,.0f} times"
