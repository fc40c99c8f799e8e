"""Uploads that nobody should send: by a seed, so that what failed once can be sent again."""

from __future__ import annotations

import io
import json
import random
import struct
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from PIL import Image

FORMATS = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM")
NAMES = (
    "a.jpg",
    "../../x",
    "",
    "\u202egnp.exe",
    "a\r\nb: c",
    'q"uote;x=y',
    "x" * 4000,
    "\u00e9.png",
    "%2e%2e/",
    "nul\0",
)
NOTHING = (b"", b"\0", b"GIF89a", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n", b"RIFF\0\0\0\0WEBP", b"%PDF-1.7", b"PK\3\4")
TEXTS = (
    b"<svg xmlns='http://www.w3.org/2000/svg'/>",
    b"<html><script>1</script>",
    b"#!/bin/sh\n",
    b"%!PS\n",
    b"P6 9 9 9",
)


def pictures() -> list[bytes]:
    """Small photographs in every format, good ones."""
    made: list[bytes] = []
    for format in FORMATS:
        buffer = io.BytesIO()
        noise = np.random.default_rng(len(made)).integers(0, 255, (20, 20, 3), dtype=np.uint8)
        Image.fromarray(noise).save(buffer, format)
        made.append(buffer.getvalue())
    return made


def bombs() -> list[bytes]:
    """Little files that say to be huge."""
    header = struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    data = zlib.compress(bytes(100_000))
    body = struct.pack(">I", len(data)) + b"IDAT" + data + struct.pack(">I", zlib.crc32(b"IDAT" + data))
    gif = b"GIF89a" + struct.pack("<HH", 65_535, 65_535) + bytes(9)
    bmp = b"BM" + bytes(12) + struct.pack("<IiiHHI", 40, 2**31 - 1, 2**31 - 1, 1, 24, 0) + bytes(20)
    return [b"\x89PNG\r\n\x1a\n" + chunk + body, gif, bmp, b"P6 100000 100000 255\n"]


def images(seed: int) -> Iterator[tuple[str, bytes]]:
    """Broken images for ever, each with a name."""
    some, huge, pick = pictures(), bombs(), random.Random(seed)
    ways: tuple[Callable[[bytes], bytes], ...] = (
        lambda good: good[: pick.randrange(len(good))],
        lambda good: _flipped(good, pick),
        lambda good: good + pick.randbytes(pick.randrange(200)),
        lambda good: pick.randbytes(8) + good,
        lambda good: good[: len(good) // 2] + pick.choice(some)[len(good) // 2 :],
        lambda good: pick.randbytes(pick.randrange(1, 300)),
        lambda good: pick.choice((*NOTHING, *TEXTS)) + pick.randbytes(pick.randrange(30)),
        lambda good: pick.choice(huge),
    )
    while True:
        yield pick.choice(NAMES), pick.choice(ways)(pick.choice(some))


def _flipped(good: bytes, pick: random.Random) -> bytes:
    content = bytearray(good)
    for _ in range(pick.randrange(1, 12)):
        content[pick.randrange(len(content))] ^= 1 << pick.randrange(8)
    return bytes(content)


def arrays(seed: int, width: int) -> Iterator[tuple[str, bytes]]:
    """Bodies that are no features, or strange ones, with the type they come as."""
    pick = random.Random(seed)
    strange: list[Any] = [
        np.array([{"a": 1}, None], dtype=object), np.zeros((0, width)), np.zeros((2, 0)), np.zeros((1, 1, width)),
        np.full((2, width), np.nan), np.full((1, width), 1e300), np.zeros(3, dtype="U9"), np.zeros(2, dtype="M8[s]"),
        np.zeros(2, dtype=[("a", "f4")]), np.zeros((1, width), dtype=complex), np.array(1.0), np.zeros((3, width + 1)),
    ]  # fmt: skip
    files = []
    for each in strange:
        buffer = io.BytesIO()
        np.save(buffer, each, allow_pickle=True)
        files.append(buffer.getvalue())
    packed = io.BytesIO()
    np.savez(packed, a=np.zeros(3))
    files += [
        packed.getvalue(),
        b"\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999, 9)}",
    ]
    texts = [
        {"features": [[1e400]]}, {"features": [["a"]]}, {"features": []}, {"features": [[]]}, {"features": None}, [], 1,
        {"features": [[1, 2], [3]]}, {"other": 1}, {"features": {"a": 1}}, {"features": [[True, None]]}, "[" * 5000,
    ]  # fmt: skip
    while True:
        if pick.random() < 0.5:
            content = pick.choice(files)
            yield "application/octet-stream", _flipped(content, pick) if pick.random() < 0.7 else content
        else:
            text = pick.choice(texts)
            body = text.encode() if isinstance(text, str) else json.dumps(text).encode()
            yield "application/json", _flipped(body, pick) if pick.random() < 0.5 else body


def forms(seed: int) -> Iterator[tuple[str, bytes]]:
    """Forms that are none: the type they come as, and the body."""
    pick, some = random.Random(seed), pictures()
    while True:
        image = pick.choice(some)
        parts = [
            b'--b\r\nContent-Disposition: form-data; name="images"; filename="a.jpg"\r\n\r\n' + image + b"\r\n",
            b'--b\r\nContent-Disposition: form-data; name="images"\r\n\r\nno file\r\n',
            b"--b\r\nContent-Disposition: form-data\r\n\r\nnameless\r\n",
            b"--b\r\n\r\nheadless\r\n",
            b"--b\r\nContent-Disposition: form-data; name=\"images\"; filename*=utf-8''%ff%fe\r\n\r\nx\r\n",
            b"--b\r\n" + b"X-Long: " + b"y" * 5000 + b"\r\n\r\nx\r\n",
            b'--b\r\nContent-Disposition: form-data; name="labels"\r\nContent-Type: text/plain; charset=x\r\n\r\nz\r\n',
        ]
        body = b"".join(pick.choice(parts) for _ in range(pick.randrange(0, 5))) + pick.choice(
            (b"--b--\r\n", b"", b"--")
        )
        if pick.random() < 0.4 and body:
            body = _flipped(body, pick)
        kinds = (
            "multipart/form-data; boundary=b",
            "multipart/form-data",
            "multipart/form-data; boundary=",
            'multipart/form-data; boundary="' + "b" * 300 + '"',
            "multipart/mixed; boundary=b",
        )
        yield kinds[0] if pick.random() < 0.8 else pick.choice(kinds), body
