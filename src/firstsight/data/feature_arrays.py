"""Features in NumPy's files: an .npz with arrays `features`, `labels` and `names`, or an .npy of features alone."""

from __future__ import annotations

import zipfile
from math import prod
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from firstsight.core.errors import DataError
from firstsight.data.feature_files import Found, refuse_bomb

LABELS = "labels"


def read_arrays(path: Path, label: str | None = None) -> Found:
    """What the arrays of a file say; DataError where it has none of `features`, or one that cannot be read.

    `label` names the array of categories, where it is not `labels`.
    """
    if path.suffix.lower() == ".npy":
        if label is not None:
            raise DataError(f"{path} holds features alone, and no {label!r}", "save both with numpy.savez")
        with path.open("rb") as file:
            return Found(_array(path, "features", file, path.stat().st_size))
    try:
        with zipfile.ZipFile(path) as archive:
            held = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if "features" not in held:
                raise DataError(
                    f"{path} holds {_listed(list(held))}, and no array features", "name them features, labels and names"
                )
            if label is not None and label not in held:
                raise DataError(f"{path} has no array {label!r}", f"it holds {_listed(list(held))}")
            wanted = {name: info for name, info in held.items() if name in ("features", "names", label or LABELS)}
            refuse_bomb(path, sum(info.file_size for info in wanted.values()))
            arrays = {}
            for name, info in wanted.items():
                with archive.open(info) as file:
                    arrays[name] = _array(path, name, file, info.file_size)
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError) as error:  # damaged, odd or locked
        raise DataError(f"{path} is no .npz file: {error}", "save it with numpy.savez") from None
    features, (names, labels) = arrays["features"], (arrays.get(name) for name in ("names", label or LABELS))
    return Found(features, _flat(path, "names", names), _flat(path, label or LABELS, labels))


def _array(path: Path, name: str, file: IO[bytes], size: int) -> NDArray[Any]:
    """One array. Its header is believed only as far as there are bytes for what it says."""
    what = f"{path}: {name}"
    try:
        version = npy.read_magic(file)
        header = npy.read_array_header_1_0(file) if version == (1, 0) else npy.read_array_header_2_0(file)
        shape, by_columns, dtype = header
        if dtype.hasobject:
            raise DataError(
                f"{what} is of Python objects, which are never loaded", "save it as numbers or text: .astype(str)"
            )
        if prod(shape) * dtype.itemsize > size:
            raise DataError(
                f"{what} says its shape is {shape}, and has {size:,} bytes", "the file is damaged: save it again"
            )
        content = file.read(prod(shape) * dtype.itemsize)
        array = np.frombuffer(content, dtype=dtype, count=prod(shape))
    except (ValueError, TypeError, SyntaxError, OverflowError, MemoryError) as error:
        raise DataError(f"{what} is no array: {str(error)[:200]}", "save it with numpy.savez") from None
    return array.reshape(shape[::-1]).T if by_columns else array.reshape(shape)


def _flat(path: Path, name: str, given: NDArray[Any] | None) -> list[Any] | None:
    if given is not None and given.ndim != 1:
        raise DataError(f"{path}: {name} have shape {given.shape}", "give one for each feature, (N,)")
    return None if given is None else given.tolist()


def _listed(names: list[str]) -> str:
    return ", ".join(name[:40] for name in names[:8]) or "nothing"
