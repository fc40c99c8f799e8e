"""Which category a person means by what they typed: by id or name, whatever its capitals, or who else it may be."""

from __future__ import annotations

from difflib import get_close_matches

from firstsight.core.errors import Conflict, NotFound
from firstsight.store.catalogue import Catalogue, Category


def category(catalogue: Catalogue, name: str) -> Category:
    """The category a person means; a merged one stands for what it was merged into."""
    found = category_or_none(catalogue, name)
    if found is None:
        near = " or ".join(map(repr, _near(catalogue, name)))
        remedy, hint = (f"did you mean {near}?", "") if near else ("", "list")
        raise NotFound(f"there is no category {name!r}", remedy, hint)
    return found


def category_or_none(catalogue: Catalogue, name: str) -> Category | None:
    """The same, None where there is none; Conflict where capitals alone do not tell which."""
    found = catalogue.find(name)
    if found is not None:
        return found
    folded = name.strip().casefold()
    called = {c for c in catalogue.categories.values() if not c.gone and folded in (c.name.casefold(), c.id.casefold())}
    meant = {catalogue.resolve(c.id) for c in called}
    if len(meant) > 1:
        raise Conflict(f"{name!r} may be {' or '.join(sorted(repr(c.name) for c in called))}", "type it as one of them")
    return catalogue.categories[meant.pop()] if meant else None


def _near(catalogue: Catalogue, name: str) -> list[str]:
    """The names most like it, capitals aside."""
    names = {n.casefold(): n for c in catalogue.live() for n in (c.id, c.name)}
    return [names[each] for each in get_close_matches(name.casefold(), names, n=3)]
