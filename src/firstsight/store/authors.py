"""Who says something: the register's rule, the rule once more by hindsight, or a person, with a name where given."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

from firstsight.core.errors import BadRequest

LONGEST_NAME = 200


class Author(NamedTuple):
    """`kind` is "rule", "hindsight" or "person"; only people have names."""

    kind: str
    name: str = ""

    def __str__(self) -> str:
        """As events keep it: `person`, or `person Ann`."""
        return f"{self.kind} {self.name}".rstrip()

    @classmethod
    def of(cls, text: str) -> Author:
        """Whom an event means."""
        kind, _, name = text.partition(" ")
        return cls(kind, name)

    @property
    def in_words(self) -> str:
        """As people are told: a person by name, where one was given."""
        return {"rule": "the rule", "person": self.name or "a person"}.get(self.kind, self.kind)


RULE, HINDSIGHT, PERSON = Author("rule"), Author("hindsight"), Author("person")

By: TypeAlias = Author | str | None  # who edits: a person, by name, without one, or an author that is none


def author(by: By) -> Author:
    """Whoever edits; BadRequest where a name cannot be shown."""
    if isinstance(by, Author):
        return by
    name = "" if by is None else " ".join(by.split())
    if len(name) > LONGEST_NAME or not name.isprintable():
        raise BadRequest(f"{name[:40]!r} cannot be a name", f"at most {LONGEST_NAME} characters that can be printed")
    return Author("person", name)
