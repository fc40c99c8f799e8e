"""Encoders as graphs: the answers are torch's, whoever runs them, and what is no graph of ours is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import firstsight
from firstsight.core.errors import DeviceError, MissingPackage, ModelError, SettingsError
from firstsight.core.files import digest
from firstsight.core.packages import has, missing, need
from firstsight.encode import runtimes
from firstsight.encode.graph import Graph
from firstsight.encode.graph_encoder import GraphEncoder
from firstsight.encode.onnx_files import check_whole
from firstsight.encode.runtimes import runtime
from firstsight.model.export import export_model
from firstsight.model.model import Model
from firstsight.store.store import Store

pytest.importorskip("openvino")
pytest.importorskip("onnx")

NETS = ("test_efficientnet", "test_vit")  # one looks twice, the other once
SIDE = 64


@pytest.fixture(scope="module")
def fitted(swatches: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Path]]:
    """Models fitted where OpenVINO is, by backbone."""
    import timm
    import torch
    from safetensors.torch import save_file

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runtimes, "has", has)
        here, made = tmp_path_factory.mktemp("graphs"), {}
        for name in NETS:
            torch.manual_seed(3)
            save_file(timm.create_model(name, num_classes=0).state_dict(), here / f"{name}.safetensors")
            weights: dict[str, Any] = {
                "weights": str(here / f"{name}.safetensors"),
                "image_size": 160 if "vit" in name else SIDE,
            }
            made[name] = here / f"{name}.model"
            firstsight.fit(swatches / "support", made[name], device="cpu", backbone=name, **weights)
        yield made


@pytest.fixture(scope="module")
def exported(fitted: dict[str, Path]) -> Path:
    out = fitted[NETS[0]].with_name("exported.model")
    export_model(firstsight.load(fitted[NETS[0]], device="torch"), out)
    return out


@pytest.fixture
def copy(exported: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(exported, tmp_path / "copy"))


def answers(model: Model, stream: Path, **options: Any) -> list[Any]:
    images = sorted(stream.rglob("*.jpg"))
    with firstsight.Discoverer(model, **options) as discoverer:
        return [(each.category, each.is_new) for each in discoverer.discover_many(images)]


def pixels(model: Model, folder: Path) -> list[Any]:
    return [model.prepare(path) for path in sorted(folder.rglob("*.jpg"))[:5]]


@pytest.mark.parametrize("name", NETS)
def test_a_model_fitted_with_openvino_answers_as_torch_does(fitted: dict[str, Path], swatches: Path, name: str) -> None:
    fast, plain = (firstsight.load(fitted[name], device=device) for device in ("openvino", "torch"))
    assert isinstance(fast.encoder, GraphEncoder)
    assert fast.fingerprint == plain.fingerprint
    given = pixels(fast, swatches / "stream")
    np.testing.assert_allclose(fast.encode(given), plain.encode(given), rtol=1e-3, atol=1e-4)
    assert answers(fast, swatches / "stream") == answers(plain, swatches / "stream")


def test_a_feature_is_the_same_bits_in_any_company(fitted: dict[str, Path], moths: Path) -> None:
    model = firstsight.load(fitted[NETS[0]], device="openvino")
    given = pixels(model, moths / "stream")
    together = model.encode(given)
    assert all(np.array_equal(together[i], model.encode([each])[0]) for i, each in enumerate(given))


def test_an_export_answers_as_its_model_by_any_runtime(
    fitted: dict[str, Path], exported: Path, swatches: Path, tmp_path: Path
) -> None:
    assert not (exported / "encoder.safetensors").exists()
    plain = firstsight.load(fitted[NETS[0]], device="torch")
    expected = answers(plain, swatches / "stream", store=tmp_path / "r.db")
    for device in ("openvino", "onnxruntime"):
        model = firstsight.load(exported, device=device)
        assert answers(model, swatches / "stream") == expected
        with Store.open(tmp_path / "r.db", write=False) as store:  # the same model, for a register
            store.check_model(model.provenance)
        assert device in model.provenance.device


def test_an_export_explains_without_where_it_looked(exported: Path, fitted: dict[str, Path], swatches: Path) -> None:
    image = sorted((swatches / "stream").rglob("*.jpg"))[0]
    told, whole = (
        firstsight.explain(firstsight.load(path, device="openvino"), image) for path in (exported, fitted[NETS[0]])
    )
    assert (told.looked, told.closer) == (None, None)
    assert whole.closer is not None
    assert told.sentence == whole.sentence
    assert [each.category for each in told.similar] == [each.category for each in whole.similar]


def test_an_export_is_fitted_anew_without_torch(
    exported: Path, fitted: dict[str, Path], swatches: Path, tmp_path: Path
) -> None:
    own: dict[str, Any] = {"weights": str(exported), "backbone": NETS[0], "image_size": SIDE}
    model = firstsight.fit(swatches / "support", tmp_path / "anew.model", device="openvino", **own)
    before = firstsight.load(fitted[NETS[0]], device="openvino")
    assert model.decision.fingerprint == before.decision.fingerprint
    assert answers(firstsight.load(tmp_path / "anew.model"), swatches / "stream") == answers(
        before, swatches / "stream"
    )
    with pytest.raises(SettingsError, match=r"image_size is 96, and .* was made with 64"):
        firstsight.fit(swatches / "support", device="openvino", **{**own, "image_size": 96})


def test_what_an_export_cannot_is_said(exported: Path, tmp_path: Path) -> None:
    model = firstsight.load(exported, device="openvino")
    with pytest.raises(ModelError, match="was exported"):
        model.torch_encoder  # noqa: B018
    with pytest.raises(DeviceError, match="runs on a CPU"):
        firstsight.load(exported, device="cuda")
    with pytest.raises(ModelError, match="exists already"):
        export_model(model, exported)
    with pytest.raises(SettingsError, match="16 or more; there are 0"):
        export_model(firstsight.load(exported.with_name(f"{NETS[0]}.model"), device="torch"), tmp_path / "o", "int8")


@pytest.mark.parametrize("name", ["encoder.xml", "encoder.bin", "encoder.onnx"])
def test_a_graph_that_was_changed_is_refused(copy: Path, name: str) -> None:
    content = (copy / name).read_bytes()
    (copy / name).write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(ModelError, match=rf"{name} is not as it was written"):
        firstsight.load(copy, device="openvino")


def mend(folder: Path, *names: str) -> None:
    """Somebody wrote the checksums anew."""
    sums = json.loads((folder / "checksums.json").read_text())
    (folder / "checksums.json").write_text(json.dumps(sums | {name: digest(folder / name) for name in names}))


def test_what_is_no_graph_of_images_is_refused(copy: Path, fitted: dict[str, Path]) -> None:
    (copy / "encoder.bin").write_bytes((copy / "encoder.bin").read_bytes()[:100])
    mend(copy, "encoder.bin")
    with pytest.raises(ModelError, match="no model this release can read"):
        firstsight.load(copy, device="openvino")
    for name in ("encoder.xml", "encoder.bin"):  # of another model, for larger images
        shutil.copy(fitted[NETS[1]] / name, copy / name)
    mend(copy, "encoder.xml", "encoder.bin")
    with pytest.raises(ModelError, match=r"its graph takes uint8 of shape \[1, 160, 160, 3\]"):
        firstsight.load(copy, device="openvino")


def test_onnx_that_names_other_files_is_refused(exported: Path) -> None:
    import onnx

    content = (exported / "encoder.onnx").read_bytes()
    check_whole(content)
    model = onnx.load_from_string(content)
    tensor = model.graph.initializer[0]
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="../../secret")
    with pytest.raises(ValueError, match="in another file"):
        check_whole(model.SerializeToString())
    for cut in (content[:-1], b"\xff" * 20, b"\x0b"):
        with pytest.raises(ValueError, match="it is"):
            check_whole(cut)


def test_which_runtime_encodes(monkeypatch: pytest.MonkeyPatch) -> None:
    there = {"torch", "openvino", "onnxruntime"}
    monkeypatch.setattr(runtimes, "has", lambda package: package in there)
    monkeypatch.setattr(runtimes, "accelerated", lambda: False)
    graph = Graph(onnx=b"...")
    assert [runtime(device, graph) for device in ("auto", "cpu", "torch", "cuda")] == [
        *("openvino", "openvino"),
        *("torch", "torch"),
    ]
    there.remove("openvino")
    assert runtime("cpu", graph) == "torch"
    assert runtime("cpu", graph, torch=False) == "onnxruntime"
    with pytest.raises(DeviceError, match="openvino was asked for, which is not installed"):
        runtime("openvino", graph)


def test_a_missing_package_is_named_with_what_brings_it(monkeypatch: pytest.MonkeyPatch) -> None:
    told = missing(ModuleNotFoundError("No module named 'scipy'", name="scipy.special"))
    assert told is not None
    assert (told.what, told.exit_code) == ("this needs SciPy, which is not installed", 2)
    assert missing(ModuleNotFoundError("No module named 'mine'", name="mine")) is None
    monkeypatch.setitem(sys.modules, "sklearn", None)
    monkeypatch.setattr("firstsight.core.packages.find_spec", lambda package: None)
    with pytest.raises(MissingPackage, match="fitting needs scikit-learn"):
        need("fitting", "sklearn")


WITHOUT = """
import importlib.abc, sys
class Without(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"torch", "torchvision", "timm", "scipy", "sklearn", "huggingface_hub"}:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
sys.meta_path.insert(0, Without())
from firstsight.cli.main import run
run()
"""


@pytest.mark.slow
def test_commands_answer_where_torch_scipy_and_scikit_learn_are_not(
    exported: Path, fitted: dict[str, Path], swatches: Path, tmp_path: Path
) -> None:
    def command(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run([sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, cwd=tmp_path)

    stream = swatches / "stream"
    for model in (exported, fitted[NETS[0]]):  # one that was fitted with OpenVINO at hand does as well
        done = command("discover", model, stream, "--json")
        assert done.returncode == 0, done.stderr
        told = [json.loads(line)["category"] for line in done.stdout.splitlines()]
        assert told == [each for each, _ in answers(firstsight.load(model, device="openvino"), stream)]
    image = sorted(stream.rglob("*.jpg"))[0]
    assert command("explain", exported, image, "--out", "why.html").returncode == 0
    done = command("fit", swatches / "support", "--out", "m", "--weights", exported)
    assert (done.returncode, "fitting needs SciPy" in done.stderr) == (2, True)


@pytest.mark.slow
def test_int8_is_another_model_to_a_register(fitted: dict[str, Path], swatches: Path, tmp_path: Path) -> None:
    pytest.importorskip("nncf")
    model = firstsight.load(fitted[NETS[0]], device="torch")
    support = sorted((swatches / "support").rglob("*.jpg"))
    made = export_model(model, tmp_path / "int8", "int8", support)
    assert made.images == len(support)
    loaded = firstsight.load(tmp_path / "int8", device="openvino")
    assert (loaded.provenance.precision, loaded.fingerprint == model.fingerprint) == ("int8", False)
    assert len(answers(loaded, swatches / "stream")) == 24
    with pytest.raises(ModelError, match=r"has no encoder\.onnx"):
        firstsight.load(tmp_path / "int8", device="onnxruntime")
