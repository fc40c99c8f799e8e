"""How many categories a register may hold: what people say is certain, and undoing it takes that back."""

from __future__ import annotations

from pathlib import Path

from tiny_store import discover, new_store

from firstsight.core.number import Number
from firstsight.store.number import number_of_categories


def test_what_a_person_confirms_is_certain(tmp_path: Path) -> None:
    """Three images of one thing and one of another: the second is a guess until someone says that it is none."""
    with new_store(tmp_path / "r.db") as store:
        answers = discover(store, 0b00001111, 0b00001111, 0b00001111, 0b00111000)
        assert [answer.category for answer in answers] == ["new-1", "new-1", "new-1", "new-2"]
        assert number_of_categories(store.view()) == Number(certain=2, more=1)
        (image,) = store.view().images("new-2")
        confirmed = store.confirm([image])
        assert number_of_categories(store.view()) == Number(certain=3, more=1)
        store.undo(confirmed.number)
        assert number_of_categories(store.view()) == Number(certain=2, more=1)
