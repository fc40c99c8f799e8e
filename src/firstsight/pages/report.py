"""The page about one labelled stream: how right the answers were, and what every category holds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from firstsight.data.images import thumbnail
from firstsight.evaluate.stream import Answered, Evaluation
from firstsight.pages.render import render

WALL = 20  # pictures shown of one category
POINTS = 200  # of a line in a chart, however long the stream


@dataclass(frozen=True)
class Picture:
    """An image as the page shows it; a stranger is not what its category stands for."""

    jpeg: bytes
    truth: str
    stranger: bool


@dataclass(frozen=True)
class Wall:
    """A category with some of its images."""

    name: str
    images: int
    main: str  # what it stands for or, where it is new, mostly holds
    of_main: int
    pictures: list[Picture]


def report_page(result: Evaluation, stream: Sequence[Answered], known: Sequence[str], made_by: Sequence[str]) -> bytes:
    """The page. `known` are the categories the model was taught; `made_by` are lines that say how it was made."""
    headline, closed = result.rows[0], next(each for each in result.rows if each.name == "closed-set")
    found = len(known) + np.cumsum([each.answer.created for each in stream])
    so_far: set[str] = set(known)
    real = [len(so_far := so_far | {each.truth}) for each in stream]
    some = np.unique(np.linspace(0, len(stream) - 1, POINTS).round().astype(int))
    return render(
        "report.html.j2",
        result=result,
        headline=headline,
        closed=closed,
        courses=[
            ("truth", "without discovering", [100 * part for part in closed.course]),
            ("found", headline.name, [100 * part for part in headline.course]),
        ],
        taught=len(known),
        more=len({each.truth for each in stream} - set(known)),
        born=sum(each.answer.created for each in stream),
        made_by=made_by,
        found=found[some].tolist(),
        real=[real[i] for i in some],
        new=_walls(stream, new=True),
        known=_walls(stream, new=False),
    )


def _walls(stream: Sequence[Answered], new: bool) -> list[Wall]:
    """The categories that answered: new ones as they were registered, known ones by name."""
    groups: dict[str, list[Answered]] = {}
    for each in stream:
        if each.answer.is_new == new:
            groups.setdefault(str(each.answer.category), []).append(each)
    return [_wall(name, groups[name], new) for name in (groups if new else sorted(groups))]


def _wall(name: str, members: list[Answered], new: bool) -> Wall:
    counts = Counter(each.truth for each in members)
    main = counts.most_common(1)[0][0] if new else name
    pictures = [Picture(thumbnail(each.image), each.truth, each.truth != main) for each in members[:WALL]]
    return Wall(name, len(members), main, counts[main], pictures)
