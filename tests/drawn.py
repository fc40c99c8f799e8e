"""What a figure says, read back from its SVG: texts, and where its series lie."""

from __future__ import annotations

import re
from dataclasses import dataclass
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

SVG = "{http://www.w3.org/2000/svg}"
OURS = re.compile(r"panel\d+-series\d+(-bar\d+)?|cells|group\d+")


@dataclass(frozen=True)
class Read:
    title: str
    texts: list[str]
    marks: dict[str, NDArray[np.float64]]  # by series: one line of coordinates for each marker, or corner

    def is_like(self, other: Read, within: float = 0.5) -> bool:
        """Whether two figures say the same, but for the last digits of where it is drawn."""
        return (
            (self.title, self.texts, list(self.marks)) == (other.title, other.texts, list(other.marks))
            and all(mark.shape == other.marks[name].shape for name, mark in self.marks.items())
            and all(np.allclose(mark, other.marks[name], atol=within) for name, mark in self.marks.items())
        )


def read_svg(svg: bytes) -> Read:
    root = ElementTree.fromstring(svg)
    groups = {name: each for each in root.iter(f"{SVG}g") if OURS.fullmatch(name := each.get("id", ""))}
    texts = ["".join(each.itertext()) for each in root.iter(f"{SVG}text")]
    return Read(root.get("aria-label", ""), texts, {name: _marks(each) for name, each in groups.items()})


def _marks(group: ElementTree.Element) -> NDArray[np.float64]:
    """Where markers are; where there are none, the corners of paths."""
    uses = [(each.get("x", ""), each.get("y", "")) for each in group.iter(f"{SVG}use")]
    if uses:
        return np.array(uses, dtype=np.float64)
    paths = " ".join(each.get("d", "") for each in group.iter(f"{SVG}path"))
    return np.array(re.findall(r"[ML] (-?[\d.]+) (-?[\d.]+)", paths), dtype=np.float64).reshape(-1, 2)
