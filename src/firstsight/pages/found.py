"""The page of a register: every category with its images, and what a person may want to merge or split.

What a category, an image or a suggestion is shown by are plain values here and macros in `register.html.j2`; a service
shows the same, with addresses of its own for pictures.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from shlex import quote
from typing import TypeAlias

from firstsight.core.protocols import Progress, Silent
from firstsight.data.thumbnails import LARGE, SIDE
from firstsight.evidence.overview import Found, Overview
from firstsight.evidence.words import day, how_sure
from firstsight.model.model import Model
from firstsight.pages.render import data_uri, render
from firstsight.pages.thumbnails import FRAME, Picture, thumbnails
from firstsight.store.authors import RULE, Author
from firstsight.store.originals import NO_FILE, Originals
from firstsight.store.pictures import file_name
from firstsight.store.splits import SplitSuggestion
from firstsight.store.suggest import Suggestion
from firstsight.store.views import Member

AT_ONCE = 24  # images of a category that are shown before it is unfolded
EACH = 6  # images of a category in a suggestion, and of support images

# the address of an image's picture at a size, or why there is none
Address: TypeAlias = Callable[[Member, int], "tuple[str | None, str]"]


@dataclass(frozen=True)
class ImageCard:
    """An image as pages show it."""

    number: int | None  # none for a support image, which no register keeps
    src: str | None
    why: str  # there is no picture
    file: str
    source: str
    note: str  # how sure it was, or who says so
    unsure: bool = False
    frame: str | None = None  # the address of the frame it is a part of, for one that stands for its category


@dataclass(frozen=True)
class CategoryCard:
    """A category as pages show it. `kind` is known, new or tentative."""

    id: str
    name: str
    kind: str
    images: int
    placed: int
    merged: tuple[str, ...]
    seen: str  # from when to when
    taken: str  # likewise, by the cameras' clocks
    nearest: tuple[str, str, int] | None  # id, name, images for which it came next
    founder: ImageCard | None
    support: tuple[ImageCard, ...]
    unsure: tuple[ImageCard, ...]
    others: tuple[ImageCard, ...]

    @property
    def is_new(self) -> bool:
        return self.kind != "known"

    @property
    def own(self) -> tuple[ImageCard, ...]:
        """All its images: the founder, then those that are sure."""
        return ((self.founder,) if self.founder else ()) + self.others + self.unsure

    @property
    def few(self) -> tuple[ImageCard, ...]:
        """Some of its images: what it looks like."""
        return (self.own + self.support)[:EACH]


@dataclass(frozen=True)
class MergeCard:
    """Two categories that may be one, and how to say so."""

    category: CategoryCard
    into: CategoryCard
    reason: str
    command: str


@dataclass(frozen=True)
class SplitCard:
    """A category that may be two: its parts, and how to say so."""

    category: CategoryCard
    parts: tuple[tuple[int, tuple[ImageCard, ...]], ...]  # how many images, and some of them
    reason: str
    command: str
    sure: str = ""  # how often such a split was right, where that was tried


def found_page(found: Overview, model: Model | None = None, progress: Progress | None = None) -> bytes:
    """One page that holds everything, pictures too. With its model, known categories have pictures of their own."""
    large = {each.founder.image for each in found.categories if each.founder}
    everyone = [each for category in found.categories for each in category.images]
    wanted = [(each, LARGE if each.image in large else SIDE) for each in everyone]
    wanted += [(each, FRAME) for each in everyone if each.image in large and each.box]
    pictures = thumbnails(wanted, Originals(found.pictures), progress or Silent(), len(wanted))
    missing = [each.why for (_, side), each in pictures.items() if side != FRAME and each.content is None]
    features = missing.count(NO_FILE)
    support = {} if model is None else support_cards(model)
    cards = category_cards(found, _inside(pictures), support)
    by_id = {each.id: each for each in cards}
    return render(
        "found.html.j2",
        name=found.name,
        images=len(everyone),
        number=found.number,
        missing=len(missing) - features,
        features=features,
        at_once=AT_ONCE,
        merges=[merge_card(found.name, each, by_id) for each in found.merges],
        splits=[split_card(found.name, each, by_id[each.category]) for each in found.splits],
        new=sorted((each for each in cards if each.kind == "new"), key=lambda each: -each.images),
        tentative=[each for each in cards if each.kind == "tentative"],
        known=sorted((each for each in cards if each.kind == "known"), key=lambda each: each.name),
    )


def category_cards(
    found: Overview, address: Address, support: Mapping[str, tuple[ImageCard, ...]] | None = None
) -> list[CategoryCard]:
    """All categories; `support` are the support images of known ones, by id."""
    names = {each.summary.id: each.summary.name for each in found.categories}
    return [_category(each, names, address, (support or {}).get(each.summary.id, ())) for each in found.categories]


def merge_card(register: str, suggestion: Suggestion, cards: Mapping[str, CategoryCard]) -> MergeCard:
    command = (
        f"firstsight categories {quote(register)} merge {quote(suggestion.category)} --into {quote(suggestion.into)}"
    )
    return MergeCard(cards[suggestion.category], cards[suggestion.into], suggestion.reason, command)


def split_card(register: str, suggestion: SplitSuggestion, category: CategoryCard) -> SplitCard:
    shown = {each.number: each for each in category.own}
    parts = (suggestion.images, suggestion.rest)
    return SplitCard(
        category=category,
        parts=tuple((len(part), tuple(shown[image] for image in part[:EACH])) for part in parts),
        reason=suggestion.reason,
        command=f"firstsight categories {quote(register)} split --auto {quote(category.id)}",
        sure="" if suggestion.rehearsed is None else suggestion.rehearsed.in_words,
    )


def image_card(each: Member, names: Mapping[str, str], address: Address, unsure: bool, side: int = SIDE) -> ImageCard:
    src, why = address(each, side)
    why = each.source if why == NO_FILE else why  # what came as a feature has a name
    frame = address(each, FRAME)[0] if each.box and side == LARGE else None
    name = file_name(each.source)
    return ImageCard(each.image, src, why, name, each.source, _note(each, names, unsure), unsure, frame)


def support_cards(model: Model) -> dict[str, tuple[ImageCard, ...]]:
    """Some support images of every known category, where a model kept them."""
    found: dict[str, tuple[ImageCard, ...]] = {}
    if (examples := model.examples) is None:
        return found
    for entry in range(len(examples.category)):
        name = model.names[examples.category[entry]]
        card = ImageCard(None, data_uri(examples.picture(entry)), "not kept", "support image", name, "taught")
        found[name] = (*found.get(name, ()), card)[:EACH]
    return found


def _category(each: Found, names: Mapping[str, str], address: Address, support: tuple[ImageCard, ...]) -> CategoryCard:
    summary, founder = each.summary, each.founder

    def cards(some: Iterable[Member], unsure: bool) -> tuple[ImageCard, ...]:
        return tuple(image_card(one, names, address, unsure) for one in some)

    doubtful = sorted((one for one in each.members if one.image in each.unsure), key=_least_sure)
    return CategoryCard(
        id=summary.id,
        name=summary.name,
        kind="known" if summary.known else "tentative" if summary.tentative else "new",
        images=summary.images,
        placed=summary.placed,
        merged=summary.merged,
        seen=seen(each.first_seen, each.last_seen),
        taken=taken(each.images),
        nearest=None if each.nearest is None else (each.nearest, names[each.nearest], each.next_best),
        founder=None if founder is None else image_card(founder, names, address, founder.image in each.unsure, LARGE),
        support=support,
        unsure=cards(doubtful, True),
        others=cards((one for one in each.members if one.image not in each.unsure), False),
    )


def seen(first: str | None, last: str | None) -> str:
    """From when to when, for people; nothing where that is not known.

    >>> seen("2026-06-05T14:02:09Z", "2026-06-05T14:02:30Z")
    'Seen 5 June 2026, 14:02 UTC'
    >>> seen("2026-06-05T14:02:09Z", "2026-06-05T15:30:00Z")
    'Seen 5 June 2026, 14:02 to 15:30 UTC'
    >>> seen("2026-06-05T14:02:09Z", "2026-07-01T15:30:00Z")
    'First seen 5 June 2026, last 1 July 2026'
    """
    if not first or not last:
        return ""
    if day(first) != day(last):
        return f"First seen {day(first)}, last {day(last)}"
    times = dict.fromkeys(each[11:16] for each in (first, last))
    return f"Seen {day(first)}, {' to '.join(times)} UTC"


def taken(images: Sequence[Member]) -> str:
    """From which day to which the photographs are, as far as they say; nothing where none does."""
    days = sorted(each.taken for each in images if each.taken)
    if not days:
        return ""
    first, last = day(days[0]), day(days[-1])
    return f"Photographed {first}" + (f" to {last}" if last != first else "")


def _note(each: Member, names: Mapping[str, str], unsure: bool) -> str:
    if each.author != RULE.kind:
        return f"{Author(each.author, each.author_name).in_words} says so"
    sure = "" if each.confidence is None else how_sure(each.confidence)
    other = f", or {names.get(each.runner_up, each.runner_up)}" if unsure and each.runner_up else ""
    return f"{sure}{other}"


def _least_sure(each: Member) -> float:
    return 1.0 if each.confidence is None else each.confidence


def _inside(pictures: Mapping[tuple[int, int], Picture]) -> Address:
    """Pictures in the page itself."""

    def address(each: Member, side: int) -> tuple[str | None, str]:
        picture = pictures[each.image, side]
        return data_uri(picture.content), picture.why

    return address
