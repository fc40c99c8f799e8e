"""The same by a cluster: Ray Data hands out parts, and each is encoded and written by whichever worker has it.

A worker that dies leaves no part half written, and what it was at is handed to another. The folder is one that all
workers reach.
"""

from __future__ import annotations

import logging
import os
import pickle
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from firstsight.core.errors import ProcessDied, SettingsError
from firstsight.core.protocols import Progress, Silent
from firstsight.data.images import ImageLike
from firstsight.model.folder import load_model
from firstsight.model.model import Model
from firstsight.scale.encoding import PART, about, encode_part
from firstsight.scale.parts import About, begin


class Worker:
    """Loads the model once, and encodes the parts it is given."""

    def __init__(self, model: str, device: str, exact: bool, trust: bool, folder: str, told: dict[str, Any]) -> None:
        self.encoder = load_model(model, device, exact, trust).image_encoder
        self.folder, self.told = Path(folder), About(**told)

    def __call__(self, batch: dict[str, Any]) -> dict[str, list[int]]:
        counts = []
        for number, images in zip(batch["part"], batch["images"], strict=True):
            counts.append(encode_part(self.encoder, pickle.loads(images), self.folder, int(number), self.told))
        return {"encoded": counts}


def encode_by_ray(
    path: Path,
    model: Model,
    images: Sequence[ImageLike],
    folder: Path,
    part: int = PART,
    progress: Progress | None = None,
    address: str | None = None,
    workers: int | None = None,
    trust: bool = False,
) -> int:
    """Encode what is missing on a cluster, or on one of this machine; how many images that was."""
    ray = _ray()
    told = about(model, images, part)
    missing = begin(folder, told)
    if not missing:
        return 0
    if not ray.is_initialized():
        ray.init(address=address, log_to_driver=False, logging_level="ERROR", include_dashboard=False)
    for name in ("ray", "ray.data"):
        logging.getLogger(name).setLevel(logging.ERROR)
    on_gpu = model.image_encoder.device_name.startswith("cuda")
    resources = ray.cluster_resources()
    many = workers or max(1, int(resources.get("GPU" if on_gpu else "CPU", 1)))
    items = [
        {"part": number, "images": pickle.dumps(list(images[number * part : (number + 1) * part]))}
        for number in missing
    ]
    ray.data.DataContext.get_current().enable_progress_bars = False
    encoder = model.image_encoder
    given = (str(path.resolve()), encoder.runs_on, encoder.exact, trust)
    done = ray.data.from_items(items, override_num_blocks=len(items)).map_batches(
        Worker,
        fn_constructor_args=(*given, str(folder.resolve()), asdict(told)),
        batch_size=1,
        compute=ray.data.ActorPoolStrategy(size=min(many, len(items))),
        num_cpus=0 if on_gpu else min(resources.get("CPU", 1) / many, _smallest(ray)),
        num_gpus=1 if on_gpu else 0,
    )
    total = 0
    try:
        with (progress or Silent()).task("encoding", sum(_size(images, part, number) for number in missing)) as advance:
            for line in done.iter_rows():
                total += line["encoded"]
                for _ in range(line["encoded"]):
                    advance()
    except ray.exceptions.RayError as error:
        reason = str(error).strip().splitlines()[-1]
        raise ProcessDied(f"the cluster gave up: {reason}", "run the same again: it goes on where it was") from None
    return total


def _smallest(ray: Any) -> float:
    """The cores of the machine that has fewest: a worker must fit on one."""
    return float(min(node["Resources"].get("CPU", 1) for node in ray.nodes() if node["Alive"]))


def _size(images: Sequence[ImageLike], part: int, number: int) -> int:
    return min(part, len(images) - number * part)


def _ray() -> Any:
    os.environ.setdefault("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # workers run where we do, not in a copy of it
    try:
        import ray
        import ray.data
    except ModuleNotFoundError:
        raise SettingsError("--engine ray needs Ray, which is missing", "pip install 'firstsight[scale]'") from None
    return ray
