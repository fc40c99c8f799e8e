"""What an ONNX file is made of, as far as it takes to refuse one that names other files. Needs no package.

An ONNX tensor may lie in another file, of any path, which whoever loads the graph would read. Ours hold their weights.
"""

from __future__ import annotations

from collections.abc import Iterator

# The messages of ONNX in which tensors can lie, by name: its fields that lead on, each by its number.
GRAPH = "graph"
LEADS: dict[str, dict[int, str]] = {
    "model": {7: GRAPH, 20: "training", 25: "function"},
    "training": {1: GRAPH, 2: GRAPH},
    GRAPH: {1: "node", 5: "tensor", 15: "sparse"},
    "function": {7: "node", 11: "attribute"},
    "node": {5: "attribute"},
    "attribute": {5: "tensor", 6: GRAPH, 10: "tensor", 11: GRAPH, 22: "sparse", 23: "sparse"},
    "sparse": {1: "tensor", 2: "tensor"},
    "tensor": {},
}
EXTERNAL, LOCATION = 13, 14  # of a tensor: where else it lies, and that it does
DEEPEST = 64


def check_whole(content: bytes) -> None:
    """ValueError where a tensor lies in another file, or this is no ONNX at all."""
    _check(memoryview(content), "model", 0)


def _check(message: memoryview, kind: str, depth: int) -> None:
    if depth > DEEPEST:
        raise ValueError("its graph is nested too deeply")
    for number, part in _fields(message):
        if kind == "tensor" and number in (EXTERNAL, LOCATION) and part != 0:
            raise ValueError("its graph keeps weights in another file, which is not read")
        if (leads := LEADS[kind].get(number)) and isinstance(part, memoryview):
            _check(part, leads, depth + 1)


def _fields(message: memoryview) -> Iterator[tuple[int, memoryview | int]]:
    """The fields of a protobuf message: numbers as such, all else as it lies there."""
    at = 0
    while at < len(message):
        key, at = _number(message, at)
        wire = key & 7
        if wire == 0:
            value, at = _number(message, at)
            yield key >> 3, value
            continue
        if wire == 2:
            size, at = _number(message, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise ValueError("it is no ONNX")
        if at + size > len(message):
            raise ValueError("it is cut off")
        yield key >> 3, message[at : at + size]
        at += size


def _number(message: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(message) or shift > 63:
            raise ValueError("it is no ONNX")
        byte = message[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
