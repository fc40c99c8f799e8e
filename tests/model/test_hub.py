"""Models on the hub, against a stand-in of it: pushed, fetched, pinned, and every way that can go wrong."""

from __future__ import annotations

import json
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import huggingface_hub
import numpy as np
import pytest
from huggingface_hub import constants

import firstsight
from firstsight.core.errors import Incompatible, ModelError, SettingsError
from firstsight.discoverer import Discoverer
from firstsight.model import publish
from firstsight.model.hub import HubName
from firstsight.model.hub_card import hub_card
from firstsight.model.publish import push
from hub_server import Hub, Repository, connect, running

X = np.array([[0, 1], [0.1, 1], [1, 0], [1, 0.1]], dtype=np.float32)
Y = ["ant", "ant", "bee", "bee"]


@pytest.fixture(scope="module")
def server() -> Iterator[Hub]:
    with running() as hub:
        yield hub


@pytest.fixture
def hub(server: Hub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Hub:
    """An empty hub, a cache of our own, and nobody's token but the one that may write."""
    connect(server, tmp_path / "cache", monkeypatch)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return server


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    firstsight.fit_features(X, Y, tmp_path / "small.model")
    return tmp_path / "small.model"


def test_a_model_that_is_pushed_can_be_loaded_by_its_name_or_by_its_commit(hub: Hub, folder: Path) -> None:
    made = push(folder, "ann/insects")
    model = firstsight.load("ann/insects")
    assert (model.names, model.origin) == (["ant", "bee"], f"ann/insects@{made.commit}")
    assert model.fingerprint == firstsight.load(folder).fingerprint
    asked = len(hub.asked)
    assert firstsight.load(f"ann/insects@{made.commit}").origin == model.origin
    assert len(hub.asked) == asked  # a commit never changes: what is here is it


def test_what_is_fetched_is_ours_alone(hub: Hub, folder: Path, tmp_path: Path) -> None:
    push(folder, "ann/insects")
    hub.repositories["ann/insects"].commits[-1][1].update({"evil.py": b"raise SystemExit", "model.pkl": b"\x80"})
    firstsight.load("ann/insects")
    fetched = {path.name for path in (tmp_path / "cache").rglob("snapshots/*/*")}
    assert {path.name for path in folder.iterdir()} - fetched == {"README.md", "metrics.jsonl"}
    assert fetched <= {path.name for path in folder.iterdir()}


def test_what_was_altered_there_is_refused(hub: Hub, folder: Path) -> None:
    push(folder, "ann/insects")
    files = dict(hub.repositories["ann/insects"].commits[-1][1])
    hub.repositories["ann/insects"].commit(files | {"decision.safetensors": b"something else"})
    with pytest.raises(ModelError, match="is not as it was written"):
        firstsight.load("ann/insects")


def test_a_strangers_module_is_not_run(hub: Hub, folder: Path, tmp_path: Path) -> None:
    config = json.loads((folder / "config.json").read_text())
    config["settings"]["method"] = "strange:Method"
    (folder / "config.json").write_text(json.dumps(config))
    sums = json.loads((folder / "checksums.json").read_text())
    from firstsight.core.files import digest

    (folder / "checksums.json").write_text(json.dumps(sums | {"config.json": digest(folder / "config.json")}))
    push(folder, "ann/strange")
    with pytest.raises(ModelError, match="a module from elsewhere"):
        firstsight.load("ann/strange")


def test_the_card_says_what_it_is_how_to_use_it_and_what_was_measured(hub: Hub, folder: Path) -> None:
    accuracy = {"all": 0.5, "old": 0.75, "new": None}
    row = {"name": "random x 10", "accuracy": accuracy, "categories": 2}
    measured = {"images": 4, "true_categories": 3, "rows": [row]}
    push(folder, "ann/insects", licence="mit", evaluation=measured)
    card = hub.repositories["ann/insects"].commits[-1][1]["README.md"].decode()
    header = huggingface_hub.ModelCard(card).data.to_dict()  # type: ignore[no-untyped-call]
    assert (header["license"], header["library_name"]) == ("mit", "firstsight")
    assert header["model-index"][0]["results"][0]["metrics"][0]["value"] == 50.0
    assert "| random x 10 | 50.0 | 75.0 | - | 2.0 |" in card
    assert 'firstsight.load("ann/insects")' in card
    assert "Known limits" in card


def test_thumbnails_stay_here_when_told_to_and_leave_a_repository_that_had_them(
    hub: Hub, sure_model: Path, tmp_path: Path
) -> None:
    first = push(sure_model, "ann/colours")
    assert first.thumbnails
    assert first.licence == "unknown"  # of weights from a file
    second = push(sure_model, "ann/colours", thumbnails=False, licence="cc0-1.0")
    assert second.thumbnails == 0
    model = firstsight.load("ann/colours", device="cpu")
    assert model.examples is not None
    assert model.examples.pictures is None


def test_a_register_says_which_commit_made_it_and_refuses_another(hub: Hub, folder: Path, tmp_path: Path) -> None:
    made = push(folder, "ann/insects")
    with Discoverer(firstsight.load("ann/insects"), store=tmp_path / "a.db") as discoverer:
        discoverer.discover_one(X[0])
        assert discoverer.store is not None
        assert discoverer.store.made_with == f"ann/insects@{made.commit}"
    firstsight.fit_features(X[::-1] * 2, Y, tmp_path / "other.model")
    other = push(tmp_path / "other.model", "ann/insects")
    with pytest.raises(Incompatible, match=f"ann/insects@{made.commit}; this one is ann/insects@{other.commit}"):
        Discoverer(firstsight.load("ann/insects"), store=tmp_path / "a.db")
    Discoverer(firstsight.load(f"ann/insects@{made.commit}"), store=tmp_path / "a.db").close()


def test_a_folder_here_wins_and_that_is_said(hub: Hub, folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    push(folder, "ann/insects")
    firstsight.load("ann/insects")
    shutil.copytree(folder, "ann/insects")
    asked = len(hub.asked)
    with caplog.at_level(logging.WARNING, "firstsight"):
        assert firstsight.load("ann/insects").origin == ""
    assert len(hub.asked) == asked
    assert "is the folder here" in caplog.text
    assert firstsight.load("ann/insects@main").origin
    with pytest.raises(ModelError, match="no model folder") as refused:  # a slip in a path is nobody's model
        firstsight.load("ann/insect")
    assert "ann/insect@main" in refused.value.remedy


def test_without_a_network_the_copy_that_is_here_is_used(
    hub: Hub, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = push(folder, "ann/insects")
    firstsight.load("ann/insects")
    hub.failing = 503
    with caplog.at_level(logging.WARNING, "firstsight"):
        assert firstsight.load("ann/insects").origin == f"ann/insects@{made.commit}"
    assert "going on with the copy that is here" in caplog.text
    with pytest.raises(ModelError, match="error 503"):
        firstsight.load("ann/moths")
    hub.failing = None
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    assert firstsight.load("ann/insects").origin == f"ann/insects@{made.commit}"
    with pytest.raises(ModelError, match="cannot be reached") as unreachable:
        firstsight.load("ann/moths")
    assert "HF_HUB_OFFLINE" in unreachable.value.remedy


def test_a_server_that_is_not_there_is_said_at_once(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    with pytest.raises(ModelError, match="there is no such folder here, and the hub cannot be reached"):
        firstsight.load("ann/insects")


def test_every_refusal_says_what_to_do(hub: Hub, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub.repositories |= {"ann/gated": Repository(gated=True), "ann/vit": Repository()}
    hub.repositories["ann/vit"].commit({"config.json": b"{}", "pytorch_model.bin": b"\x80"})
    push(folder, "ann/secret", private=True)
    for name, said in {
        "ann/nothing": "no such model on the hub, or it is private",
        "ann/gated": "asks to accept its terms",
        "ann/vit": "is no Firstsight model: it has no checksums.json",
        "ann/vit@v9": "has no revision 'v9'",
    }.items():
        with pytest.raises(ModelError, match=said):
            firstsight.load(name)
    monkeypatch.setenv("HF_TOKEN", "hf_wrong")
    with pytest.raises(ModelError, match="refuses the token"):
        firstsight.load("ann/secret")
    monkeypatch.delenv("HF_TOKEN")
    with pytest.raises(ModelError, match="or it is private") as private:
        firstsight.load("ann/secret")
    assert "hf auth login" in private.value.remedy
    with pytest.raises(ModelError, match="asks who you are"):
        push(folder, "ann/more")


def test_what_cannot_be_pushed_is_refused_before_the_hub_is_asked(hub: Hub, folder: Path, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="is no name on the hub"):
        push(folder, "insects")
    with pytest.raises(ModelError, match="no model folder"):
        push(tmp_path / "nowhere", "ann/insects")
    (folder / "decision.safetensors").write_bytes(b"")
    with pytest.raises(ModelError, match="not as it was written"):
        push(folder, "ann/insects")
    assert hub.asked == []


def test_a_place_that_is_someone_elses_is_refused(hub: Hub, folder: Path) -> None:
    with pytest.raises(ModelError, match="does not let you"):
        push(folder, "others/insects")


@pytest.mark.parametrize(
    "text", ["a", "/tmp/a", "a/b/c", "../a", "./b", "a//b", "a/b@", "a b/c", "-a/b", "a/..", "s3://a/b"]
)
def test_paths_are_not_names_on_the_hub(text: str) -> None:
    assert HubName.of(text) is None


def test_a_card_that_came_from_the_hub_keeps_one_header() -> None:
    once = hub_card("ann/insects", "# insects\n", "mit", sees_images=True)
    again = hub_card("bob/insects", once, "apache-2.0", sees_images=True)
    assert again.count("library_name") == 1
    assert again.count("# insects\n") == 1


def test_other_forms_of_an_encoder_stay_here(hub: Hub, sure_model: Path, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(sure_model, tmp_path / "exported.model"))
    checked = (json.loads((folder / "config.json").read_text()), ["encoder.onnx", "config.json", "checksums.json"])
    (folder / "encoder.onnx").write_bytes(b"a graph")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(publish, "checked_files", lambda path: checked)
        with pytest.raises(ModelError, match=r"has no encoder\.safetensors"):
            push(folder, "ann/exported")
        checked[1].append("encoder.safetensors")
        assert "encoder.onnx" not in push(folder, "ann/exported").files
