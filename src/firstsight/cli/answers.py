"""The answers of `firstsight discover` as they are printed and counted."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict
from math import isinf
from typing import TYPE_CHECKING, Any

import typer

from firstsight.cli.console import printable, say, warn
from firstsight.core.errors import ImageError

if TYPE_CHECKING:
    from firstsight.core.assignments import Assignment
    from firstsight.store.empties import Kept
    from firstsight.store.store import Store


class Tally:
    """Prints every answer, keeps its line where that is wanted, and counts."""

    def __init__(self, as_json: bool, unsure_below: float | None) -> None:
        self.as_json, self.unsure_below = as_json, unsure_below
        self.counts: Counter[str] = Counter()
        self.kept_empty: list[int] = []  # the first events of those commands
        self.keep: Callable[[str], None] = lambda line: None

    def take(self, image: object, answer: Assignment | ImageError, store: Store | None) -> None:
        unsure = _is_unsure(answer, self.unsure_below)
        self.counts["unsure"] += unsure
        line = json.dumps(_fields(image, answer) | ({"unsure": unsure} if self.unsure_below is not None else {}))
        self.keep(line)
        if isinstance(answer, ImageError):
            self.counts["bad"] += 1
            warn(f"skipped: {answer.what}")
        elif answer.decided_by in ("record", "discarded"):
            self.counts["again" if answer.decided_by == "record" else "discarded"] += 1
        else:
            self.counts["new" if answer.is_new else "known"] += 1
            self.counts["created"] += answer.created
        if self.as_json:
            print(line, flush=True)
        elif not isinstance(answer, ImageError):
            print(_text(image, answer, store) + ("\tunsure" if unsure else ""), flush=True)

    def take_empty(self, kept: Kept) -> None:
        """Frames with nothing in them were kept, as one command."""
        self.counts["bad"] += len(kept.errors)
        for error in kept.errors:
            warn(f"skipped: {error.what}")
        if kept.recorded:
            self.kept_empty.append(kept.recorded[0].number)
            self.counts["kept empty"] += len(kept.recorded)

    def sum_up(self, register: str | None) -> None:
        """Say what there was in all; exit code 1 where some could not be read."""
        counts = self.counts
        bad = f"; {counts['bad']} could not be read" if counts["bad"] else ""
        again = f"; {counts['again']} there already" if counts["again"] else ""
        junk = f"; {counts['discarded']} discarded before" if counts["discarded"] else ""
        say(f" {counts['known']} images of known categories, {counts['new']} of new ones{again}{junk}{bad}")
        if counts["empty"] or counts["others"]:
            others = f"; {counts['others']} boxes of people or vehicles left out" if counts["others"] else ""
            say(f" {counts['empty']} {'frame is' if counts['empty'] == 1 else 'frames are'} empty{others}")
        if self.kept_empty:
            undo = f"firstsight categories {register} undo {' '.join(map(str, self.kept_empty))}"
            say(f" {counts['kept empty']} empty {_frames(counts['kept empty'])} recorded.  Undo:  {undo}")
        if counts["created"]:
            say(f" {counts['created']} new {'category' if counts['created'] == 1 else 'categories'} registered")
        if counts["unsure"]:
            look = f"firstsight categories {register or 'FILE.db'} unsure --below {self.unsure_below}"
            unsure_ones = "1 answer is" if counts["unsure"] == 1 else f"{counts['unsure']} answers are"
            say(f" {unsure_ones} unsure.  {'Look' if register else 'With --register, look'}:  {look}")
        if register is not None:
            say(f" kept in {register}.  Next:  firstsight categories {register}")
        if bad:
            raise typer.Exit(1)


def _frames(count: int) -> str:
    return "frame" if count == 1 else "frames"


def _text(image: object, answer: Assignment, store: Store | None) -> str:
    if answer.decided_by == "discarded":
        return f"{printable(str(image))}\tdiscarded\tby a person before\timage {answer.image}"
    kind = "new, just registered" if answer.created else "new" if answer.is_new else "known"
    if answer.decided_by == "record":
        kind += ", there already"
    near = "the first" if answer.created else "placed there by a person"
    if answer.distance is not None:
        counted = isinstance(answer.distance, int)
        unit = "" if not counted else " bit" if answer.distance == 1 else " bits"
        reach = "no radius" if isinf(answer.radius) else f"radius {_number(answer.radius)}"
        near = f"{_number(answer.distance)}{unit} away, {reach}"
    if answer.confidence is not None:
        near = f"{answer.confidence:.0%} sure"
    second = answer.runner_up
    at = "" if second is None or answer.confidence is not None else f" at {_number(second.distance)}"
    other = f"next {_called(second.category, store)}{at}" if second else "no other"
    parts = [str(image), answer.name or str(answer.category), kind, near, other]
    if answer.image is not None:
        parts.append(f"image {answer.image}")
    return "\t".join(printable(part) for part in parts)


def _called(category: str, store: Store | None) -> str:
    """A category as people call it."""
    return category if store is None else store.view().name_of(category)


def _is_unsure(answer: Assignment | ImageError, limit: float | None) -> bool:
    if limit is None or isinstance(answer, ImageError) or answer.decided_by != "rule":
        return False
    return answer.confidence is not None and answer.confidence < limit


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.3g}"


def _fields(image: object, answer: Assignment | ImageError) -> dict[str, Any]:
    box = getattr(image, "box", None)
    where = {"image": str(image)} if box is None else {"image": str(getattr(image, "frame", image)), "box": box}
    if isinstance(answer, ImageError):
        return {**where, "error": answer.reason}
    fields = asdict(answer)
    del fields["lesson"]  # the register's own affair
    fields["radius"] = None if isinf(answer.radius) else answer.radius  # JSON has no infinity
    return {**where, "number": fields.pop("image"), **fields}
