"""Bursts: images that one camera took within seconds of each other, one after the other in the stream.

Two parts of one frame are no burst: they are two animals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import PurePath
from typing import TypeVar

from firstsight.core.sightings import Sighting, moment

LONGEST = 200  # images of a burst that are decided together: a camera may never stop

Item = TypeVar("Item")


def same_burst(one: Sighting, its: str, other: Sighting, others: str, gap: float) -> bool:
    """Whether an image, taken at most so many seconds after another, is of the same burst; `its` source first."""
    first, second = moment(one.taken), moment(other.taken)
    if first is None or second is None or its == others:
        return False
    by_one_camera = (one.camera, one.serial, PurePath(its).parent) == (
        other.camera,
        other.serial,
        PurePath(others).parent,
    )
    return by_one_camera and abs((second - first).total_seconds()) <= gap


def runs(items: Sequence[Item], together: Callable[[Item, Item], bool]) -> list[list[int]]:
    """The positions of items that belong together, in turn: every two neighbours of a run do."""
    found: list[list[int]] = []
    for i, item in enumerate(items):
        if found and len(found[-1]) < LONGEST and together(items[i - 1], item):
            found[-1].append(i)
        else:
            found.append([i])
    return found


def whole(groups: Iterable[list[Item]], together: Callable[[Item, Item], bool]) -> Iterator[list[Item]]:
    """The same items in groups that end where a run does: the last run of a group waits for the next group."""
    held: list[Item] = []
    for group in groups:
        group = held + group
        start = runs(group, together)[-1][0] if group else 0
        if len(group) - start >= LONGEST:
            start = len(group)
        held = group[start:]
        if start:
            yield group[:start]
    if held:
        yield held
