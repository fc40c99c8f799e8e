"""Which runs a table takes, and what tells one from another."""

from __future__ import annotations

import pytest

from firstsight.core.errors import SettingsError
from firstsight.reproduce.runs import Run, runs


def test_every_method_comes_once_before_the_next_seed() -> None:
    wanted = runs("cub", ["phe", "slc"], [12, 32], 2)
    assert [(run.method, run.bits, run.seed) for run in wanted] == [
        ("phe", 12, 0),
        ("phe", 32, 0),
        ("slc", None, 0),
        ("closed-set-ce", None, 0),
        ("offline-kmeans", None, 0),
        ("phe", 12, 1),
        ("phe", 32, 1),
        ("slc", None, 1),
        ("closed-set-ce", None, 1),  # and k-means once: it learns nothing
    ]


def test_code_lengths_a_method_has_not_are_refused() -> None:
    assert [run.bits for run in runs("cub", ["csq"], [12, 32], 1) if run.method == "csq"] == [32]
    with pytest.raises(SettingsError, match="csq has no codes of 12 bits"):
        runs("cub", ["csq"], [12], 1)


def test_names_tell_runs_apart() -> None:
    plain = Run("cub", "phe", 12, 0)
    others = [
        Run("pets", "phe", 12, 0),
        Run("cub", "smile", 12, 0),
        Run("cub", "phe", None, 0),
        Run("cub", "phe", 12, 1),
        Run("cub", "phe", 12, 0, 25),
        Run("cub", "phe", 12, 0, varied=(("feature_scale", 0.5),)),
        Run("cub", "phe", 12, 0, inspected=True),
        Run("cub", "module:Phe", 12, 0),
    ]
    assert len({run.name for run in (plain, *others)}) == len(others) + 1
    assert plain.name == "cub-phe-12bit-seed0"
    assert others[4].name == "cub-25known-phe-12bit-seed0"
    assert others[5].name == "cub-phe-12bit-feature-scale0.5-seed0"
    assert others[7].name == "cub-module-Phe-12bit-seed0"


def test_only_the_papers_preset_is_told_how_many_categories_come() -> None:
    """Nothing leaks."""
    assert Run("cub", "phe", 12, 3).settings({}, 200).expected_categories is None
    told = Run("cub", "phe-paper", 12, 3).settings({}, 200)
    assert (told.expected_categories, told.seed, told.bits) == (200, 3, 12)


def test_what_is_tried_outranks_what_is_given() -> None:
    run = Run("cub", "phe", 16, 0, varied=(("alpha", 0.5),))
    settings = run.settings({"alpha": 0.2, "beta": 2.0, "seed": 9}, 200)
    assert (settings.alpha, settings.beta, settings.bits, settings.seed) == (0.5, 2.0, 16, 0)
