"""Kinds of registers are open: one of your own is known by its name, or by where it is to whoever trusts that."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from firstsight.core.errors import Incompatible, SettingsError
from firstsight.core.protocols import Provenance
from firstsight.register.features import FeatureRegister, closed_set_features
from firstsight.register.kinds import KINDS, of_header, register_kind
from firstsight.store.store import Arrival, Store
from firstsight.store.views import summaries

MODEL = Provenance("f" * 64, 1, "cpu", "fp32")
MODULE = """
from pathlib import Path
from firstsight.register.features import FeatureRegister
Path(__file__).with_name('ran').touch()

class Mine(FeatureRegister):
    kind = "elsewhere:Mine"
"""


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A module with a kind of its own; the file that importing it makes."""
    (tmp_path / "elsewhere.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    yield tmp_path / "ran"
    sys.modules.pop("elsewhere", None)


def arrival(*values: float) -> Arrival:
    return Arrival(f"{values}.jpg", bytes(32), np.array(values, dtype=np.float32))


def test_every_kind_is_where_it_is_said_to_be() -> None:
    for name, where in list(KINDS.items()):
        with pytest.raises(KeyError):
            of_header({"kind": name})  # it was found, and misses the rest of its header
        assert isinstance(where, str)


def test_a_kind_of_your_own_is_kept_in_a_store_and_comes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Squared(FeatureRegister):
        """Distances between squares."""

        kind = "squared"

        def _comparable(self, features: Any) -> Any:
            return super()._comparable(np.square(features))

    monkeypatch.delitem(KINDS, "squared", raising=False)
    assert register_kind(Squared) is Squared
    start = Squared("euclidean", 1.0, ["ant"], np.array([[2.0, 0.0]], dtype=np.float32))
    with Store.create(tmp_path / "a.db", start, MODEL) as store:
        assert store.record([arrival(-2, 0)], MODEL)[0].category == "ant"
    with Store.open(tmp_path / "a.db") as store:
        assert isinstance(store.register, Squared)
    monkeypatch.delitem(KINDS, "squared")
    with Store.open(tmp_path / "a.db") as store:
        assert summaries(store.view())[0].images == 1  # looking needs no register
        with pytest.raises(Incompatible, match="of kind 'squared'"):
            store.record([arrival(3, 0)], MODEL)


def test_two_kinds_cannot_have_one_name() -> None:
    class Codes(FeatureRegister):
        kind = "codes"

    with pytest.raises(SettingsError, match="called 'codes' already"):
        register_kind(Codes)
    with pytest.raises(SettingsError, match="has no kind and no of"):
        register_kind(object)


def test_a_kind_from_elsewhere_runs_only_where_it_is_trusted(tmp_path: Path, elsewhere: Path) -> None:
    from elsewhere import Mine  # type: ignore[import-not-found]

    with Store.create(tmp_path / "a.db", Mine("euclidean", 1.0), MODEL, trust=True) as store:
        store.record([arrival(0, 0)], MODEL)
    sys.modules.pop("elsewhere")
    elsewhere.unlink()
    with Store.open(tmp_path / "a.db") as store:
        with pytest.raises(Incompatible, match="to use it is to run that module"):
            store.match(arrival(0, 0).feature, b"")
        assert not elsewhere.exists()
    with Store.open(tmp_path / "a.db", trust=True) as store:
        assert store.match(arrival(0, 0).feature, b"").category == "new-1"
    assert elsewhere.exists()


def test_what_never_discovers_is_infinite_here_and_null_in_json(tmp_path: Path) -> None:
    closed = closed_set_features("cosine", ["ant"], np.ones((1, 2), dtype=np.float32))
    assert closed.radius == math.inf
    assert closed.header()["radius"] is None
    with Store.create(tmp_path / "a.db", closed, MODEL) as store:
        assert store.record([arrival(-1, -1)], MODEL)[0].category == "ant"
    with Store.open(tmp_path / "a.db") as store:
        assert store.assignment(1).radius == store.register.radius == store.view().radius == math.inf
