"""The page of an evaluation: how right each category was, what was taken for what, and the pictures that went wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from firstsight.core.errors import ImageError
from firstsight.core.protocols import Progress, Silent
from firstsight.data.ahead import ahead, or_error
from firstsight.data.images import ImageLike
from firstsight.evaluate.details import CategoryScore, Details, Wrong
from firstsight.evaluate.stream import Evaluation
from firstsight.pages.render import render
from firstsight.pages.thumbnails import WINDOW, square

PAIRS = 40  # of categories, one taken for the other, that are shown with pictures
EACH = 18  # pictures of a pair
TYPICAL = 4  # pictures of what they were taken for
TOO_MANY = "a category too many"
LARGEST = 640  # pixels of a confusion matrix
LABELLED = 60  # categories whose names stand beside it


@dataclass(frozen=True)
class Shown:
    """A picture, and in how many orders it went wrong."""

    name: str
    picture: bytes | None
    wrong: int = 0
    orders: int = 0


@dataclass(frozen=True)
class Mistaken:
    """Images of a category that were mostly taken for another, and some of that one."""

    truth: str
    taken_for: str
    images: int
    pictures: tuple[Shown, ...]
    typical: tuple[Shown, ...]


@dataclass(frozen=True)
class Confusion:
    """What was taken for what, as squares of a matrix: row, column, share of the row, and in words."""

    names: tuple[str, ...]
    cells: tuple[tuple[int, int, float, str], ...]
    side: int  # of a square, in pixels
    labelled: bool


def evaluation_page(
    result: Evaluation, images: Sequence[ImageLike], truth: Sequence[str], progress: Progress | None = None
) -> bytes:
    """The page. `images` are those of the stream, in the order they are listed, `truth` what they show."""
    assert result.details is not None
    closed = next(each for each in result.rows if each.name == "closed-set")
    return render(
        "evaluation.html.j2",
        result=result,
        headline=result.rows[0],
        closed=closed,
        categories=result.details.categories,
        confusion=confusion(result.details.categories),
        mistaken=_mistaken(result.details, images, truth, progress or Silent()),
        often=sum(_often(each) for each in result.details.wrong),
        too_many=TOO_MANY,
    )


def confusion(categories: Sequence[CategoryScore]) -> Confusion:
    """Known categories first, each by name; the last column is for categories too many."""
    order = sorted(categories, key=lambda each: (not each.known, each.name))
    column: dict[str | None, int] = {each.name: i for i, each in enumerate(order)}
    cells = []
    for i, each in enumerate(order):
        taken = [(each.name, each.accuracy * each.images), *((one.category, one.images) for one in each.taken_for)]
        for name, images in taken:
            share = images / each.images
            words = f"{each.name}: {share:.0%} taken for {name or TOO_MANY}"
            if share > 0:
                cells.append((i, column.get(name, len(order)), share, words))
    side = max(3, min(18, LARGEST // (len(order) + 1)))
    return Confusion(tuple(each.name for each in order), tuple(cells), side, len(order) <= LABELLED)


def _often(each: Wrong) -> bool:
    """Whether it went wrong in half of the orders at least."""
    return 2 * each.wrong >= each.orders


def _mistaken(
    details: Details, images: Sequence[ImageLike], truth: Sequence[str], progress: Progress
) -> list[Mistaken]:
    """Pairs of categories, the most frequent first, with images that often went wrong so."""
    pairs: dict[tuple[str, str | None], list[Wrong]] = {}
    for each in filter(_often, details.wrong):
        pairs.setdefault((each.truth, each.taken_for), []).append(each)
    most = sorted(pairs.items(), key=lambda pair: -len(pair[1]))[:PAIRS]
    failed = {each.index for each in details.wrong}
    right: dict[str, list[int]] = {}
    for i, name in enumerate(truth):
        if i not in failed:
            right.setdefault(name, []).append(i)
    typical = {name: right.get(name or "", [])[:TYPICAL] for (_, name), _ in most}
    wanted = [each.index for _, some in most for each in some[:EACH]] + [i for some in typical.values() for i in some]
    pictures = _pictures({i: images[i] for i in wanted}, progress)
    return [
        Mistaken(
            truth=name,
            taken_for=other or TOO_MANY,
            images=len(some),
            pictures=tuple(Shown(each.image, pictures[each.index], each.wrong, each.orders) for each in some[:EACH]),
            typical=tuple(Shown(other or "", pictures[i]) for i in typical[other]),
        )
        for (name, other), some in most
    ]


def _pictures(images: dict[int, ImageLike], progress: Progress) -> dict[int, bytes | None]:
    found: dict[int, bytes | None] = {}
    with progress.task("thumbnails", len(images)) as advance:
        made = ahead(or_error(square), images.values(), window=WINDOW)
        for i, picture in zip(images, made, strict=True):
            found[i] = None if isinstance(picture, ImageError) else picture
            advance()
    return found
