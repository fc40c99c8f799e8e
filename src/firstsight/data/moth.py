"""One moth, photographed: the drawing room of the synthetic field guide.

Everything here is a pure function of its arguments; caches only spare repeated work.
It may touch numpy, pillow and scipy.ndimage, and neither files nor any global state.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageChops, ImageDraw, ImageFilter
from scipy import ndimage

Colour = tuple[float, float, float]
Field = NDArray[np.floating[Any]]

BOX = 1.25  # side of a wing texture, in wing lengths
UNIT = 0.97  # wing length on the doubled canvas, in image sizes; keeps textures near one to one
TILE = 512  # side of a background tile in pixels


@dataclass(frozen=True)
class Wing:
    """The shape and pattern of one wing, in polar terms about its hinge (reach 0 to 1, sweep 0 to 1)."""

    start: float  # direction of the leading edge, radians, 0 to the right, clockwise
    width: float  # angle between leading and trailing edge
    outline: tuple[float, ...]  # reach at evenly spaced sweeps
    bend: float
    tail: float
    ground: Colour
    tip: Colour
    bands: tuple[float, ...]  # reach of each band
    band_width: float
    wave: float
    waves: int
    border: float
    eyes: tuple[tuple[float, float, float], ...]  # reach, sweep, radius


@dataclass(frozen=True)
class Species:
    """A kind of moth: everything that all its photographs share."""

    name: str
    genus: int
    number: int  # place within the genus
    fore: Wing
    hind: Wing
    band: Colour
    dark: Colour
    pale: Colour
    ring: Colour
    fur: Colour
    scallops: int
    scallop_depth: float
    rings: int
    speckle: float


def draw(kind: Species, index: int, size: int = 256, seed: int = 0) -> Image.Image:
    """Photograph number `index` of a species: pose, light, wear and background vary, traits do not."""
    rng = np.random.default_rng([seed, kind.genus, kind.number, index])
    moth = _specimen(kind, size, rng)
    scene = _background(size, rng)
    scene.paste((12, 10, 14), mask=_shadow(moth, rng))
    scene.paste(moth, mask=moth)
    return _photograph(scene, rng)


def _shadow(moth: Image.Image, rng: np.random.Generator) -> Image.Image:
    """A soft, displaced silhouette; blurred small, because nobody sees the difference and it is quicker."""
    size = moth.width
    small = moth.getchannel("A").resize((max(1, size // 4), max(1, size // 4)), Image.Resampling.BOX)
    soft = small.filter(ImageFilter.GaussianBlur(small.width * rng.uniform(0.01, 0.03)))
    across, down = (round(size * shift) for shift in rng.uniform((-0.03, 0.01), (0.03, 0.04)))
    return ImageChops.offset(soft.resize(moth.size).point([level * 6 // 10 for level in range(256)]), across, down)


def _specimen(kind: Species, size: int, rng: np.random.Generator) -> Image.Image:
    """The posed moth on a transparent ground, drawn twice as large and reduced to smooth every edge."""
    canvas = Image.new("RGBA", (2 * size, 2 * size))
    pose = _pose(size, rng)
    centre = size * (1 + rng.uniform(-0.05, 0.05, 2))
    spread = rng.normal(0, 0.05, 2)
    fore, hind = _wing(kind, kind.fore, size), _wing(kind, kind.hind, size)
    for wing, texture, raised in ((kind.hind, hind, spread[1]), (kind.fore, fore, spread[0])):
        for side in (1.0, -1.0):
            worn = _wear(texture, wing, kind, rng)
            turn = pose @ np.diag([side, 1.0]) @ _rotation(raised + rng.normal(0, 0.025)) * rng.normal(1, 0.015)
            _place(canvas, worn, turn, centre, _origin(wing))
    _place(canvas, _body(kind, size), pose, centre, (-BOX / 2, -BOX / 2))
    return canvas.reduce(2)


def _pose(size: int, rng: np.random.Generator) -> Field:
    """Rotation, scale and foreshortening as one matrix from wing lengths to canvas pixels."""
    axis = rng.uniform(0, math.pi)
    squeeze = np.diag([1.0, math.cos(rng.uniform(0, 0.45))])
    scale = UNIT * size * rng.uniform(0.88, 1.06)
    pose: Field = scale * _rotation(axis) @ squeeze @ _rotation(-axis) @ _rotation(rng.normal(0, 0.25))
    return pose


def _rotation(angle: float) -> Field:
    return np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])


def _place(canvas: Image.Image, texture: Image.Image, turn: Field, centre: Field, origin: tuple[float, float]) -> None:
    """Lay a texture on the canvas, touching only the pixels it can reach."""
    step = turn * (BOX / texture.width)
    corner = centre + turn @ np.array(origin)
    left, top, right, bottom = texture.getbbox() or (0, 0, 1, 1)
    corners = corner + np.array([(left, top), (right, top), (left, bottom), (right, bottom)]) @ step.T
    low = np.clip(np.floor(corners.min(0)), 0, canvas.width - 1).astype(int)
    high = np.clip(np.ceil(corners.max(0)), low + 1, canvas.width).astype(int)
    back = np.linalg.inv(step)
    offset = back @ (low - corner)
    data = (*back[0], offset[0], *back[1], offset[1])
    extent = (int(high[0] - low[0]), int(high[1] - low[1]))
    patch = texture.transform(extent, Image.Transform.AFFINE, data, Image.Resampling.BILINEAR)
    canvas.alpha_composite(patch, (int(low[0]), int(low[1])))


def _origin(wing: Wing) -> tuple[float, float]:
    """Where a wing's texture starts, with the hinge at (0, 0): forewings reach up, hindwings down."""
    return (-0.08, -1.08) if wing.start < -0.6 else (-0.12, -0.45)


def _wear(texture: Image.Image, wing: Wing, kind: Species, rng: np.random.Generator) -> Image.Image:
    """Rub scales off in flakes and nick the margin: an old moth is paler and torn."""
    worn = texture.copy()
    size = texture.width
    age = rng.beta(1.2, 2.2)
    flakes = _flakes().crop((left := int(rng.integers(256)), top := int(rng.integers(256)), left + 256, top + 256))
    cut = 250 - 90 * age
    mask = flakes.resize(texture.size).point(np.clip((np.arange(256) - cut) * 9, 0, 150).astype(int).tolist())
    rubbed = tuple(round(255 * (0.5 * a + 0.5 * b)) for a, b in zip(wing.ground, kind.pale, strict=True))
    worn.paste(rubbed, mask=ImageChops.multiply(mask, texture.getchannel("A")))
    pen = ImageDraw.Draw(worn)
    for _ in range(rng.poisson(2.5 * age)):
        sweep = rng.uniform(0.15, 0.9)
        x, y = (_at(wing, 1.0, sweep) - np.array(_origin(wing))) / BOX * size
        jag = rng.uniform(-0.05, 0.05, (5, 2)) * size
        pen.polygon([(float(x + a), float(y + b)) for a, b in jag], fill=(0, 0, 0, 0))
    return worn


def _at(wing: Wing, reach: float, sweep: float) -> Field:
    """The point of a wing at a reach and sweep, undoing the bend that `_polar` applies."""
    radius = reach * float(np.interp(sweep, np.linspace(0, 1, len(wing.outline)), wing.outline))
    angle = wing.start + sweep * wing.width - wing.bend * radius**2
    return radius * np.array([math.cos(angle), math.sin(angle)])


@lru_cache(maxsize=128)
def _wing(kind: Species, wing: Wing, size: int) -> Image.Image:
    """A fresh right wing as a texture; mirrored for the left."""
    axis = (np.arange(size, dtype=np.float32) + 0.5) * (BOX / size)
    x, y = np.meshgrid(axis + _origin(wing)[0], axis + _origin(wing)[1])
    radius = np.hypot(x, y)
    angle = np.arctan2(y, x) + wing.bend * radius**2 - wing.start
    sweep = angle / wing.width
    edge = _edge(kind, wing, sweep)
    reach = radius / edge
    inside = np.minimum((1 - reach) * edge, np.minimum(angle, wing.width - angle) * radius)
    grain = np.asarray(_grain().resize((size, size)), dtype=np.float32) / 255 - 0.5
    paint = _ground(wing, reach, sweep, grain, kind)
    _bands(paint, kind, wing, reach, sweep, grain)
    _border(paint, kind, wing, reach, sweep)
    for eye in wing.eyes:
        _eye(paint, kind, _at(wing, eye[0], eye[1]), eye[2], x, y)
    shade = (
        1.06 - 0.28 * np.exp(-radius / 0.10) + 0.10 * np.cos(2 * math.pi * kind.scallops * sweep) * (0.3 + reach) / 2
    )
    paint *= (shade * (1 + 0.30 * grain))[..., None]
    alpha = np.clip(inside * size / BOX + 0.5, 0, 1) * (radius < 1.2)
    pixels = np.dstack([np.clip(paint, 0, 1), alpha]) * 255
    return Image.fromarray(pixels.astype(np.uint8))


def _edge(kind: Species, wing: Wing, sweep: Field) -> Field:
    """How far the wing reaches at each sweep: outline, scallops between the veins, and tail."""
    fine = np.linspace(0, 1, 512)
    outline = np.interp(fine, np.linspace(0, 1, len(wing.outline)), wing.outline)
    outline = ndimage.gaussian_filter1d(outline, 14, mode="nearest")
    lobes = np.abs(np.sin(math.pi * kind.scallops * fine)) - 0.6
    outline += kind.scallop_depth * lobes * np.clip(fine * 5, 0, 1)
    outline += wing.tail * np.exp(-(((fine - 0.62) / 0.06) ** 2))
    edge: Field = np.interp(sweep, fine, outline).astype(np.float32)
    return edge


def _ground(wing: Wing, reach: Field, sweep: Field, grain: Field, kind: Species) -> Field:
    """Base colour running to the tip colour, dusted with dark scales and crossed by veins."""
    blend = np.clip(reach * 1.15 - 0.15 + 0.25 * grain, 0, 1)[..., None]
    paint: Field = np.array(wing.ground, np.float32) * (1 - blend) + np.array(wing.tip, np.float32) * blend
    _mix(paint, kind.dark, np.clip((grain - 0.32 + 0.3 * kind.speckle) * 8, 0, 1) * 0.45)
    line = np.abs((sweep * kind.scallops) % 1 - 0.5) * wing.width / kind.scallops * reach
    veins = 0.5 - np.abs(0.5 - (sweep * kind.scallops) % 1)
    _mix(paint, kind.dark, np.clip(1.6 - veins * reach * wing.width / kind.scallops * 260, 0, 1) * 0.45)
    _mix(paint, kind.pale, np.clip(1 - line * 40, 0, 1) * 0.10)
    return paint


def _bands(paint: Field, kind: Species, wing: Wing, reach: Field, sweep: Field, grain: Field) -> None:
    """Wavy cross bands, each with a dark outer line."""
    wave = wing.wave * np.sin(2 * math.pi * wing.waves * sweep) + 0.02 * grain
    for number, place in enumerate(wing.bands):
        away = np.abs(reach + wave - place)
        half = wing.band_width / (1 + number) / 2
        _mix(paint, kind.dark, np.clip((half + 0.018 - away) * 90, 0, 1) * 0.8)
        _mix(paint, kind.band, np.clip((half - away) * 90, 0, 1))


def _border(paint: Field, kind: Species, wing: Wing, reach: Field, sweep: Field) -> None:
    """Dark margin with a pale dot between every two veins, and a chequered fringe."""
    between = np.abs((sweep * kind.scallops) % 1 - 0.5)
    _mix(paint, kind.dark, np.clip((reach - 1 + wing.border + 0.05 * (0.5 - between)) * 40, 0, 1) * 0.9)
    dots = np.hypot((reach - 1 + 0.55 * wing.border) / (0.28 * wing.border), between / 0.26)
    _mix(paint, kind.pale, np.clip((1 - dots) * 3, 0, 1) * 0.9)
    fringe = np.clip((reach - 0.972) * 90, 0, 1)
    _mix(paint, kind.pale, fringe * (between < 0.3) * 0.85)


def _eye(paint: Field, kind: Species, centre: Field, radius: float, x: Field, y: Field) -> None:
    """An eye spot: pale rim, dark disc, coloured rings, pupil and glint."""
    away = np.hypot(x - centre[0], y - centre[1]) / radius
    steps = (
        (1.15, kind.pale),
        (1.0, kind.dark),
        (0.80, kind.ring),
        (0.52, kind.dark),
        (0.36, kind.pale),
        (0.2, kind.dark),
    )
    for limit, colour in steps[: 2 + 2 * kind.rings]:
        _mix(paint, colour, np.clip((limit - away) * radius * 130, 0, 1))
    glint = np.hypot(x - centre[0] + 0.22 * radius, y - centre[1] + 0.22 * radius) / radius
    _mix(paint, (1, 1, 1), np.clip((0.14 - glint) * radius * 130, 0, 1) * 0.9)


def _mix(paint: Field, colour: Colour, amount: Field) -> None:
    paint += (np.array(colour, np.float32) - paint) * amount[..., None]


@lru_cache(maxsize=64)
def _body(kind: Species, size: int) -> Image.Image:
    """Antennae, furry thorax, ringed abdomen and head, drawn hair by hair."""
    scale = 2 * size / BOX
    image = Image.new("RGBA", (2 * size, 2 * size))
    pen = ImageDraw.Draw(image)
    hair = np.random.default_rng(7)  # the same coat for all species, so that only its colour tells them apart
    for side in (-1, 1):
        _antenna(pen, kind.dark, side, scale)
    for along in np.linspace(0.52, -0.2, 60):  # tail to head, so that hairs overlap like tiles
        half = _girth(along)
        ring = along > 0.12 and math.sin(along * 75) > 0.55
        for across in hair.uniform(-1, 1, 26):
            light = (1.0 - 0.5 * across**2 + hair.normal(0, 0.10)) * (0.55 if ring else 0.95)
            x, y = across * half, along + hair.normal(0, 0.006)
            tip = (x * 1.25 + hair.normal(0, 0.006), y + 0.035 + 0.02 * abs(across))
            pen.line(_pixels([(x, y), tip], scale), fill=_rgb(kind.fur, light), width=max(1, size // 90))
    for side in (-1, 1):
        x, y, r = 0.035 * side, -0.215, 0.016
        pen.ellipse(_pixels([(x - r, y - r), (x + r, y + r)], scale), fill=_rgb(kind.dark, 0.6))
    return image.reduce(2)


def _girth(along: float) -> float:
    """Half the body's width from head (negative) to the tip of the abdomen."""
    return float(
        np.interp(
            along,
            [-0.22, -0.17, -0.12, -0.02, 0.1, 0.16, 0.35, 0.54],
            [0.02, 0.05, 0.07, 0.095, 0.075, 0.065, 0.05, 0.008],
        )
    )


def _antenna(pen: ImageDraw.ImageDraw, colour: Colour, side: int, scale: float) -> None:
    """A bowed stem with barbs on both sides that shorten towards the tip."""
    steps = np.linspace(0, 1, 22)
    stem = [(side * (0.025 + 0.24 * t**1.4), -0.2 - 0.33 * t + 0.06 * t * t) for t in steps]
    pen.line(_pixels(stem, scale), fill=_rgb(colour, 0.9), width=max(1, round(0.014 * scale)))
    for t, (x, y) in zip(steps[2:], stem[2:], strict=True):
        barb = 0.055 * math.sin(math.pi * (0.12 + 0.86 * t))
        for lean in (-1, 1):
            tip = (x + lean * side * barb * 0.9, y - barb * 0.55 + lean * 0.25 * barb)
            pen.line(_pixels([(x, y), tip], scale), fill=_rgb(colour, 1.2), width=max(1, round(0.006 * scale)))


def _pixels(points: list[tuple[float, float]], scale: float) -> list[tuple[float, float]]:
    return [((x + BOX / 2) * scale, (y + BOX / 2) * scale) for x, y in points]


def _rgb(colour: Colour, light: float = 1.0) -> tuple[int, int, int]:
    red, green, blue = (round(255 * min(1.0, max(0.0, part * light))) for part in colour)
    return red, green, blue


def _background(size: int, rng: np.random.Generator) -> Image.Image:
    """A random window of one of the five grounds, turned, scaled and tinted."""
    tile = _ground_tile(int(rng.integers(5)))
    side = int(rng.integers(TILE // 3, TILE * 2 // 3))
    left, top = (int(v) for v in rng.integers(0, TILE - side, 2))
    window = tile.resize((size, size), Image.Resampling.BILINEAR, (left, top, left + side, top + side))
    window = window.transpose(Image.Transpose(int(rng.integers(7))))
    gains = rng.normal(1, 0.04, 3) * rng.uniform(0.75, 1.1)
    return window.point([int(min(255, level * gain)) for gain in gains for level in range(256)])


@lru_cache(maxsize=5)
def _ground_tile(number: int) -> Image.Image:
    """Bark, moss, sand, sky or stone, lit from the upper left."""
    rng = np.random.default_rng([5, number])
    if number == 0:
        height = np.abs(np.sin(9 * _fractal(rng, 1.7, 5.0))) * 0.7 + 0.3 * _fractal(rng, 1.0, 3.0)
        ramp, relief = [(78, 60, 48), (116, 90, 70), (158, 130, 102)], 1.5
    elif number == 1:
        height = 0.55 * _fractal(rng, 1.1, 1.0) + 0.45 * _fractal(rng, 2.2, 1.0)
        ramp, relief = [(52, 66, 38), (86, 106, 58), (138, 150, 92)], 1.2
    elif number == 2:
        height = 0.75 * _fractal(rng, 1.9, 0.5) + 0.25 * _fractal(rng, 0.5, 1.0)
        ramp, relief = [(160, 140, 112), (188, 170, 140), (212, 198, 172)], 1.2
    elif number == 3:
        height = ndimage.gaussian_filter(_fractal(rng, 2.6, 1.0), 6, mode="wrap")
        ramp, relief = [(92, 120, 126), (136, 160, 176), (190, 198, 192)], 0.0
    else:
        height = 0.6 * _fractal(rng, 1.6, 1.0) + 0.4 * _fractal(rng, 0.8, 1.0)
        ramp, relief = [(92, 92, 94), (126, 125, 122), (166, 164, 156)], 1.4
    down, across = np.gradient(height)
    light = 1 + relief * np.clip(down + across, -0.25, 0.25)
    stops = np.quantile(height, [0.03, 0.5, 0.97])
    colours = np.dstack([np.interp(height, stops, channel) for channel in zip(*ramp, strict=True)])
    pixels = np.clip(colours * light[..., None], 0, 255).astype(np.uint8)
    return Image.fromarray(pixels).filter(ImageFilter.GaussianBlur(1.5))  # the moth is in focus, the ground less


def _fractal(rng: np.random.Generator, slope: float, stretch: float, side: int = TILE) -> Field:
    """Seamless cloud noise in 0 to 1: steeper slopes are smoother, stretch draws it out downwards."""
    frequency = np.hypot(np.fft.fftfreq(side)[:, None] * stretch, np.fft.rfftfreq(side)[None, :])
    frequency[0, 0] = np.inf
    cloud = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((side, side))) * frequency**-slope, s=(side, side))
    noise: Field = np.clip(0.5 + cloud / cloud.std() * 0.2, 0, 1)
    return noise


@lru_cache(maxsize=1)
def _grain() -> Image.Image:
    """Fine mottling shared by all wings: texture is no trait."""
    return Image.fromarray((_fractal(np.random.default_rng(3), 0.9, 1.0) * 255).astype(np.uint8)[:256, :256])


@lru_cache(maxsize=1)
def _flakes() -> Image.Image:
    """Cloud noise whose peaks are where scales rub off."""
    return Image.fromarray((_fractal(np.random.default_rng(4), 1.4, 1.0) * 255).astype(np.uint8))


def _photograph(scene: Image.Image, rng: np.random.Generator) -> Image.Image:
    """What the camera adds: focus, directional light, exposure, tint, vignette and sensor noise."""
    size = scene.width
    scene = scene.filter(ImageFilter.BoxBlur(size / 256 * rng.uniform(0, 1.0)))
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    slope = rng.uniform(-0.18, 0.18, 2).astype(np.float32)
    light = 1 + slope[0] * axis[None, :] + slope[1] * axis[:, None]
    light *= 1 - rng.uniform(0.08, 0.3) * (axis[None, :] ** 2 + axis[:, None] ** 2) / 2
    gain = rng.uniform(0.85, 1.15) * rng.normal(1, 0.03, 3)
    noise = rng.standard_normal((size, size, 1), dtype=np.float32) * rng.uniform(1.5, 5)
    pixels = np.array(scene, dtype=np.float32)
    pixels *= light[..., None]
    pixels *= gain.astype(np.float32)
    pixels += noise
    return Image.fromarray(np.clip(pixels, 0, 255, out=pixels).astype(np.uint8))
