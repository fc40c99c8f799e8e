"""What EXIF data say, and what becomes of those that say nonsense."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from PIL.TiffImagePlugin import IFDRational

from firstsight.core.sightings import NOTHING, Sighting, moment
from firstsight.data import metadata
from firstsight.data.crops import Crop
from firstsight.data.metadata import sighting_of
from photographs import HAARLEM, exif, photograph

NOON = "2026:05:01 12:00:03"


def test_a_photograph_tells_when_where_and_by_which_camera(tmp_path: Path) -> None:
    told: dict[str, Any] = {"taken": NOON, "place": HAARLEM, "camera": ("RECONYX", "PC800"), "serial": "P8-0192"}
    content = photograph(tmp_path / "a.jpg", **told)
    for image in (tmp_path / "a.jpg", str(tmp_path / "a.jpg"), content, Image.open(io.BytesIO(content))):
        found = sighting_of(image)
        assert (found.taken, found.camera, found.serial) == ("2026-05-01T12:00:03", "RECONYX PC800", "P8-0192")
        assert (found.latitude, found.longitude) == pytest.approx(HAARLEM, abs=1e-6)
        assert found.unread == ()


def test_the_clock_of_a_camera_that_says_which_it_is() -> None:
    found = sighting_of(photograph(taken=NOON, offset="+02:00", fraction="25"))
    assert found.taken == "2026-05-01T12:00:03.250+02:00"
    assert sighting_of(photograph(taken=NOON, offset="somewhere")).taken == "2026-05-01T12:00:03"
    here, there = moment(found.taken), moment("2026-05-01T10:00:03.250")
    assert here == there  # without an offset, a clock is taken to show UTC
    assert moment("yesterday") is None


def test_the_maker_is_named_once() -> None:
    assert sighting_of(photograph(camera=("Canon", "Canon EOS R5"))).camera == "Canon EOS R5"


def test_without_metadata_only_the_box_is_kept() -> None:
    content = photograph(taken=NOON, place=HAARLEM)
    assert sighting_of(content, metadata=False) == Sighting(withheld=True)
    part = Crop(content, (0.1, 0.1, 0.5, 0.5), 0.9)
    assert sighting_of(part, metadata=False) == Sighting(box=part.box, detected=0.9, withheld=True)
    assert sighting_of(part).taken == "2026-05-01T12:00:03"


@pytest.mark.parametrize(
    ("told", "word"),
    [
        ({"taken": "0000:00:00 00:00:00"}, "date"),
        ({"taken": "2026:13:45 99:00:00"}, "date"),
        ({"taken": "=HYPERLINK(1)"}, "date"),
        ({"gps": {1: "N", 2: (IFDRational(1, 0),) * 3, 3: "E", 4: (IFDRational(1),) * 3}}, "place"),
        ({"gps": {1: "N", 2: (IFDRational(95), 0, 0), 3: "E", 4: (IFDRational(4), 0, 0)}}, "nowhere"),
        ({"gps": {1: "Q", 2: (IFDRational(5), 0, 0), 3: "E", 4: (IFDRational(4), 0, 0)}}, "neither N nor S"),
        ({"gps": {1: "N", 2: (IFDRational(5), 0, 0)}}, "place"),
        ({"place": (0.0, 0.0)}, "0, 0"),
    ],
)
def test_what_cannot_be_is_said_and_left_out(told: dict[str, Any], word: str) -> None:
    found = sighting_of(photograph(camera=("Acme", "One"), **told))
    assert found.camera == "Acme One"  # the rest stays
    assert (found.taken, found.latitude, found.longitude) == (None, None, None)
    (why,) = found.unread
    assert word in why


def test_a_camera_without_a_clock_says_nothing() -> None:
    assert sighting_of(photograph(taken="    :  :     :  :  ")) == NOTHING


def test_text_of_a_camera_stays_on_its_line() -> None:
    found = sighting_of(photograph(camera=("Ac\nme\x1b[31m", "x" * 5000)))
    assert found.camera is not None
    assert found.camera.isprintable()
    assert len(found.camera) <= metadata.LONGEST


def test_a_bomb_of_exif_data_is_not_looked_into(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "LARGEST", 5000)
    made = exif(taken=NOON)
    made[0x9286] = b"x" * 6000
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "JPEG", exif=made)
    assert sighting_of(buffer.getvalue()) == Sighting(unread=("its EXIF data are over 5,000 bytes long",))


def test_a_png_is_not_decoded_to_look_for_exif_data(monkeypatch: pytest.MonkeyPatch) -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "PNG")
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", lambda self: pytest.fail("decoded"))
    assert sighting_of(buffer.getvalue()) == NOTHING


def test_a_png_with_exif_data_is_read() -> None:
    buffer = io.BytesIO()
    Image.new("RGB", (8, 8)).save(buffer, "PNG", exif=exif(taken=NOON, camera=("Acme", "One")))
    assert sighting_of(buffer.getvalue()).taken == "2026-05-01T12:00:03"


@pytest.mark.filterwarnings("ignore:.*:UserWarning")
@given(st.data())
def test_broken_exif_data_never_stop_an_image(data: st.DataObject) -> None:
    """Bytes anywhere in them are changed: something is read, or said, or nothing."""
    whole = bytearray(photograph(taken=NOON, place=HAARLEM, camera=("Acme", "One")))
    start = whole.index(b"Exif\0\0")
    for _ in range(data.draw(st.integers(1, 12))):
        whole[start + data.draw(st.integers(6, 260))] = data.draw(st.integers(0, 255))
    found = sighting_of(bytes(whole))
    assert found.latitude is None or (math.isfinite(found.latitude) and abs(found.latitude) <= 90)
    assert found.longitude is None or (math.isfinite(found.longitude) and abs(found.longitude) <= 180)
    assert found.taken is None or moment(found.taken) is not None
    assert all(each is None or each.isprintable() for each in (found.camera, found.serial))
