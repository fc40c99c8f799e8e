"""Results in their files: what is written is read, what is damaged is named, what was cut off is made again."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from math import isnan
from pathlib import Path
from typing import Any

import pytest
from run_results import a_look, a_result, a_row

from firstsight.core.errors import DataError, DiskError
from firstsight.reproduce.results import RunResult
from firstsight.reproduce.run_files import RunFile, read_results


def test_a_result_is_read_as_it_was_written() -> None:
    result = a_result(varied=(("alpha", 0.5),), inspected=True, inspection=a_look(), bits=None)
    line = result.to_line()
    assert "\n" not in line
    again = RunResult.from_line(line)
    assert again.to_line() == line
    assert again.run == result.run
    assert isnan(again.headline.false_births)
    assert again.settings == result.settings
    assert again.inspection is not None
    assert again.inspection.codes == a_look().codes


def test_results_are_appended_and_read_by_their_run(tmp_path: Path) -> None:
    file = RunFile(tmp_path / "new", "cub")
    assert file.read() == {}
    first, second = a_result(seed=0), a_result(seed=1)
    file.append(first)
    content = file.path.read_bytes()
    file.append(second)
    assert file.path.read_bytes().startswith(content)  # nothing is rewritten
    assert list(file.read()) == [first.run, second.run]


def test_of_two_results_of_a_run_the_later_counts(tmp_path: Path) -> None:
    file = RunFile(tmp_path, "cub")
    for share in (0.2, 0.3):
        file.append(a_result(rows=[a_row(share=share)]))
    (result,) = file.read().values()
    assert result.headline.accuracy.all == 0.3


@pytest.mark.parametrize("left", [1, 40, -1])
def test_a_line_that_was_cut_off_is_missing_and_replaced(tmp_path: Path, left: int) -> None:
    """As by a process that was killed while it wrote."""
    file = RunFile(tmp_path, "cub")
    file.append(a_result(seed=0))
    with file.path.open("ab") as opened:
        opened.write(a_result(seed=1).to_line().encode()[:left])
    assert [run.seed for run in file.read()] == [0]
    file.append(a_result(seed=2))
    assert [run.seed for run in file.read()] == [0, 2]
    assert file.path.read_bytes().count(b"\n") == 2


def test_a_whole_line_without_its_end_is_kept(tmp_path: Path) -> None:
    """As editors leave it."""
    file = RunFile(tmp_path, "cub")
    file.path.write_text(a_result(seed=0).to_line())
    assert [run.seed for run in file.read()] == [0]
    file.append(a_result(seed=1))
    assert [run.seed for run in file.read()] == [0, 1]


def changed(change: Callable[[dict[str, Any]], None]) -> str:
    content = json.loads(a_result().to_line())
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('{"run"', "it is damaged, or no JSON"),
        ("[" * 100_000, "it is damaged, or no JSON"),
        ("[1]", "it is [1]; expected an object"),
        (changed(lambda r: r["run"].update(data=3)), "run.data is 3; expected text"),
        (changed(lambda r: r["run"].update(bits="12")), "run.bits is '12'; expected a whole number"),
        (changed(lambda r: r["run"].update(varied=[["k", "x"]])), "run.varied[0][1] is 'x'; expected a number"),
        (changed(lambda r: r["run"].update(data="pets")), "run.data is 'pets'; expected 'cub'"),
        (changed(lambda r: r["rows"]["own"][0].update(accuracy=7)), "rows.own[0].accuracy is 7; expected an object"),
        (changed(lambda r: r["rows"]["own"][0]["accuracy"].update(all=[])), "rows.own[0].accuracy.all is []; expected"),
        (changed(lambda r: r["rows"].update(own=1.5)), "rows.own is 1.5; expected a list"),
        (changed(lambda r: r.pop("seconds")), "seconds is missing"),
        (changed(lambda r: r.update(look={})), "look is no field"),
    ],
)
def test_a_bad_line_is_named_by_file_line_and_field(tmp_path: Path, line: str, said: str) -> None:
    file = RunFile(tmp_path, "cub")
    file.append(a_result())
    with file.path.open("a") as opened:
        opened.write(f"{line}\n")
    with pytest.raises(DataError) as caught:
        file.read()
    assert caught.value.what.startswith(f"{file.path}, line 2: {said}")
    assert "remove that line" in caught.value.remedy


def test_results_come_in_the_order_methods_are_listed(tmp_path: Path) -> None:
    for data, method, bits, seed in (("pets", "phe", 12, 0), ("cub", "smile", 12, 0), ("cub", "phe", 12, 1)):
        RunFile(tmp_path, data).append(a_result(method, seed, data=data, bits=bits))
    RunFile(tmp_path, "cub").append(a_result(seed=0, bits=32))
    RunFile(tmp_path, "cub").append(a_result(seed=0))
    (tmp_path / "ledger.jsonl").write_text('{"data": "cub"}\n')  # no results
    runs = [result.run for result in read_results(tmp_path)]
    assert [(run.data, run.method, run.bits, run.seed) for run in runs] == [
        ("cub", "phe", 12, 0),
        ("cub", "phe", 12, 1),
        ("cub", "phe", 32, 0),
        ("cub", "smile", 12, 0),
        ("pets", "phe", 12, 0),
    ]
    assert {result.run.data for result in read_results(tmp_path, "pets")} == {"pets"}


def test_what_is_tried_or_inspected_is_read_if_asked(tmp_path: Path) -> None:
    file = RunFile(tmp_path, "cub")
    for result in (a_result(), a_result(varied=(("alpha", 0.5),)), a_result(inspected=True)):
        file.append(result)
    assert len(read_results(tmp_path)) == 1
    assert len(read_results(tmp_path, every=True)) == 3


def test_two_benchmarks_do_not_work_on_one_file(tmp_path: Path) -> None:
    file = RunFile(tmp_path, "cub")
    refused = pytest.raises(DataError, match="another benchmark is at work on cub")
    with file.alone(), RunFile(tmp_path, "pets").alone(), refused, RunFile(tmp_path, "cub").alone():
        pass
    with file.alone():
        pass
    assert list(tmp_path.iterdir()) == []


def test_a_result_that_cannot_be_written_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DiskError):
        RunFile(tmp_path / "file", "cub").append(a_result())


def test_the_headline_is_of_the_methods_own_rule() -> None:
    result = replace(a_result(), rows={"nearest": [a_row(share=0.3)], "reference": [a_row(share=0.2)]})
    assert RunResult.from_line(result.to_line()).headline.accuracy.all == 0.3


WRITER = """
import sys
from pathlib import Path
from run_results import a_result
from firstsight.reproduce.run_files import RunFile
file = RunFile(Path(sys.argv[1]), "cub")
with file.alone():
    for seed in range(10**6):
        file.append(a_result(seed=seed))
        print(seed, flush=True)
"""


def test_a_killed_writer_leaves_whole_results_and_no_lock(tmp_path: Path) -> None:
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent)}
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as writer:
        assert writer.stdout is not None
        said = [int(writer.stdout.readline()) for _ in range(20)]
        with pytest.raises(DataError, match="another benchmark"), RunFile(tmp_path, "cub").alone():
            pass
        writer.kill()
        said += [int(line) for line in writer.stdout]
    file = RunFile(tmp_path, "cub")
    with file.alone():
        seeds = [run.seed for run in file.read()]
        assert seeds[: len(said)] == said  # what was said to be there is there
        file.append(a_result(seed=-1))
    assert [run.seed for run in file.read()] == [*seeds, -1]
