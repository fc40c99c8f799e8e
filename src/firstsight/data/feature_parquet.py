"""Features in a .parquet file: a column of lists, or one column for each value. Needs pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from firstsight.core.errors import DataError, SettingsError
from firstsight.data.feature_columns import find_columns
from firstsight.data.feature_files import Found, refuse_bomb


def read_parquet(path: Path, label: str | None = None) -> Found:
    """What the columns of a file say; DataError with its column where one cannot be used."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ModuleNotFoundError:
        raise SettingsError(
            "Parquet is read by pyarrow, which is not installed", "pip install 'firstsight[tables]', or bring a .csv"
        ) from None
    try:
        with parquet.ParquetFile(path) as file:
            columns = find_columns(path, file.schema_arrow.names, label)
            refuse_bomb(path, _unpacked(file.metadata))
            table = file.read(use_threads=False)
        if columns.whole is not None:
            features = _lists(path, pyarrow, table, columns.whole)
        else:
            features = np.column_stack([_numbers(path, pyarrow, table, at) for at in columns.values])
        names, labels = (_texts(path, pyarrow, table, at) for at in (columns.name, columns.label))
    except (pyarrow.ArrowException, OSError, MemoryError) as error:
        raise DataError(f"{path} is no Parquet file that can be read: {str(error)[:200]}", "write it again") from None
    return Found(features, names, labels)


def _unpacked(metadata: Any) -> int:
    """Bytes by its own account, and those of the numbers that its lines come to."""
    groups = [metadata.row_group(i) for i in range(metadata.num_row_groups)]
    return int(max(sum(group.total_byte_size for group in groups), 4 * metadata.num_rows * metadata.num_columns))


def _numbers(path: Path, arrow: Any, table: Any, at: int) -> NDArray[Any]:
    column = _whole(path, table, at)
    kind = column.type
    if not (arrow.types.is_floating(kind) or arrow.types.is_integer(kind) or arrow.types.is_boolean(kind)):
        raise DataError(
            f"{path}: column {table.column_names[at]!r} is of {kind}, not of numbers",
            "columns but those of names and labels (see docs/embeddings.md) are values of the feature",
        )
    return np.asarray(column.to_numpy())


def _lists(path: Path, arrow: Any, table: Any, at: int) -> NDArray[Any]:
    column, title = _whole(path, table, at).combine_chunks(), table.column_names[at]
    kinds = arrow.types
    if not (kinds.is_list(column.type) or kinds.is_large_list(column.type) or kinds.is_fixed_size_list(column.type)):
        raise DataError(f"{path}: column {title!r} is of {column.type}, not of lists", "give lists of float32")
    if not (kinds.is_floating(column.type.value_type) or kinds.is_integer(column.type.value_type)):
        raise DataError(f"{path}: column {title!r} is of {column.type}, not of numbers", "give lists of float32")
    lengths = arrow.compute.list_value_length(column).to_numpy(zero_copy_only=False)
    if len(lengths) and (lengths != lengths[0]).any():
        i = int(np.argmax(lengths != lengths[0]))
        raise DataError(
            f"{path}: feature {i} has {lengths[i]} values, the first has {lengths[0]}", "make them of one length"
        )
    values = column.flatten()
    if values.null_count:
        raise DataError(f"{path}: column {title!r} has {values.null_count} empty values", "give every value")
    return np.asarray(values.to_numpy(zero_copy_only=False).reshape(len(lengths), -1 if len(lengths) else 1))


def _texts(path: Path, arrow: Any, table: Any, at: int | None) -> list[Any] | None:
    if at is None:
        return None
    kind = table.column(at).type
    if arrow.types.is_nested(kind):
        raise DataError(f"{path}: column {table.column_names[at]!r} is of {kind}", "give text or whole numbers")
    found: list[Any] = _whole(path, table, at).to_pylist()
    return found


def _whole(path: Path, table: Any, at: int) -> Any:
    """A column in which nothing is missing."""
    column = table.column(at)
    if column.null_count:
        first = column.is_null().to_pylist().index(True)
        raise DataError(f"{path}: column {table.column_names[at]!r} is empty at feature {first}", "give every value")
    return column
