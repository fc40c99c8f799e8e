"""Files of features that people bring: what is taken for what, and what is refused, with its place."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from firstsight.core.errors import DataError
from firstsight.data import feature_files
from firstsight.data.feature_files import is_feature_file, read_features

X = np.arange(6, dtype=np.float32).reshape(3, 2) / 4
LABELS, NAMES = ["ant", "bee", "ant"], ["a", "b", "c"]


def npz(path: Path, **arrays: Any) -> Path:
    np.savez(path, **arrays)
    return path


def csv(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def table(path: Path, **columns: Any) -> Path:
    parquet.write_table(pa.table(columns), path)
    return path


def test_all_formats_say_the_same(tmp_path: Path) -> None:
    lists = X.tolist()
    files = [
        npz(tmp_path / "a.npz", features=X.astype(np.float64), labels=np.array(LABELS), names=np.array(NAMES)),
        npz(tmp_path / "f.npz", features=np.asfortranarray(X), labels=np.array(LABELS, "S3"), names=np.array(NAMES)),
        csv(tmp_path / "a.csv", "x,Label,y,NAME\n0,ant,.25,a\n0.5,bee,0.75,b\n1,ant,125e-2,c\n"),
        csv(tmp_path / "l.csv", 'id,embedding,class\na,"[0, 0.25]",ant\nb,"[0.5, 0.75]",bee\n\nc,[1. 1.25],ant\n'),
        table(tmp_path / "a.parquet", x=X[:, 0], label=LABELS, y=X[:, 1], name=NAMES),
        table(tmp_path / "l.parquet", feature=lists, label=pa.array(LABELS).dictionary_encode(), name=NAMES),
        table(tmp_path / "f.parquet", vector=pa.array(lists, pa.list_(pa.float32(), 2)), category=LABELS, id=NAMES),
    ]
    for file in files:
        assert is_feature_file(file)
        found = read_features(file)
        assert found.features.dtype == np.float32, file
        assert found.features.tolist() == lists, file
        assert (list(found.truth), list(found.names)) == (LABELS, NAMES), file
        assert [str(feature) for feature in found] == NAMES


def test_the_column_of_categories_can_be_named(tmp_path: Path) -> None:
    """Others that would be taken for it are passed over then; one that would be a name is none."""
    for file, label in (
        (csv(tmp_path / "a.csv", "Genus,species,x,y\nant,1,0,.25\nbee,2,.5,.75\nant,3,1,1.25\n"), "genus"),
        (csv(tmp_path / "i.csv", "image,x,y\nant,0,.25\nbee,.5,.75\nant,1,1.25\n"), "image"),
        (table(tmp_path / "a.parquet", label=["?"] * 3, target=["?"] * 3, feature=X.tolist(), kin=LABELS), "kin"),
        (npz(tmp_path / "a.npz", features=X, labels=np.array(["?"] * 3), kin=np.array(LABELS)), "kin"),
    ):
        found = read_features(file, label)
        assert (list(found.truth), found.features.tolist()) == (LABELS, X.tolist()), file
        assert found.names[0] == f"{file.name}:1"
        with pytest.raises(DataError, match=r"has no (column|array) 'clan'"):
            read_features(file, "clan")
    np.save(tmp_path / "x.npy", X)
    with pytest.raises(DataError, match="holds features alone"):
        read_features(tmp_path / "x.npy", "kin")


def test_names_are_made_where_there_are_none_and_an_index_is_no_value(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    assert read_features(tmp_path / "x.npy").names == ("x.npy:1", "x.npy:2", "x.npy:3")
    with_index = read_features(csv(tmp_path / "p.csv", "\ufeff,0,1,label\n7,0,1,3\n8,2,3,4\n"))  # as pandas writes it
    assert with_index.features.tolist() == [[0, 1], [2, 3]]
    assert with_index.names == ("7", "8")
    assert with_index.truth == ("3", "4")
    assert read_features(npz(tmp_path / "n.npz", features=X, labels=np.array([1.0, 2, 3]))).truth == ("1", "2", "3")


def test_a_stream_needs_no_labels_and_a_support_set_does(tmp_path: Path) -> None:
    held = read_features(csv(tmp_path / "a.csv", "x,label\n1,ant\n2,\n"))
    assert len(list(held)) == 2
    with pytest.raises(DataError, match="line 3 has no label"):
        held.truth  # noqa: B018
    for file in (csv(tmp_path / "b.csv", "x,y\n1,2\n"), npz(tmp_path / "b.npz", features=X)):
        with pytest.raises(DataError, match="does not say which category"):
            read_features(file).truth  # noqa: B018


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("x,y\n", "holds no features"),
        ("label,name\nant,a\n", "no columns of values"),
        ("x,y\n1,two\n", r"line 2: column 'y' holds 'two', which is no number"),
        ("x,y\n1,2\n3,\n", r"line 3: column 'y' holds nothing"),
        ("x,y\n1,2\n\n3\n", "line 4 has 1 cells, and there are 2 columns"),
        ("x,y\n1,nan\n", "line 2 holds nan as value 2"),
        ("x,y\n1,1e300\n", "line 2 holds 1e[+]300 as value 2"),
        ("x,x\n1,2\n", "2 columns called 'x'"),
        ("label,x,class\na,1,b\n", "'label' and 'class', which mean the same"),
        ("feature,x\n[1 2],3\n", "'feature' of whole features, and 'x' besides"),
        ("feature\n[1 2]\n[1 2 3]\n", "line 3 has a feature of 3 values, the first has 2"),
        ("feature\nmoth\n", "line 2: column 'feature' holds 'moth', which is no list"),
        ('feature\n"{""a"": 1, ""b"": 2}"\n', "which is no list"),
        ('feature\n"' + "[" * 5000 + "," + "]" * 5000 + '"\n', "which is no list"),
        ("x;y\n1,5;2,5\n", "has semicolons between its cells"),
        ("x,name\n1,a\n2,a\n", "line 2 and line 3 are both called 'a'"),
        ("x,name\n1,a\x07\n", "as its name"),
        ("x,y\n1," + "9" * 200_000 + "\n", "line 2 is no CSV: field larger"),
        ('x,y\n1,"2\n', "is no CSV"),
        (",".join(f"d{i}" for i in range(70_000)) + "\n", "70,000 columns of values"),
    ],
)  # fmt: skip
def test_a_table_that_cannot_be_used_is_refused_with_the_place(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_features(csv(tmp_path / "bad.csv", text))
    assert "bad.csv" in caught.value.what
    assert caught.value.remedy
    assert len(str(caught.value)) < 600


def header(shape: tuple[int, ...], content: bytes = b"", more: str = "") -> bytes:
    """An .npy file that says what it likes."""
    text = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, {more}}}".encode()
    return b"\x93NUMPY\x02\x00" + len(text).to_bytes(4, "little") + text + content


def packed(path: Path, members: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(f"{name}.npy", content)
    return path


def test_hostile_arrays_are_refused_before_they_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_files, "ALLOWED", 1 << 16)
    objects, bad = io.BytesIO(), tmp_path / "bad.npz"
    np.save(objects, np.array(["x", None], dtype=object), allow_pickle=True)
    zeros = io.BytesIO()
    np.save(zeros, np.zeros((4, 1 << 20), dtype=np.uint8))
    for members, message in (
        ({"features": objects.getvalue()}, "features is of Python objects, which are never loaded"),
        ({"features": header((1 << 40, 1 << 20))}, "says its shape is"),
        ({"features": header((-1, 2))}, "bad.npz"),
        ({"features": header((2, 2), b"1234")}, "says its shape is|is no array"),
        ({"features": header((1, 1), b"1234", "'x': " + "'y" * 20_000 + "',")}, "is no array"),
        ({"features": b"moth"}, "is no array"),
        ({"feature": header((1, 1), b"1234")}, "holds feature, and no array features"),
        ({}, "holds nothing"),
        ({"features": zeros.getvalue()}, "says it unpacks to"),
    ):
        with pytest.raises(DataError, match=message):
            read_features(packed(bad, members))
    bad.write_bytes(b"PK no archive")
    with pytest.raises(DataError, match=r"is no \.npz file"):
        read_features(bad)


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"features": X[0]}, r"features have shape \(2,\)"),
        ({"features": X.astype(complex)}, "of type complex128"),
        ({"features": X.astype(str)}, "of type <U"),
        ({"features": X, "labels": np.array(["a", "b"])}, "3 features and 2 labels"),
        ({"features": X, "labels": np.zeros((3, 1))}, r"labels have shape \(3, 1\)"),
        ({"features": X, "names": np.array(["a", "b", "a"])}, "feature 0 and feature 2 are both called 'a'"),
        ({"features": X[:0]}, "holds no features"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(arrays: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_features(npz(tmp_path / "bad.npz", **arrays))


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": ["a", "b"]}, "column 'x' is of string, not of numbers"),
        ({"x": [1.0, None]}, "column 'x' is empty at feature 1"),
        ({"feature": [[1.0], [1.0, 2.0]]}, "feature 1 has 2 values, the first has 1"),
        ({"feature": [[1.0], [None]]}, "1 empty values"),
        ({"feature": [["a"], ["b"]]}, "not of numbers"),
        ({"feature": [1.0, 2.0]}, "not of lists"),
        ({"x": [1.0, 2.0], "label": [["a"], ["b"]]}, "column 'label' is of list"),
        ({"x": pa.nulls(0, pa.float32())}, "holds no features"),
    ],
)
def test_parquet_that_does_not_fit_is_refused(columns: dict[str, Any], message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=message):
        read_features(table(tmp_path / "bad.parquet", **columns))


def test_parquet_that_is_none_or_too_much_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_files, "ALLOWED", 1 << 16)
    bad = tmp_path / "bad.parquet"
    bad.write_bytes(b"PAR1 and no more PAR1")
    with pytest.raises(DataError, match="is no Parquet file"):
        read_features(bad)
    large = pa.table({f"d{i}": pa.repeat(pa.scalar(0.0), 1 << 16) for i in range(2)})
    parquet.write_table(large, bad, compression="zstd")
    with pytest.raises(DataError, match="says it unpacks to"):
        read_features(bad)
    with pytest.raises(DataError, match="does not exist"):
        read_features(tmp_path / "none.csv")
    (tmp_path / "latin.csv").write_bytes("x,näme\n1,b\n".encode("latin-1"))
    with pytest.raises(DataError, match="is not UTF-8 text"):
        read_features(tmp_path / "latin.csv")
