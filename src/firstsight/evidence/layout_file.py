"""A layout in a file beside its register, so that the map is the same after a restart. No pickle.

It says which register it is of. One that is damaged, of another register or of another release is as good as none:
a map can be laid out again.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from firstsight.core.errors import NotFound
from firstsight.core.files import read_json, write_file
from firstsight.evidence.layout import Layout, Places
from firstsight.store.events import Assigned
from firstsight.store.view import View

FORMAT = 1
PARTS = {"numbers": ("<i8", 1), "origin": ("<f8", 1), "axes": ("<f8", 2), "points": ("<f8", 2), "spots": ("<f8", 2)}
WITNESSES = 64  # images of the sample by which a register is recognised


def keep(path: Path, view: View, layout: Layout, places: Places, known: int) -> None:
    """Write it whole or not at all.

    `places` are those of the register's first images, in order of arrival; `known` is how many there were when it was
    laid out.
    """
    parts: dict[str, Any] = {name: getattr(layout, name).astype(kind) for name, (kind, _) in PARTS.items()}
    parts["places"] = places.astype("<u2")
    about = {"format": FORMAT, "known": known, "register": register_of(view, layout, len(places)), "sum": _sum(parts)}
    parts["about"] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    write_file(path, save(parts))


def kept(path: Path, view: View) -> tuple[Layout, Places, int] | None:
    """What was kept; None where there is nothing of this register that can be read."""
    try:
        parts = load(path.read_bytes())
        about = read_json(parts.pop("about").tobytes())
        sound = about["format"] == FORMAT and about["sum"] == _sum(parts) and _fit_together(parts)
        if not sound or not set(PARTS) < set(parts):
            return None
        places = parts.pop("places")
        layout = Layout(**{name: parts[name] for name in PARTS})
        known = min(int(about["known"]), len(places))
        same = about["register"] == register_of(view, layout, len(places))
    except (OSError, SafetensorError, ValueError, KeyError, TypeError, AttributeError, NotFound):
        return None
    return (layout, places, known) if same else None


def register_of(view: View, layout: Layout, placed: int) -> str:
    """What a register with these images is recognised by: some of the sample, and the last that was placed."""
    numbers = view.catalogue.numbers
    if placed > len(numbers):
        raise NotFound(f"{view.name} has fewer images than were placed")
    step = max(1, len(layout.numbers) // WITNESSES)
    witnesses = layout.numbers[::step].tolist() + ([numbers[placed - 1]] if placed else [])
    said = hashlib.sha256(f"{placed}".encode())
    for number in witnesses:
        event = view.event(int(number)).event
        if not isinstance(event, Assigned):
            raise NotFound(f"{number} is no image of {view.name}")
        said.update(b"%d %b " % (number, event.feature))
    return said.hexdigest()


def _sum(parts: dict[str, Any]) -> str:
    said = hashlib.sha256()
    for name in sorted(parts):
        said.update(f"{name} {parts[name].dtype} {parts[name].shape} ".encode() + parts[name].tobytes())
    return said.hexdigest()


def _fit_together(parts: dict[str, Any]) -> bool:
    """Whether the shapes are those of a layout."""
    if any(parts[name].dtype != np.dtype(kind) or parts[name].ndim != rank for name, (kind, rank) in PARTS.items()):
        return False
    count, (width, kept_axes) = len(parts["numbers"]), parts["axes"].shape
    shapes = (parts["origin"].shape, parts["points"].shape, parts["spots"].shape, parts["places"].shape[1:])
    return count > 0 and shapes == ((width,), (count, kept_axes or width), (count, 2), (2,))
