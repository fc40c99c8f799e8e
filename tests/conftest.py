"""Small things many tests need: images, a tiny backbone saved by the tests themselves, a trained model and a sure one.

A test that needs certain answers takes `swatches` and `sure_model`: those of a learner trained for a second depend on
the last bit of a float, which belongs to the machine.
"""

from __future__ import annotations

import os

# before torch is loaded: tiny models gain nothing by threads, which wait for each other where cores are busy
os.environ.setdefault("OMP_NUM_THREADS", "1")

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import settings as hypothesis_settings

from firstsight.core.packages import has
from firstsight.core.threads import cores
from firstsight.data.synthetic import known_and_new, species, write_folder
from firstsight.encode import runtimes
from programs import left_out

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from firstsight.model.model import Model
    from firstsight.serve.service import Service

hypothesis_settings.register_profile("firstsight", deadline=None, max_examples=60, derandomize=True)
hypothesis_settings.load_profile("firstsight")

# Torch encodes in the tests: making a graph takes longer than a tiny model saves. `openvino` is for those that want it.
vars(runtimes)["has"] = lambda package: package != "openvino" and has(package)

TINY = "test_vit"  # timm's own test model: a ViT of a few thousand weights
WORKERS = 8  # at most: each loads torch for itself


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A process for every core; for a file or a test by its name none, since starting them takes longer.

    Small tests wait for files and other programs for a sixth of their time, so there is one process more for them.
    """
    a_few = all(Path(argument.split("::")[0]).is_file() for argument in config.args)
    waiting = config.option.markexpr != "slow"
    return 0 if a_few else min(cores() + waiting, WORKERS)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest starts first, so that no process is left with it at the end."""
    items.sort(key=lambda item: item.path.name != "test_elsewhere.py")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Nothing is left out in silence."""
    lines = left_out(terminalreporter.stats.get("skipped", []))
    if lines:
        terminalreporter.section("left out on this machine")
        terminalreporter.write_line("\n".join(lines))


@pytest.fixture(autouse=True)
def _no_settings_from_outside(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("FIRSTSIGHT_"):
            monkeypatch.delenv(name)
    monkeypatch.setenv("PYTHONSAFEPATH", "")  # which the command sets for its process, and this is the tests' own


@pytest.fixture
def openvino(monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU encodes by OpenVINO, as it does outside of the tests."""
    pytest.importorskip("openvino")
    monkeypatch.setattr(runtimes, "has", has)


@pytest.fixture(scope="session")
def moths(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """support/: 4 known species of 6 images; stream/: 8 species of 3 others."""
    folder = tmp_path_factory.mktemp("moths")
    guide = species(8)
    known, _ = known_and_new(guide)
    write_folder(folder / "support", known, range(6), size=96)
    write_folder(folder / "stream", guide, range(6, 9), size=96)
    return folder


@pytest.fixture(scope="session")
def tiny_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Weights of the tiny ViT, random but always the same, and so large that images differ in every layer."""
    import timm
    import torch
    from safetensors.torch import save_file

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(7)
        model = timm.create_model(TINY, num_classes=0, img_size=64)
        for parameter in model.parameters():
            if parameter.ndim > 1:
                torch.nn.init.normal_(parameter, std=parameter[0].numel() ** -0.5)
    path = tmp_path_factory.mktemp("weights") / "tiny.safetensors"
    save_file(model.state_dict(), path)
    return path


@pytest.fixture(scope="session")
def tiny(tiny_weights: Path) -> dict[str, Any]:
    """Settings of a model that trains in a second."""
    return {
        "backbone": TINY,
        "method": "phe",
        "weights": str(tiny_weights),
        "image_size": 64,
        "feature_dim": 32,
        "prototypes": 3,
        "hash_hidden": 64,
        "epochs": 3,
        "batch_size": 8,
    }


@pytest.fixture(scope="session")
def model_folder(moths: Path, tiny: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trained model on disk. Not to be changed by tests."""
    import firstsight

    out = tmp_path_factory.mktemp("model") / "tiny.model"
    firstsight.fit(moths / "support", out, device="cpu", **tiny)
    return out


@pytest.fixture(scope="session")
def swatches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Plain colours, as the moths: support/: 4 known ones of 6 images; stream/: 8 of 3 others."""
    from swatches import COLOURS, KNOWN, write_swatches

    folder = tmp_path_factory.mktemp("swatches")
    write_swatches(folder / "support", {name: name for name in KNOWN}, range(6))
    write_swatches(folder / "stream", {name: name for name in COLOURS}, range(6, 9))
    return folder


@pytest.fixture(scope="session")
def sure_model(swatches: Path, tiny: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model on disk that is sure of the swatches; at radius 0 each of the four new colours is a category."""
    import swatches as made

    return made.sure_model(swatches / "support", tiny, tmp_path_factory.mktemp("sure") / "sure.model")


@pytest.fixture(scope="session")
def colours(sure_model: Path) -> Model:
    """That model, loaded."""
    from firstsight.model.folder import load_model

    return load_model(sure_model, "cpu")


@pytest.fixture
def service(colours: Model, tmp_path: Path) -> Iterator[Service]:
    """A service with nothing in it yet."""
    from served import running

    with running(colours, tmp_path / "colours.db") as made:
        yield made


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    """Someone who asks it."""
    from served import asked

    with asked(service) as made:
        yield made


@pytest.fixture
def filled(client: TestClient) -> TestClient:
    """Three images of white (new-1) and two of yellow (new-2), two of blue, which is known."""
    from served import jpeg, sent

    shown = ("white", "white", "white", "yellow", "yellow", "blue", "blue")
    sent(client, *((f"{i} {colour}.jpg", jpeg(colour, i)) for i, colour in enumerate(shown)))
    return client
