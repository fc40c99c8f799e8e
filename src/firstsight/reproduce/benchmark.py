"""Benchmarks: methods on a data set's split, over seeds and orders, one JSON file per run, resumable.

Nothing of the query stream is known to training but, for the paper's preset, how many categories it has, as the paper
does. The last epoch is reported. Every run that looks at a query stream is written into a ledger.
"""

from __future__ import annotations

import hashlib
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from firstsight.core.errors import DataError, SettingsError
from firstsight.core.files import FileLock, digest, read_json, write_file
from firstsight.core.protocols import Progress, Silent
from firstsight.core.settings import specs_of
from firstsight.data.folder import LabelledImages
from firstsight.evaluate.orders import RANDOM_ORDERS
from firstsight.methods.catalogue import method, parts_of
from firstsight.methods.settings import check_meaning
from firstsight.methods.settings import settings as settings_of
from firstsight.reproduce.jobs import prepare, run_many
from firstsight.reproduce.provenance import check_ledger, record

PARTS = ("all", "old", "new")
OTHERS = ("by_name", "false_births", "mutual_information", "rand_index")
KINDS = {"data": str, "method": str, "seed": int, "known_share": int, "closer": bool, "true_categories": int}
ALWAYS = ("closed-set-ce", "offline-kmeans")  # in every table, asked for or not


@dataclass(frozen=True)
class Run:
    """One training: everything that names its file. `bits` is None where code lengths mean nothing to the method.

    `varied` are settings that are tried out; a `closer` look saves what figures need beyond accuracy.
    """

    data: str
    method: str
    bits: int | None
    seed: int
    known_share: int = 50
    varied: tuple[tuple[str, float], ...] = ()
    closer: bool = False

    @property
    def name(self) -> str:
        share = f"-{self.known_share}known" if self.known_share != 50 else ""
        bits = f"-{self.bits}bit" if self.bits is not None else ""
        method = re.sub(r"[^\w-]", "-", self.method)  # a name such as module:Class
        varied = "".join(f"-{name.replace('_', '-')}{value:g}" for name, value in self.varied)
        closer = "-closer" if self.closer else ""
        return f"{self.data}{share}-{method}{bits}{varied}{closer}-seed{self.seed}"

    @property
    def file(self) -> str:
        return f"{self.name}.json"

    def settings(self, changes: Mapping[str, Any], categories: int) -> Any:
        """The method's settings with those asked for; the paper's preset is told how many categories will come."""
        told = {"expected_categories": categories} if self.method == "phe-paper" else {}
        length = {} if self.bits is None else {"bits": self.bits}
        given = {name: value for name, value in changes.items() if method(self.method).has(name)}
        return settings_of(self.method, **{**told, **given, **dict(self.varied), **length, "seed": self.seed})


def runs(data: str, methods: Sequence[str], bits: Sequence[int], seeds: int, known_share: int = 50) -> list[Run]:
    """All trainings of a table, those that tell most first: every method once before the next seed."""
    lengths = {name: method(name).lengths(bits) for name in dict.fromkeys([*methods, *ALWAYS])}
    if lacking := [name for name, some in lengths.items() if not some]:
        raise SettingsError(f"{lacking[0]} has no codes of {', '.join(map(str, bits))} bits", "16, 32 and 64 it has")
    wanted = [Run(data, m, b, s, known_share) for s in range(seeds) for m, some in lengths.items() for b in some]
    return [run for run in wanted if run.method != "offline-kmeans" or run.seed == 0]  # it learns nothing


def benchmark(
    wanted: Sequence[Run],
    parts: tuple[LabelledImages, LabelledImages],
    changes: Mapping[str, Any],
    out: Path,
    *,
    ledger: Path | None = None,
    orders: int = RANDOM_ORDERS,
    same_orders: bool = True,
    device: str = "auto",
    jobs: int = 1,
    progress: Progress | None = None,
) -> Iterator[dict[str, Any]]:
    """Run what is missing and yield every result as it is there; `jobs` trainings at a time share the device.

    What cannot be run is refused before anything is. Without `same_orders` kept runs may have been scored in more or
    fewer of them.
    """
    progress = progress or Silent()
    check_parts(*parts)
    check_meaning(changes, [run.method for run in wanted])
    settings = {run: run.settings(changes, len(parts[1].categories)) for run in wanted}
    for each in settings.values():
        for part in parts_of(each.method):
            part.check(len(parts[0].categories), each)
    made_of = {"split": split_digest(*parts), "weights": _weights(changes), "orders": orders}
    with _alone(out):
        same = made_of if same_orders else {key: value for key, value in made_of.items() if key != "orders"}
        kept = {run: _kept(out / run.file, settings[run], same) for run in wanted if (out / run.file).is_file()}
        yield from kept.values()
        missing = [(run, settings[run]) for run in wanted if run not in kept]
        if not missing:
            return
        if ledger is not None:
            check_ledger(ledger)
        task = prepare(parts, missing[0][1], orders, device, progress)
        with tempfile.TemporaryDirectory(prefix="firstsight-") as shared:
            for run, result in run_many(task, missing, jobs, Path(shared), progress):
                result |= made_of
                if (
                    ledger is not None
                ):  # before the result: a look that is not in the ledger is worse than a line too many
                    record(ledger, result)
                write_file(out / run.file, (json.dumps(result, indent=1) + "\n").encode())
                yield result


def check_parts(support: LabelledImages, query: LabelledImages) -> None:
    """Refuse a split that nothing can be learned from or scored on."""
    if empty := [name for name, count in zip(support.categories, support.counts(), strict=True) if not count]:
        raise DataError(
            f"{len(empty)} known categories got no support image, such as {empty[0]!r}",
            "use --stratified, which takes half of each category, or leave small categories out",
        )
    if len(support.categories) < 2 or not query.images:
        raise DataError(
            f"{len(support.categories)} known categories and {len(query.images)} images to arrive",
            "at least 2 known categories and 1 image are needed",
        )


def split_digest(support: LabelledImages, query: LabelledImages) -> str:
    """What tells one split of one data set from another."""
    seal = hashlib.sha256()
    for part in (support, query):
        for name, label in zip(part.names, part.labels, strict=True):
            seal.update(f"{name}\t{part.categories[label]}\n".encode())
        seal.update(b"\n")
    return seal.hexdigest()[:16]


def _weights(changes: Mapping[str, Any]) -> str | None:
    path = Path(changes["weights"]) if changes.get("weights") else None
    return digest(path)[:16] if path and path.is_file() else None


@contextmanager
def _alone(out: Path) -> Iterator[None]:
    lock = FileLock(out / ".lock")
    if not lock.acquire():
        raise DataError(f"another benchmark is at work on {out}", "wait for it, or choose another --out")
    try:
        yield
    finally:
        lock.release()


def _kept(path: Path, settings: Any, made_of: Mapping[str, Any]) -> dict[str, Any]:
    """An earlier result, if it is of the same run; a setting that there was none of then had its default."""
    result = read_result(path)
    now = {**settings.as_dict(), **made_of}
    defaults = {name: spec.default for name, spec in specs_of(type(settings)).items()}
    then = {**defaults, **result["settings"], **{name: result.get(name) for name in made_of}}
    if differing := [key for key in now if then.get(key) != now[key]]:
        key = differing[0]
        raise SettingsError(
            f"{path} was made with {key} {then.get(key)!r}, now it is {now[key]!r}",
            "give what it was made with, or choose another --out",
        )
    return result


def read_result(path: Path) -> dict[str, Any]:
    """A run's file."""
    try:
        result: dict[str, Any] = read_json(path.read_bytes())
        varied = tuple((name, value) for name, value in result.get("varied", ()))
        parts = {"settings": dict(result["settings"]), "rows": dict(result["rows"]), "varied": varied}
        result = {"closer": False, **result, **parts}
        _check(result)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise DataError(f"{path} is damaged, or no result of a benchmark", "remove it, and it is made again") from None
    return result


def _check(result: Mapping[str, Any]) -> None:
    """An error, whichever, where no table could be made of a result."""
    for name, kind in KINDS.items():
        if type(result[name]) is not kind:
            raise TypeError(name)
    if result["bits"] is not None and type(result["bits"]) is not int:
        raise TypeError("bits")
    for row in (row for rows in result["rows"].values() for row in rows):
        shares = [row[name][part] for name in ("accuracy", "largest", "separate") if name in row for part in PARTS]
        numbers = [row["categories"], *shares, *(row[name] for name in OTHERS if name in row)]
        if not isinstance(row["name"], str) or not all(_is_number(each) for each in numbers if each is not None):
            raise TypeError(row["name"])
    if not all(isinstance(name, str) and _is_number(value) for name, value in result["varied"]):
        raise TypeError("varied")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
