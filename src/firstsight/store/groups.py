"""Images answered as a group: which of them are the same, and the numbers their answers get."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from firstsight.core.protocols import Assignment


def repeats(contents: Sequence[bytes], answers: Sequence[Assignment | None]) -> dict[int, int]:
    """Of the images without an answer, those whose content came earlier in the group: its place, and the first's."""
    first: dict[bytes, int] = {}
    again = {}
    for i, (content, answer) in enumerate(zip(contents, answers, strict=True)):
        if answer is None and first.setdefault(content, i) != i:
            again[i] = first[content]
    return again


def numbered(
    answers: Sequence[Assignment | None], numbers: Sequence[int], again: Mapping[int, int]
) -> list[Assignment]:
    """The answers with the numbers of their images; a repeat has the answer and the number of the first."""
    fresh = iter(numbers)
    found: list[Assignment] = []
    for i, answer in enumerate(answers):
        if answer is None:
            found.append(replace(found[again[i]], created=False, decided_by="record"))
        else:
            found.append(answer if answer.decided_by == "record" else replace(answer, image=next(fresh)))
    return found
