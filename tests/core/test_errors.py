"""Errors by kind: what a service tells apart, and what a command line words."""

from __future__ import annotations

import pickle

import pytest

from firstsight.cli.remedies import REMEDIES, remedy
from firstsight.core.errors import (
    BadRequest,
    Conflict,
    Damaged,
    Incompatible,
    Locked,
    NotFound,
    ReadOnly,
    StoreError,
)

KINDS = (BadRequest, Conflict, Damaged, Incompatible, Locked, NotFound, ReadOnly)


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_an_error_of_a_store_and_survives_a_process(kind: type[StoreError]) -> None:
    error = kind("moths.db is so", "do that", hint="model", log="moths.db")
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), again.what, again.remedy, again.hint, again.facts) == (
        kind,
        "moths.db is so",
        "do that",
        "model",
        {"log": "moths.db"},
    )
    assert again.exit_code == 8


def test_a_hint_is_worded_by_whoever_shows_it() -> None:
    assert "firstsight categories moths.db reencode" in remedy(Incompatible("x", "y", hint="model", log="moths.db"))
    assert remedy(Conflict("x", "y")) == "y"
    assert all(text.format(number=1, log="a.db", id="new-1", image=2) for text in REMEDIES.values())
