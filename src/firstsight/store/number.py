"""How many categories there are in what a register has seen: those that are certain, and an estimate of the others."""

from __future__ import annotations

from firstsight.core.number import Number, estimate
from firstsight.store.view import View
from firstsight.store.views import summaries


def number_of_categories(view: View) -> Number:
    """Known categories and those a person put images into are certain; the others are told by their sizes."""
    found = summaries(view)
    certain = [each for each in found if each.known or each.placed]
    others = [each.images for each in found if not each.known and not each.placed]
    return estimate(view.register, others, len(certain), sum(each.images for each in certain))
