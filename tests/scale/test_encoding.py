"""Features in bulk: parts that can be made again, by whoever, and decided as the images would be."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest
from killing import kill_a_worker
from typer.testing import CliRunner

from firstsight.cli.main import app
from firstsight.core.errors import Conflict, DataError, SettingsError
from firstsight.model.folder import load_model
from firstsight.model.model import Model
from firstsight.scale.encoding import encode_here, encoded, listed
from firstsight.scale.parts import features_in, is_encoded, part_of, read_part

PART = 7


@pytest.fixture(scope="session")
def model(sure_model: Path) -> Model:
    return load_model(sure_model, "cpu", exact=True)


@pytest.fixture
def images(swatches: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "images"
    shutil.copytree(swatches / "stream", folder)
    (folder / "broken.jpg").write_bytes(b"not an image")
    return folder


def run(*arguments: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, [*arguments])
    assert done.exit_code == code, done.output
    return done.stdout


def test_parts_hold_every_image_in_order_with_its_digest_or_what_was_wrong(
    model: Model, images: Path, tmp_path: Path
) -> None:
    every = listed([images])
    assert encode_here(model, every, tmp_path / "f", PART) == len(every)
    lines = [each for path in sorted((tmp_path / "f").glob("part-*")) for each in read_part(path)]
    assert [each.image for each in lines] == [str(each) for each in every]
    assert [each.image for each in lines if each.problem] == [str(images / "broken.jpg")]
    again = list(encoded(model.image_encoder, every))
    for one, other in zip(lines, again, strict=True):
        assert one.digest == other.digest
        assert (one.feature is None) == (other.feature is None)
        assert one.feature is None or (one.feature == other.feature).all()


def test_what_is_there_is_not_made_again_and_what_is_missing_comes_out_the_same(
    model: Model, images: Path, tmp_path: Path
) -> None:
    every, folder = listed([images]), tmp_path / "f"
    encode_here(model, every, folder, PART)
    whole = {path.name: path.read_bytes() for path in folder.iterdir()}
    part_of(folder, 1).unlink()
    assert encode_here(model, every, folder, PART) == PART
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == whole
    assert encode_here(model, every, folder, PART) == 0
    part_of(folder, 0).unlink()
    with pytest.raises(DataError, match="is missing"):
        list(features_in(folder))
    with pytest.raises(Conflict, match="other images"):
        encode_here(model, every[1:], folder, PART)
    with pytest.raises(Conflict, match="parts of another size"):
        encode_here(model, every, folder, PART + 1)
    with pytest.raises(Conflict, match="something else"):
        encode_here(model, every, images, PART)
    assert not is_encoded(images)


def test_discover_decides_such_a_folder_as_it_decides_the_images(
    sure_model: Path, swatches: Path, tmp_path: Path
) -> None:
    stream, folder = str(swatches / "stream"), str(tmp_path / "f")
    run("encode", str(sure_model), stream, "--out", folder, "--part", "5", "--exact")
    one = run("discover", str(sure_model), stream, "--exact", "--json", "--register", str(tmp_path / "a.db"))
    other = run("discover", str(sure_model), folder, "--exact", "--json", "--register", str(tmp_path / "b.db"))
    assert [json.loads(line) for line in one.splitlines()] == [json.loads(line) for line in other.splitlines()]
    refused = CliRunner().invoke(app, ["discover", str(sure_model), folder, "--register", str(tmp_path / "b.db")])
    assert isinstance(refused.exception, SettingsError)
    run("discover", str(sure_model), folder, "--register", str(tmp_path / "b.db"), "--once")


def test_an_address_is_read_as_a_folder_is(model: Model, images: Path, tmp_path: Path) -> None:
    pytest.importorskip("fsspec", reason="needs fsspec")
    encode_here(model, listed([images]), tmp_path / "a", PART)
    encode_here(model, listed([images.as_uri()]), tmp_path / "b", PART)
    one, other = (list(read_part(part_of(tmp_path / name, 0))) for name in "ab")
    assert [each.digest for each in one] == [each.digest for each in other]
    assert other[0].image.startswith("file://")
    with pytest.raises(DataError, match="nothing at"):
        listed([(tmp_path / "nowhere").as_uri()])


@pytest.mark.slow
def test_an_object_store_is_read_as_a_folder_is(
    model: Model, images: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Against a stand-in that speaks the protocol."""
    import s3fs

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"http://127.0.0.1:{port}"
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "tests"),
        ("AWS_SECRET_ACCESS_KEY", "tests"),
        ("AWS_ENDPOINT_URL", address),
        ("AWS_DEFAULT_REGION", "us-east-1"),
    ):
        monkeypatch.setenv(name, value)
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as server:
        try:
            _wait_for(port)
            store = s3fs.S3FileSystem(endpoint_url=address)
            store.mkdir("nights")
            for path in sorted(images.rglob("*.*")):
                store.pipe_file(f"nights/{path.relative_to(images)}", path.read_bytes())
            encode_here(model, listed([images]), tmp_path / "a", 100)
            encode_here(model, listed(["s3://nights"]), tmp_path / "b", 100)
        finally:
            server.terminate()
    one, other = (read_part(part_of(tmp_path / name, 0)) for name in "ab")
    assert {each.digest for each in one} == {each.digest for each in other}
    assert all(each.image.startswith("s3://nights/") for each in other)


def _wait_for(port: int) -> None:
    for _ in range(600):
        with socket.socket() as asked:
            if asked.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise AssertionError("the stand-in did not start")


@pytest.mark.slow
def test_a_cluster_makes_the_very_same_parts_though_its_workers_are_killed(
    sure_model: Path, images: Path, tmp_path: Path
) -> None:
    same = ["encode", str(sure_model), str(images), "--part", "2", "--exact", "--device", "torch", "--out"]
    run(*same, str(tmp_path / "here"))
    command = [sys.executable, "-m", "firstsight", *same, str(tmp_path / "there"), "--engine", "ray", "--workers", "2"]
    environment = {**os.environ, "RAY_TMPDIR": "/tmp"}
    with subprocess.Popen(command, env=environment, stderr=subprocess.PIPE, text=True) as encoding:
        killed = _kill_workers(encoding, tmp_path / "there")
        _, said = encoding.communicate(timeout=300)
    assert encoding.returncode == 0, said[-2000:]
    assert killed
    here, there = ({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()} for name in ("here", "there"))
    assert here == there


def _kill_workers(encoding: subprocess.Popen[str], folder: Path) -> int:
    """Kill a worker as soon as the first part is there; how many that were."""
    while encoding.poll() is None:
        if any(folder.glob("part-*")) and kill_a_worker(encoding.pid):
            return 1
        time.sleep(0.02)
    return 0
