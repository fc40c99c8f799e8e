"""A run as TensorBoard is told of it: what is there, and that looking on changes nothing."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest

import firstsight
from firstsight.core.errors import SettingsError
from firstsight.train import track


def events(folder: Path) -> Any:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    found = EventAccumulator(str(folder))
    found.Reload()
    return found


def test_a_run_is_tracked_and_comes_out_the_same(
    moths: Path, tiny: dict[str, Any], model_folder: Path, tmp_path: Path
) -> None:
    """`model_folder` was fitted on the same images with the same settings, untracked."""
    model = firstsight.fit(moths / "support", tmp_path / "m", device="cpu", track=tmp_path / "run", **tiny)
    assert model.fingerprint == firstsight.load(model_folder, device="cpu").fingerprint
    found = events(tmp_path / "run")
    scalars = set(found.Tags()["scalars"])
    assert {"losses/L_p", "losses/total", "learning rate/heads", "centres/closest pair", "report/seconds"} <= scalars
    assert [each.step for each in found.Scalars("losses/total")] == [1, 2, 3]
    assert {"centres/distances", "prototypes/distances", "register/distances"} <= set(found.Tags()["histograms"])
    assert {f"examples/{name}" for name in model.names} == set(found.Tags()["images"])


def test_what_is_missing_is_said_before_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(
        track, "find_spec", lambda name: None if name == "tensorboard" else importlib.util.find_spec(name)
    )
    with pytest.raises(SettingsError, match="needs tensorboard"), track.tracking(tmp_path / "run"):
        raise AssertionError
    assert not (tmp_path / "run").exists()


def test_of_several_processes_the_first_one_writes(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("RANK", "1")
    with track.tracking(tmp_path / "run") as tracker:
        assert type(tracker) is track.Untracked
    assert not (tmp_path / "run").exists()
