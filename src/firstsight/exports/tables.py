"""One line per image: CSV, JSON, Parquet, xlsx."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, fields
from typing import Any, get_type_hints

from firstsight.core.errors import SettingsError
from firstsight.core.spreadsheets import cell, shown
from firstsight.exports.records import SIDES, Options, Record, records
from firstsight.store.view import View
from firstsight.store.views import Member, summaries

EXTRA = "install the extra tables: pip install 'firstsight[tables]'"
MOST_LINES = 1_048_575  # of a sheet, beside its header


def columns() -> dict[str, type]:
    """The columns of a table, and what is in them."""
    hints = get_type_hints(Member)
    kinds = {f.name: _kind(hints[f.name]) for f in fields(Member) if f.name != "box"}
    return {**kinds, **dict.fromkeys(SIDES, float), "uncertainty": int}


def _kind(hint: Any) -> type:
    text = str(hint)
    return next((kind for kind in (float, str, bool, int) if kind.__name__ in text), str)


def lines(view: View, options: Options) -> list[dict[str, Any]]:
    return [each.columns() for each in records(view, options)]


def as_csv(view: View, options: Options) -> tuple[bytes, int]:
    """The content of the file, and how many images are in it."""
    found = lines(view, options)
    return csv_of(list(columns()), found), len(found)


def csv_of(header: Sequence[str], found: Sequence[dict[str, Any]]) -> bytes:
    """A CSV file whose cells no spreadsheet runs."""
    text = io.StringIO(newline="")
    writer = csv.DictWriter(text, header)
    writer.writeheader()
    writer.writerows({name: cell(value) for name, value in line.items()} for line in found)
    return text.getvalue().encode()


def as_json(view: View, options: Options) -> tuple[bytes, int]:
    """Every category with its images."""
    members: dict[str, list[Record]] = {}
    for each in records(view, options):
        members.setdefault(each.image.category, []).append(each)
    content = [
        {
            **asdict(summary),
            "images": [{**asdict(each.image), "uncertainty": each.uncertainty} for each in members.get(summary.id, [])],
        }
        for summary in summaries(view)
    ]
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    return text.encode(), sum(map(len, members.values()))


def as_parquet(view: View, options: Options) -> tuple[bytes, int]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise SettingsError("Parquet is written by pyarrow, which is not installed", EXTRA) from None
    kinds = {float: pyarrow.float64(), int: pyarrow.int64(), bool: pyarrow.bool_(), str: pyarrow.string()}
    schema = pyarrow.schema([(name, kinds[kind]) for name, kind in columns().items()])
    found = lines(view, options)
    buffer = io.BytesIO()
    parquet.write_table(pyarrow.Table.from_pylist([_typed(line) for line in found], schema), buffer)
    return buffer.getvalue(), len(found)


def _typed(line: dict[str, Any]) -> dict[str, Any]:
    """A distance may be a whole number, of bits."""
    kinds = columns()
    return {name: float(value) if kinds[name] is float and value is not None else value for name, value in line.items()}


def as_xlsx(view: View, options: Options) -> tuple[bytes, int]:
    """A workbook: a sheet of images, a sheet of categories."""
    try:
        from openpyxl import Workbook
        from openpyxl.cell import WriteOnlyCell
    except ImportError:
        raise SettingsError("xlsx is written by openpyxl, which is not installed", EXTRA) from None
    found = lines(view, options)
    if len(found) > MOST_LINES:
        raise SettingsError(f"a sheet holds {MOST_LINES:,} images, not {len(found):,}", "export .csv or .parquet")
    book = Workbook(write_only=True)

    def add(title: str, header: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
        sheet = book.create_sheet(title)
        sheet.freeze_panes = "A2"
        sheet.append(list(header))
        for row in rows:
            cells = [WriteOnlyCell(sheet, shown(value)) for value in row.values()]
            for each in cells:
                if isinstance(each.value, str):
                    each.data_type = "s"  # text, whatever it begins with
            sheet.append(cells)

    add("images", list(columns()), found)
    known = [{**asdict(each), "merged": ", ".join(each.merged)} for each in summaries(view)]
    add("categories", list(known[0]) if known else [], known)
    buffer = io.BytesIO()
    book.save(buffer)
    return buffer.getvalue(), len(found)


TABLES: dict[str, Callable[[View, Options], tuple[bytes, int]]] = {
    "csv": as_csv,
    "json": as_json,
    "parquet": as_parquet,
    "xlsx": as_xlsx,
}
