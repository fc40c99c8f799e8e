"""How probably something is wrong, and how many clicks it takes to put it right.

The figures come from streams simulated on the support sets of CUB and Pets; `reproductions/review.py` says how well
they hold. An answer's confidence is honest by itself. It cannot know that its category stayed small, that the register
has other thoughts by now, or that two categories are much alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from math import exp, log

from firstsight.evidence.review_items import Worth
from firstsight.store.splits import SplitSuggestion
from firstsight.store.suggest import Suggestion

UNTOLD = 0.5  # how sure a register is that cannot tell
OFFERED = 0.75  # of wrong answers, those whose right one is among the categories that a question offers
TENTATIVE = (0.87, 0.73)  # of the images of new categories of one image, and of two, those that are wrong there
MILD = 0.2  # of a log Bayes factor, what is believed
UNWEIGHED = 0.25  # of pairs whose centres are the same, those that are one, where a register cannot weigh them
AGAIN = 0.87  # of the images that would be answered otherwise by now, those that are wrong where they are
SPLIT, SEEN = 0.6, 0.2  # of the images that a proposed split takes off, those that are then right; after people looked


def unsure(sure: float) -> Worth:
    """An image of which the rule was so sure."""
    return Worth(1 - sure, 1 + _chosen(1 - sure))


def elsewhere(sure: Sequence[float]) -> Worth:
    """Images that would go elsewhere now, with how sure the rule is of that. Those that would not be right there stay
    to be placed one by one."""
    put_right = AGAIN * len(sure)
    others = [max(0.0, AGAIN - each) for each in sure]  # wrong in either
    if len(sure) == 1:
        return Worth(put_right, 1 + _chosen(others[0]))
    return Worth(put_right, 1 + sum(1 - AGAIN + each + _chosen(each) for each in others))


def tentative(images: int) -> Worth:
    """A new category of so few images: most are part of another, and two images often of two."""
    chance = TENTATIVE[min(images, len(TENTATIVE)) - 1]
    return Worth(images * chance, images * (1 + _chosen(chance)))


def shares(merges: Sequence[Suggestion], weighed: bool) -> list[float]:
    """How probable each pair is among all that its smaller category is in, and that it is one of its own.

    By the log Bayes factors, which are too sure of themselves by far; other scores are not more than a rank.
    """
    if not weighed:
        return [UNWEIGHED * min(1.0, each.score) for each in merges]
    weights = [exp(min(MILD * each.score, 500.0)) for each in merges]
    total: defaultdict[str, float] = defaultdict(lambda: exp(1.0))
    for each, weight in zip(merges, weights, strict=True):
        total[each.category] += weight
    return [weight / total[each.category] for each, weight in zip(merges, weights, strict=True)]


def is_one(share: float, images: int, into_known: bool) -> float:
    """How probably a category of so many images is part of another: the larger it is the less, most of all of a known
    one, whose images the rule would have told."""
    size = log(max(images, 1))
    log_odds = 1.5 + 1.4 * log(max(share, 1e-9)) - (2.9 if into_known else 1.4) * size
    return 1 / (1 + exp(-log_odds))


def merge(chance: float, images: int) -> Worth:
    """A category of so many images that is part of another with this probability."""
    return Worth(chance * images, 1.0)


def split(found: SplitSuggestion, seen: bool) -> Worth:
    """The smaller part of a category that may hold two things; `seen` where a person placed some of its images."""
    share = SEEN if seen else SPLIT
    return Worth(share * len(found.images), 1 + _chosen(share))


def _chosen(chance: float) -> float:
    """Clicks more, where a category that is not offered has to be chosen."""
    return (1 - OFFERED) * chance
