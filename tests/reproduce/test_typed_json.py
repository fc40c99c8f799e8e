"""JSON into dataclasses: what fits, and how what does not is named."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import isnan
from typing import Any

import pytest

from firstsight.reproduce.typed_json import FieldError, from_json


@dataclass(frozen=True)
class Leaf:
    share: float
    count: int | None = None


@dataclass(frozen=True)
class Tree:
    name: str
    leaves: list[Leaf]
    pairs: tuple[tuple[str, float], ...] = ()
    by_name: dict[str, Leaf] = field(default_factory=dict)
    setting: bool | int | float | str | None = None


def test_every_part_is_read_as_its_type() -> None:
    given: dict[str, Any] = {"name": "oak", "leaves": [{"share": 1, "count": 3}, {"share": None}]}
    given |= {"pairs": [["a", 1], ["b", 0.5]], "by_name": {"x": {"share": 0.25}}, "setting": True}
    tree = from_json(Tree, given)
    assert tree.leaves[0] == Leaf(1.0, 3)
    assert isinstance(tree.leaves[0].share, float)
    assert isnan(tree.leaves[1].share)  # null: not there to be measured
    assert tree.pairs == (("a", 1.0), ("b", 0.5))
    assert tree.by_name == {"x": Leaf(0.25)}
    assert tree.setting is True


@pytest.mark.parametrize("value", [True, 3, 0.5, "nearest", None])
def test_a_setting_keeps_its_type(value: Any) -> None:
    found = from_json(Tree, {"name": "", "leaves": [], "setting": value}).setting
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([], "it is []; expected an object"),
        ({"leaves": []}, "name is missing"),
        ({"name": 3, "leaves": []}, "name is 3; expected text"),
        ({"name": "", "leaves": {}}, "leaves is {}; expected a list"),
        ({"name": "", "leaves": [{"share": "1"}]}, "leaves[0].share is '1'; expected a number"),
        ({"name": "", "leaves": [{"share": True}]}, "leaves[0].share is True; expected a number"),
        ({"name": "", "leaves": [{"share": 1, "count": 1.5}]}, "leaves[0].count is 1.5; expected a whole number"),
        ({"name": "", "leaves": [], "pairs": [["a"]]}, "pairs[0] has 1 parts instead of 2"),
        ({"name": "", "leaves": [], "by_name": {"x": {}}}, "by_name.x.share is missing"),
        ({"name": "", "leaves": [], "setting": [1]}, "setting is [1]; expected text"),
        ({"name": "", "leaves": [], "age": 1}, "age is no field; there are: name, leaves, pairs, by_name, setting"),
    ],
)
def test_what_does_not_fit_is_named(given: Any, said: str) -> None:
    with pytest.raises(FieldError) as caught:
        from_json(Tree, given)
    assert str(caught.value) == said


def test_a_long_value_is_cut_short() -> None:
    with pytest.raises(FieldError) as caught:
        from_json(Tree, {"name": list(range(1000)), "leaves": []})
    assert len(str(caught.value)) < 80
