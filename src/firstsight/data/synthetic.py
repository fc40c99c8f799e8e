"""A procedural field guide of moths: species that differ in few, fine traits, for demos, docs and tests.

Any number of species and photographs, the same for the same arguments on every call and in every order.
It may touch only the folder it is told to write; the drawing of one moth lives in `moth`.
"""

from __future__ import annotations

import colorsys
import math
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from PIL import Image

from firstsight.data.moth import Colour, Species, Wing, draw

__all__ = ["Species", "contact_sheet", "draw", "known_and_new", "species", "write_folder"]

GENUS = (
    [
        "Lun",
        "Cal",
        "Mor",
        "Ver",
        "Sil",
        "Nov",
        "Tas",
        "Pel",
        "Zor",
        "Bel",
        "Dar",
        "Fen",
        "Gal",
        "Hes",
        "Mir",
        "Nar",
        "Oph",
        "Par",
        "Ros",
        "Sel",
        "Tel",
        "Umb",
        "Vel",
        "Xan",
    ],
    ["ar", "el", "in", "or", "is", "ul", "em", "an", "ot"],
    ["a", "is", "ia", "us", "on"],
)
EPITHET = (
    ["vel", "cin", "pal", "rub", "nig", "fus", "mac", "ocu", "ser", "lin", "fim", "cor", "ple", "tri", "gut", "ner"],
    ["at", "il", "or", "in", "us", "an", "el"],
    ["a", "is", "ea"],
)

SPREAD = 1.15  # how far siblings stand apart; set so that frozen features tell species, but not clusters, well


def species(count: int, seed: int = 0, per_genus: int = 4) -> list[Species]:
    """The first `count` species of the field guide `seed`, genus by genus; a shorter guide is a prefix of a longer."""
    if count < 0:
        raise ValueError(f"count must be 0 or more, got {count}")
    if per_genus < 1:
        raise ValueError(f"per_genus must be 1 or more, got {per_genus}")
    return [_species(seed, *divmod(number, per_genus), per_genus) for number in range(count)]


def known_and_new(guide: Sequence[Species]) -> tuple[list[Species], list[Species]]:
    """Half of each genus known, the other half new, so that every new species has known siblings."""
    known: list[Species] = []
    new: list[Species] = []
    for genus in dict.fromkeys(kind.genus for kind in guide):
        siblings = [kind for kind in guide if kind.genus == genus]
        half = (len(siblings) + 1) // 2
        known += siblings[:half]
        new += siblings[half:]
    return known, new


def write_folder(
    folder: Path,
    guide: Sequence[Species],
    images: range,
    size: int = 256,
    seed: int = 0,
    progress: Callable[[], None] | None = None,
) -> list[Path]:
    """Draw photographs into folder/<species name>/<index>.jpg; returns the paths in order."""
    paths = []
    for kind in guide:
        home = folder / kind.name
        home.mkdir(parents=True, exist_ok=True)
        for index in images:
            paths.append(home / f"{index}.jpg")
            draw(kind, index, size, seed).save(paths[-1], quality=92)
            if progress is not None:
                progress()
    return paths


def contact_sheet(
    guide: Sequence[Species], columns: int = 2, size: int = 128, seed: int = 0, gap: int = 2
) -> Image.Image:
    """One row per genus, `columns` photographs of each of its species side by side."""
    rows = [[kind for kind in guide if kind.genus == genus] for genus in dict.fromkeys(kind.genus for kind in guide)]
    step = size + gap
    widest = max((len(row) for row in rows), default=0)
    sheet = Image.new("RGB", (max(1, step * columns * widest - gap), max(1, step * len(rows) - gap)), "white")
    for down, row in enumerate(rows):
        for across, (kind, index) in enumerate((kind, index) for kind in row for index in range(columns)):
            sheet.paste(draw(kind, index, size, seed), (across * step, down * step))
    return sheet


def _species(seed: int, genus: int, number: int, per_genus: int) -> Species:
    """Siblings replay the genus's draws and part only where `shift` gives each its own level of a trait."""
    rng = np.random.default_rng([seed, genus])
    levels = np.linspace(-1, 1, per_genus) if per_genus > 1 else np.zeros(1)

    def shift(amount: float) -> float:
        return SPREAD * amount * float(rng.permutation(levels)[number])

    hue = (seed * 0.37 + genus * 0.618034 + shift(0.03)) % 1
    rich, bright = rng.uniform(0.3, 0.75), rng.uniform(0.5, 0.85) + shift(0.07)
    ground = _hsv(hue, rich + shift(0.08), bright)
    tip = _hsv(hue + rng.uniform(-0.06, 0.06), rich * 0.8, bright * rng.uniform(0.7, 1.1))
    second = hue + rng.choice([0.0, 0.06, -0.08, 0.45]) + shift(0.06)
    under = _hsv(second, rich + 0.1, bright + rng.uniform(-0.1, 0.15))
    wave, waves = rng.uniform(0.01, 0.03) + shift(0.015), int(rng.integers(2, 5))
    eye = rng.uniform(0.06, 0.085) + shift(0.025)
    fore_eyes, hind_eyes = int(rng.integers(0, 2)), int(rng.integers(1, 3))
    extra = shift(1.0) > 0.5 * SPREAD
    hook, round_ = rng.uniform(-0.08, 0.1), rng.uniform(0.0, 0.12)
    band, width = rng.uniform(0.5, 0.64) + shift(0.06), rng.uniform(0.07, 0.13) + shift(0.035)
    border = rng.uniform(0.07, 0.13) + shift(0.03)
    fore = Wing(
        start=-1.02 + rng.uniform(-0.1, 0.1),
        width=rng.uniform(1.05, 1.3),
        outline=(0.8, 1.0, 0.93 - hook, 0.80 - hook, 0.74, 0.70 + round_, 0.66 + round_, 0.5, 0.3),
        bend=rng.uniform(0.0, 0.16),
        tail=0.0,
        ground=ground,
        tip=tip,
        bands=(band, band - rng.uniform(0.22, 0.3)),
        band_width=width,
        wave=wave,
        waves=waves,
        border=border,
        eyes=((0.62, 0.36, eye * 0.9), (0.66, 0.66, eye * 0.6))[: fore_eyes + extra],
    )
    low = rng.uniform(-0.06, 0.08) + shift(0.02)
    hind = Wing(
        start=-0.32,
        width=rng.uniform(1.6, 1.8),
        outline=(0.35, 0.55, 0.68, 0.72 + low / 2, 0.74 + low, 0.75 + low, 0.7 + low, 0.58, 0.4),
        bend=rng.uniform(0.0, 0.12),
        tail=max(0.0, rng.uniform(-0.15, 0.2) + shift(0.03)),
        ground=under,
        tip=_hsv(second + 0.03, rich, bright * 0.85),
        bands=(0.7 + shift(0.06),),
        band_width=width * 0.9,
        wave=wave * 0.8,
        waves=waves,
        border=border * 1.1,
        eyes=((0.45, 0.45, eye), (0.5, 0.75, eye * 0.6))[:hind_eyes],
    )
    return Species(
        name=f"{_word(genus, seed, GENUS)} {_word(number, seed + genus, EPITHET).lower()}",
        genus=genus,
        number=number,
        fore=fore,
        hind=hind,
        band=_hsv(hue + rng.uniform(0.05, 0.5) + shift(0.08), 0.38, rng.uniform(0.35, 0.95)),
        dark=_hsv(hue + 0.05, 0.5, rng.uniform(0.14, 0.26)),
        pale=_hsv(hue - 0.05, 0.14, 0.96),
        ring=_hsv(hue + rng.uniform(0.25, 0.75) + shift(0.12), 0.6, 0.85),
        fur=_hsv(hue + 0.02, rich * 0.6, rng.uniform(0.4, 0.8)),
        scallops=int(rng.integers(6, 10)),
        scallop_depth=rng.uniform(-0.045, 0.05) + shift(0.025),
        rings=int(rng.integers(1, 3)),
        speckle=rng.uniform(0, 0.6) + shift(0.15),
    )


def _hsv(hue: float, saturation: float, value: float) -> Colour:
    return colorsys.hsv_to_rgb(hue % 1, min(1.0, max(0.0, saturation)), min(1.0, max(0.0, value)))


def _word(number: int, seed: int, parts: tuple[list[str], list[str], list[str]]) -> str:
    """The name of a number: one to one, because the first two parts have a fixed length and every round adds one."""
    starts, middles, ends = parts
    total = len(starts) * len(middles) * len(ends)
    rounds, place = divmod(number, total)
    stride = next(n for n in range(total * 5 // 13, total) if math.gcd(n, total) == 1)
    place, start = divmod((place * stride + seed * 101) % total, len(starts))
    middle, end = place % len(middles), place // len(middles)
    return starts[start] + middles[middle] * (1 + rounds) + ends[end]
