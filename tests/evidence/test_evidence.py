"""Evidence by hand, without a model: codes, unsure bits, and JSON as it is documented."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np

from firstsight._version import __version__
from firstsight.cli.explain import drawn
from firstsight.core.assignments import Assignment, Candidate
from firstsight.evidence.evidence import FORMAT, Evidence, Near, Similar, Sum

DOCS = Path(__file__).parents[2] / "docs" / "explanations.md"
NEAR = Near("bee", False, 2, False, (1, 4))
FOUND = Evidence(
    image="a.jpg",
    pixels=np.zeros((8, 8, 3), dtype=np.uint8),
    answer=Assignment("ant", False, False, 1, 1, Candidate("bee", 2)),
    sentence="ant: 1 bit from its centre.",
    kind="prototypes",
    similar=(Similar("ant", 1, 1.23456), Similar("bee", 2, 0.5)),
    sums=(Sum("ant", 1, 1.23456), Sum("bee", 1, 0.5)),
    near=(Near("ant", False, 1, True, (3,)), NEAR),
    values=(0.1, -0.5, 0.02, 0.4),
    looked=np.array([[0, 1], [0.5, 0]], dtype=np.float32),
    closer=(0.25, 0.5, 0.5),
)


def test_codes_of_the_image_and_of_centres() -> None:
    assert FOUND.code == "1011"
    assert [FOUND.centre_code(each) for each in FOUND.near] == ["1001", "0010"]


def test_a_bit_is_unsure_below_a_quarter_of_the_median() -> None:
    """Of 0.02, 0.1, 0.4 and 0.5 the upper median is 0.4."""
    assert [FOUND.is_unsure(bit) for bit in (1, 2, 3, 4)] == [False, False, True, False]
    assert FOUND.most_unsure(NEAR) == [1, 4]
    assert FOUND.most_unsure(NEAR, count=1) == [1]


def test_json_holds_everything_but_pictures() -> None:
    content = json.loads(drawn([FOUND, FOUND], ".json"))
    assert (content["format"], content["firstsight"], len(content["images"])) == (FORMAT, __version__, 2)
    found = content["images"][0]
    assert (found["category"], found["distance"], found["code"]) == ("ant", 1, "1011")
    assert found["similar"][0] == {"category": "ant", "number": 1, "similarity": 1.2346}
    assert found["near"][1]["differing"][1] == {"bit": 4, "value": 0.4, "unsure": False}
    assert found["looked"] == [[0, 1], [0.5, 0]]
    assert found["closer"] == {"left": 0.25, "top": 0.5, "side": 0.5}


def test_every_field_of_the_json_is_documented() -> None:
    table = DOCS.read_text().partition("## The JSON")[2]
    first_cells = re.findall(r"^\| (`.*?) \|", table, flags=re.MULTILINE)
    documented = [name for cell in first_cells for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(documented) == sorted(FOUND.as_dict())
