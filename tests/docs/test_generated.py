"""What `python -m tools.docs` writes is what is committed."""

from __future__ import annotations

import pytest

from drawn import read_svg
from tools.docs.catalogue import FIGURES, GENERATED, PARTS, ROOT, current, fresh
from tools.docs.pages import filled, part_names


@pytest.mark.parametrize("name", GENERATED)
def test_generated_parts_are_up_to_date(name: str) -> None:
    assert fresh(name) == current(name), "run: uv run --all-extras python -m tools.docs"


@pytest.mark.slow
@pytest.mark.parametrize("name", FIGURES)
def test_figures_are_up_to_date(name: str) -> None:
    """The same texts and series; where exactly a point lies may differ with the version of what draws it."""
    drawn = read_svg(FIGURES[name]())
    assert read_svg((ROOT / name).read_bytes()).is_like(drawn), "run: python -m tools.docs --figures"


def test_every_marker_is_in_the_catalogue() -> None:
    marked = {str(path.relative_to(ROOT)) for path in ROOT.glob("**/*.md") if part_names(path.read_text())}
    assert marked == set(PARTS)


def test_only_what_stands_between_the_markers_changes() -> None:
    page = "before\n<!-- a: begin (by hand) -->\nold\n<!-- a: end -->\nafter\n"
    made = filled(page, {"a": lambda: "fresh"})
    assert made == page.replace("(by hand)", "(written by python -m tools.docs)").replace("old", "fresh")
    assert filled(made, {"a": lambda: "fresh"}) == made


def test_a_part_that_nobody_makes_is_a_mistake() -> None:
    with pytest.raises(LookupError, match="only the page or only the catalogue knows: a, b"):
        filled("<!-- a: begin -->\n\n<!-- a: end -->\n", {"b": str})
