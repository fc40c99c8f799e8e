"""Pairs of categories that may be the same, with the reason.

Two signs speak for it: their centres are hardly farther apart than one ball reaches, and images of one lay within the
radius of the other too. A register that can weighs it instead: the Bayes factor of one category against two. Two
known categories are never suggested: whoever taught them said they differ. Nor is a pair
whose merge a person took back.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from firstsight.core.odds import times
from firstsight.core.protocols import WeighsPairs
from firstsight.core.threads import one_thread
from firstsight.store.events import Assigned, Merged
from firstsight.store.view import View

NEIGHBOURS = 8  # of every centre, itself among them


@dataclass(frozen=True)
class Suggestion:
    """Merge `category` into `into`? The smaller into the larger, a new one into a known one."""

    category: str
    into: str
    score: float
    reason: str


@one_thread()
def suggest(view: View, limit: int = 20) -> list[Suggestion]:
    """The likeliest pairs first. Nobody has to wait meanwhile."""
    catalogue, register = view.catalogue, view.register
    sizes = Counter(catalogue.order[i] for i in catalogue.columns()[1].tolist())
    if isinstance(register, WeighsPairs):
        return _by_weight(view, register, sizes)[:limit]
    shared = _between(view)
    apart = _centre_distances(view)
    suggestions = []
    for pair in (shared.keys() | apart.keys()) - _rejected(view):
        one, other = sorted(pair)
        if catalogue.categories[one].known and catalogue.categories[other].known:
            continue
        share = shared[pair] / max(1, min(sizes[one], sizes[other]))
        nearness = _nearness(apart[pair], catalogue.radius) if pair in apart else 0.0
        reason = _reason(view, pair, shared, apart)
        suggestions.append(Suggestion(*_smaller_first(view, pair, sizes), share + nearness, reason))
    return sorted(suggestions, key=lambda s: (-s.score, s.category))[:limit]


def _by_weight(view: View, register: WeighsPairs, sizes: Counter[str]) -> list[Suggestion]:
    rejected, suggestions = _rejected(view), []
    for one, other, factor in register.alike():
        pair = frozenset((one, other))
        held = [view.catalogue.categories[id] for id in pair]
        parted = any(c.by_person and not c.known for c in held)  # split off; one for labelled images was not
        if pair not in rejected and not parted and not all(c.known for c in held):
            reason = f"{times(factor)} as probable as one category than as two"
            suggestions.append(Suggestion(*_smaller_first(view, pair, sizes), factor, reason))
    return sorted(suggestions, key=lambda s: (-s.score, s.category))


def _smaller_first(view: View, pair: frozenset[str], sizes: Counter[str]) -> tuple[str, str]:
    """What to merge into what: the smaller into the larger, a new one into a known one."""
    one, other = sorted(pair)
    known = [view.catalogue.categories[id].known for id in (one, other)]
    return (other, one) if (known[0], sizes[one]) >= (known[1], sizes[other]) else (one, other)


def _between(view: View) -> Counter[frozenset[str]]:
    """How many images of either category lay within the radius of the other as well."""
    found: Counter[frozenset[str]] = Counter()
    catalogue = view.catalogue
    for recorded in view.events():
        event = recorded.event
        if not isinstance(event, Assigned) or event.runner_up is None or not catalogue.has_image(recorded.number):
            continue
        if event.runner_up_distance is not None and event.runner_up_distance <= event.radius:
            pair = frozenset((catalogue.category_of(recorded.number), catalogue.resolve(event.runner_up)))
            if len(pair) == 2 and not any(catalogue.categories[id].gone for id in pair):
                found[pair] += 1
    return found


def _centre_distances(view: View) -> dict[frozenset[str], float]:
    """How far apart the nearest centres of two categories are, up to one and a half times the radius.

    Where distances are counted, one more than the radius is near in any case.
    """
    nearest: dict[frozenset[str], float] = {}
    register, radius = view.register, view.catalogue.radius
    for feature, category, _ in view.catalogue.centres():
        for candidate in register.neighbours(register.feature_from(feature), radius + max(1, radius / 2), NEIGHBOURS):
            pair = frozenset((category, candidate.category))
            near = candidate.distance <= radius + max(_step(candidate.distance), radius / 2)
            if len(pair) == 2 and near and candidate.distance < nearest.get(pair, float("inf")):
                nearest[pair] = candidate.distance
    return nearest


def _nearness(distance: float, radius: float) -> float:
    """1 for the same centre, 0 where two balls no longer touch."""
    touching = 2 * radius + _step(distance)
    return 1 - distance / touching if touching else 1.0


def _step(distance: float) -> int:
    """Distances that are counted differ by 1 at least, measured ones by anything."""
    return 1 if isinstance(distance, int) else 0


def _rejected(view: View) -> set[frozenset[str]]:
    """Pairs a person merged and parted again."""
    catalogue = view.catalogue
    merges = [e for e in view.edits() if isinstance(e.event, Merged) and e.number in catalogue.undone]
    pairs = (frozenset((e.event.category, e.event.into)) for e in merges if isinstance(e.event, Merged))
    return {frozenset(catalogue.resolve(id) for id in pair) for pair in pairs}


def _reason(
    view: View, pair: frozenset[str], shared: Counter[frozenset[str]], apart: dict[frozenset[str], float]
) -> str:
    said = []
    if pair in apart:
        said.append(f"centres {apart[pair]:g} apart, radius {view.catalogue.radius:g}")
    if shared[pair]:
        plural = "image" if shared[pair] == 1 else "images"
        said.append(f"{shared[pair]} {plural} within the radius of both")
    return "; ".join(said)
