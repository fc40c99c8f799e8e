"""Cores that may be used, and pools held to one thread."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier, Event
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

import firstsight
from firstsight.core import threads
from firstsight.core.threads import asked, computing_threads, cores, one_thread, quota
from firstsight.data.folder import read_folder
from firstsight.evaluate.stream import evaluate
from firstsight.methods.baselines.leader import ClassMeans
from firstsight.register.features import FeatureRegister
from tiny_settings import tiny_for


def counts(kind: str = "") -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if kind in pool["user_api"]}


def test_pools_are_held_to_one_thread_and_let_go() -> None:
    with threadpool_limits(limits=3):
        with one_thread():
            assert counts() == {1}
            with one_thread():
                assert counts() == {1}
            assert counts() == {1}
        assert counts() == {3}


def test_an_error_lets_go_too() -> None:
    @one_thread()
    def fails() -> None:
        assert counts() == {1}
        raise ValueError("of its own")

    with threadpool_limits(limits=3):
        with pytest.raises(ValueError, match="of its own"):
            fails()
        assert counts() == {3}


def test_who_enters_meanwhile_goes_along_and_leaves_nothing_behind() -> None:
    """The first to enter leaves first: what the second found on entering must not stay for good."""
    first_in, both_in, one_out = Event(), Barrier(2), Barrier(2)

    def first() -> None:
        with one_thread():
            first_in.set()
            both_in.wait()
        one_out.wait()

    def second() -> set[int]:
        first_in.wait()
        with one_thread():
            seen = counts("blas")
            both_in.wait()
            one_out.wait()
            return seen

    with ThreadPoolExecutor(1) as ended:  # a thread that has ended keeps no other from setting what it has set
        limits = ended.submit(threadpool_limits, 3, "blas").result()
    with ThreadPoolExecutor(2) as pool:
        before = pool.submit(counts, "blas").result()
        pool.submit(first)
        assert pool.submit(second).result() == {1}
        assert pool.submit(counts, "blas").result() == before
    with ThreadPoolExecutor(1) as ended:
        ended.submit(limits.restore_original_limits).result()


def test_processes_share_the_cores_and_a_user_may_ask_for_less(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
    monkeypatch.setattr(threads, "cores", lambda: 12)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert [computing_threads(processes) for processes in (1, 4, 5, 64)] == [12, 3, 2, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert [computing_threads(processes) for processes in (1, 4, 64)] == [2, 2, 1]
    monkeypatch.setenv("OMP_NUM_THREADS", "96")
    assert computing_threads() == 12


@pytest.mark.parametrize(("text", "count"), [("4", 4), (" 2,8", 2), ("", None), ("many", None), ("0", None)])
def test_what_a_user_asks_for(text: str, count: int | None) -> None:
    assert asked(text) == count


@pytest.mark.parametrize(("text", "share"), [("150000 100000\n", 2), ("max 100000\n", None), ("50000 100000", 1)])
def test_a_containers_quota(tmp_path: Path, text: str, share: int | None) -> None:
    (tmp_path / "cpu.max").write_text(text)
    assert quota(tmp_path) == share


@pytest.mark.parametrize(("time", "share"), [("400000", 4), ("-1", None)])
def test_an_older_containers_quota(tmp_path: Path, time: str, share: int | None) -> None:
    (tmp_path / "cpu").mkdir()
    (tmp_path / "cpu" / "cpu.cfs_quota_us").write_text(time + "\n")
    (tmp_path / "cpu" / "cpu.cfs_period_us").write_text("100000\n")
    assert quota(tmp_path) == share


def test_a_system_without_quotas(tmp_path: Path) -> None:
    assert quota(tmp_path) is None


def test_fitting_and_deciding_run_in_one_thread(
    moths: Path, tiny: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: dict[str, set[int]] = {}

    def watch(kind: type, verb: str) -> None:
        plain = getattr(kind, verb)

        def watched(*given: Any) -> Any:
            seen[verb] = seen.get(verb, set()) | counts()
            return plain(*given)

        monkeypatch.setattr(kind, verb, watched)

    for kind, verb in ((ClassMeans, "fit"), (FeatureRegister, "assign_many"), (FeatureRegister, "match")):
        watch(kind, verb)
    with threadpool_limits(limits=3):
        model = firstsight.fit(moths / "support", device="cpu", **tiny_for("ncm", tiny))
        evaluate(model, read_folder(moths / "stream"))
        discoverer = firstsight.Discoverer(model)
        image = next((moths / "stream").rglob("*.jpg"))
        discoverer.discover_one(image)
        discoverer.predict_one(image)
    assert seen == {"fit": {1}, "assign_many": {1}, "match": {1}}
