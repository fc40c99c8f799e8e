"""Working ahead: order, bounds, and errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from posixpath import basename
from typing import Any

import numpy as np
import PIL
import pytest

from firstsight.core.errors import ImageError
from firstsight.data.ahead import MANY, ahead, or_error, travels
from firstsight.data.helper import Helper
from firstsight.data.images import Preprocess, prepared


def test_results_come_in_order() -> None:
    assert list(ahead(lambda x: x * x, range(50), window=8)) == [x * x for x in range(50)]


def test_no_more_than_the_window_is_taken_in_advance() -> None:
    taken = []

    def source() -> Iterator[int]:
        for i in range(100):
            taken.append(i)
            yield i

    results = ahead(lambda x: x, source(), window=5)
    assert next(results) == 0
    assert len(taken) <= 6


def test_an_error_reaches_the_consumer() -> None:
    with pytest.raises(ZeroDivisionError):
        list(ahead(lambda x: 1 // x, [1, 0], window=2))


def test_much_work_is_done_by_processes_in_the_same_order() -> None:
    paths = [f"a/{i}" for i in range(MANY + 100)]
    assert list(ahead(basename, paths, window=64, workers=4)) == [str(i) for i in range(MANY + 100)]


def test_images_and_errors_come_back_from_processes() -> None:
    preprocess = Preprocess(16, 8, (0.5, 0.5, 0.5), (0.5, 0.5, 0.5))
    picture = np.full((20, 30, 3), 7, np.uint8)
    items = [picture] * (MANY + 8) + [b"no image", picture]
    *_, bad, last = ahead(or_error(partial(prepared, preprocess=preprocess)), items, window=16, workers=4)
    assert isinstance(last, np.ndarray)
    assert isinstance(bad, ImageError)
    assert last.shape == (8, 8, 3)
    assert (last == 7).all()


def test_an_error_in_a_process_reaches_the_consumer() -> None:
    items: list[Any] = ["a/b"] * (MANY + 8) + [7]
    with pytest.raises(TypeError):
        list(ahead(basename, items, window=16, workers=4))


def test_a_consumer_that_stops_early_leaves_no_process_behind() -> None:
    results = ahead(basename, (f"a/{i}" for i in range(10**9)), window=32, workers=4)
    for _ in range(MANY + 50):
        next(results)
    results.close()  # type: ignore[attr-defined]


def test_only_functions_that_can_be_named_travel() -> None:
    assert travels(basename)
    assert travels(partial(partial, basename)) is False  # a class
    assert travels(or_error(basename))
    assert not travels(lambda x: x)
    assert not travels(or_error(lambda x: x))
    assert not travels([].append)


def test_a_helper_finds_modules_where_its_caller_does_and_nowhere_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "here").mkdir()
    for name in ("PIL", "pickle", "numpy"):
        (tmp_path / "here" / f"{name}.py").write_text("raise SystemExit('ran')")
    monkeypatch.chdir(tmp_path / "here")
    odd = f"{tmp_path}/a{os.pathsep}b"
    monkeypatch.syspath_prepend(odd)
    helper = Helper()
    try:
        path, pillow = helper.map(eval, ["__import__('sys').path", "__import__('PIL').__version__"])
        assert path == sys.path
        assert pillow == PIL.__version__
    finally:
        helper.stop()
