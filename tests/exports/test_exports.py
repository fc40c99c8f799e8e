"""What leaves a register: every format, coarse places, nothing that is withheld, and names that run nowhere."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from few_images import ANT, BEE, OTHER, new_store, record
from PIL import Image

from firstsight.core.errors import DataError, SettingsError
from firstsight.core.sightings import NOTHING, Sighting
from firstsight.data.images import decode, in_frame, read
from firstsight.data.metadata import sighting_of
from firstsight.exports.export import FORMATS, MARK, export
from firstsight.exports.records import Options
from firstsight.exports.sites import read_sites, site_of
from firstsight.exports.standard import check_table, check_tables, published
from firstsight.store.empties import keep_empty
from firstsight.store.originals import Originals
from firstsight.store.store import Store
from firstsight.store.views import images
from photographs import HAARLEM, photograph

TOLD = Sighting("2026-05-01T12:00:03", *HAARLEM, camera="Reconyx PC800", serial="P8")


@pytest.fixture
def store(tmp_path: Path) -> Any:
    """An ant with everything, a part of a frame that is new, one that withholds, one that tells nothing."""
    folder = tmp_path / "card A"
    for name in ("1.jpg", "2.jpg", "3.jpg", "4.jpg"):
        photograph(
            folder / name, size=(80, 40), taken="2026:05:01 12:00:03", place=HAARLEM, camera=("Reconyx", "PC800")
        )
    part = Sighting("2026-05-02T06:00:00+02:00", *HAARLEM, "Reconyx PC800", "P8", (0.5, 0.0, 0.5, 1.0), 0.9)
    with new_store(tmp_path / "moths.db") as store:
        record(
            store,
            (folder / "1.jpg", ANT, TOLD),
            (folder / "2.jpg", OTHER, part),
            (folder / "3.jpg", ANT, Sighting(withheld=True)),
            (folder / "4.jpg", BEE, NOTHING),
        )
        yield store


RULES = published("camtrap_dp")["tables"]
NOON = "2026-05-01T12:00:00Z"
DEPLOYMENT = {"deploymentID": "d1", "latitude": 1, "longitude": 2, "deploymentStart": NOON, "deploymentEnd": NOON}


def check_package(package: dict[str, Any]) -> None:
    """The description of a package, as the profile has it."""
    rule = published("camtrap_dp")["package"]
    assert set(rule["required"]) <= set(package)
    assert re.match(rule["name"], package["name"])
    for name in ("project", "temporal"):
        assert set(rule[name]["required"]) <= set(package[name])
    project = package["project"]
    assert project["samplingDesign"] in rule["project"]["samplingDesign"]
    for name in ("captureMethod", "observationLevel"):
        assert project[name]
        assert set(project[name]) <= set(rule["project"][name])
    assert [each["name"] for each in package["resources"]] == rule["resource"]["names"]
    for each in package["resources"]:
        assert set(rule["resource"]["required"]) <= set(each)
        assert each["profile"] == rule["resource"]["profile"]
        assert "1.0.2" in each["schema"]
    for each in package["contributors"]:
        assert set(rule["contributor"]["required"]) <= set(each)
        assert each["role"] in rule["contributor"]["role"]
    assert all(set(rule["taxonomic"]["required"]) <= set(each) for each in package["taxonomic"])


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(path.open(newline="", encoding="utf-8")))


def test_every_table_has_every_image(store: Store, tmp_path: Path) -> None:
    for suffix in ("csv", "json", "parquet", "xlsx"):
        assert export(store.view(), tmp_path / f"all.{suffix}").count == 4
    first, second, third, _ = rows(tmp_path / "all.csv")
    assert (first["taken"], first["latitude"], first["camera"], first["serial"]) == (
        "2026-05-01T12:00:03",
        str(HAARLEM[0]),
        "Reconyx PC800",
        "P8",
    )
    assert [second[f"box_{side}"] for side in ("left", "top", "width", "height")] == ["0.5", "0.0", "0.5", "1.0"]
    assert (third["taken"], third["withheld"]) == ("", "True")
    content = json.loads((tmp_path / "all.json").read_text())
    (new,) = [each for each in content if each["id"] == "new-1"]
    assert new["images"][0]["box"] == [0.5, 0.0, 0.5, 1.0]


def test_parquet_and_xlsx_say_the_same_as_csv(store: Store, tmp_path: Path) -> None:
    parquet, openpyxl = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("openpyxl")
    store.rename("new-1", '=HYPERLINK("x")')
    for suffix in ("csv", "parquet", "xlsx"):
        export(store.view(), tmp_path / f"all.{suffix}")
    table = parquet.read_table(tmp_path / "all.parquet").to_pylist()
    book = openpyxl.load_workbook(tmp_path / "all.xlsx")
    assert book.sheetnames == ["images", "categories"]
    header, *lines = [[cell.value for cell in row] for row in book["images"]]
    plain = rows(tmp_path / "all.csv")
    assert header == list(table[0]) == list(plain[0])
    assert [line[header.index("image")] for line in lines] == [row["image"] for row in table]
    assert [row["latitude"] for row in table] == [HAARLEM[0], HAARLEM[0], None, None]
    name = book["images"].cell(3, header.index("name") + 1)
    assert (name.value, name.data_type) == ('=HYPERLINK("x")', "s")  # text, and no formula
    assert plain[1]["name"] == '\'=HYPERLINK("x")'


def test_tables_without_the_extra_name_it(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    for suffix in ("parquet", "xlsx"):
        with pytest.raises(SettingsError, match=r"firstsight\[tables\]"):
            export(store.view(), tmp_path / f"all.{suffix}")


def test_places_are_given_as_coarsely_as_asked_and_say_so(store: Store, tmp_path: Path) -> None:
    options = Options(round_places=10_000)
    for format in ("csv", "dwc", "camtrap"):
        export(store.view(), tmp_path / format, format, options)
    first = rows(tmp_path / "csv")[0]
    assert float(first["latitude"]) != HAARLEM[0]
    assert float(first["latitude"]) == pytest.approx(HAARLEM[0], abs=0.1)
    assert first["uncertainty"] == "7142"
    record = rows(tmp_path / "dwc")[0]
    assert record["coordinateUncertaintyInMeters"] == "7142"
    assert record["decimalLatitude"] == first["latitude"]
    assert "10000 m" in record["dataGeneralizations"]
    (deployment,) = rows(tmp_path / "camtrap" / "deployments.csv")
    assert (deployment["latitude"], deployment["coordinateUncertainty"]) == (first["latitude"], "7142")
    written = b"".join(path.read_bytes() for path in tmp_path.glob("c*/*.csv"))
    assert str(HAARLEM[0]).encode() not in written
    for copied in (tmp_path / "camtrap" / "media").rglob("*.jpg"):  # which must not say it either
        assert sighting_of(copied) == NOTHING


def test_darwin_core_uses_published_terms_alone(store: Store, tmp_path: Path) -> None:
    made = export(store.view(), tmp_path / "occurrence.csv", "dwc")
    found = rows(tmp_path / "occurrence.csv")
    standard = published("darwin_core")
    assert set(standard["required"]) <= set(found[0]) <= set(standard["terms"])
    assert len({row["occurrenceID"] for row in found}) == 4
    first, second, third, _ = found
    assert (first["eventDate"], first["scientificName"], first["geodeticDatum"]) == (
        "2026-05-01T12:00:03",
        "ant",
        "EPSG:4326",
    )
    assert (second["scientificName"], second["verbatimIdentification"]) == ("", "new-1")
    assert "50.0% left" in second["occurrenceRemarks"]
    assert third["informationWithheld"] == "time, place and camera"
    assert any("1 of 4 images have no scientificName" in note for note in made.notes)
    store.rename("new-1", "Morpho menelaus")
    export(store.view(), tmp_path / "occurrence.csv", "dwc", Options(overwrite=True))
    assert rows(tmp_path / "occurrence.csv")[1]["scientificName"] == "Morpho menelaus"


def test_camtrap_dp_has_the_published_fields_and_all_that_are_required(store: Store, tmp_path: Path) -> None:
    made = export(store.view(), tmp_path / "package", "camtrap")
    assert made.count == 2  # two do not say when they were taken
    assert any("2 of 4 images are left out" in note for note in made.notes)
    tables = {name: rows(tmp_path / "package" / f"{name}.csv") for name in RULES}
    check_tables(RULES, tables)
    for name, found in tables.items():
        assert list(found[0]) == list(RULES[name])
    (deployment,) = tables["deployments"]
    assert (deployment["cameraID"], deployment["cameraModel"]) == ("P8", "Reconyx-PC800")
    assert (deployment["deploymentStart"], deployment["deploymentEnd"]) == (
        "2026-05-01T12:00:03Z",
        "2026-05-02T06:00:00+02:00",
    )
    assert deployment["timestampIssues"] == "true"  # of one of them nobody knows by which clock
    assert {row["deploymentID"] for row in (*tables["media"], *tables["observations"])} == {deployment["deploymentID"]}
    whole, part = tables["observations"]
    assert (whole["bboxX"], whole["scientificName"]) == ("", "ant")
    assert (part["bboxX"], part["bboxWidth"], part["scientificName"]) == ("0.5", "0.5", "")
    assert part["observationTags"] == "category:new-1"
    for medium in tables["media"]:
        assert (tmp_path / "package" / medium["filePath"]).is_file()
        assert medium["fileMediatype"] == "image/jpeg"
    package = json.loads((tmp_path / "package" / "datapackage.json").read_text())
    check_package(package)
    assert package["temporal"] == {"start": "2026-05-01", "end": "2026-05-02"}
    assert package["taxonomic"] == [{"scientificName": "ant"}]


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"eventStart": ""}, "eventStart"),
        ({"species": "x"}, "no field species"),
        ({"observationType": "moth"}, "allowed"),
        ({"eventStart": "2026-05-01 12:00"}, "expected %Y"),
        ({"eventStart": "2026-05-01T12:00:03.5Z"}, "expected %Y"),
        ({"count": "1.5"}, "expected integer"),
        ({"bboxX": "1.5"}, "expected number, 0 to 1"),
        ({"bboxWidth": "0"}, "bboxWidth"),
    ],
)
def test_a_table_that_is_not_as_the_standard_has_it_is_refused(change: dict[str, str], word: str) -> None:
    right = {"observationID": "o1", "deploymentID": "d1", "eventStart": NOON, "eventEnd": NOON}
    right |= {"observationLevel": "media", "observationType": "animal"}
    fields = RULES["observations"]
    check_table("observations", fields, [right])
    with pytest.raises(DataError, match=word):
        check_table("observations", fields, [{**right, **change}])
    for wrong in ([right, right], [{**right, "mediaID": "m9"}]):
        with pytest.raises(DataError, match=r"once|media has no such"):
            check_tables(RULES, {"observations": wrong, "media": [], "deployments": [{**DEPLOYMENT}]})


def test_cameras_that_do_not_know_where_they_stood_are_told_by_a_table(tmp_path: Path) -> None:
    photograph(tmp_path / "north" / "1.jpg")
    with new_store(tmp_path / "r.db") as store:
        record(store, (tmp_path / "north" / "1.jpg", ANT, Sighting(taken="2026-05-01T12:00:03")))
        with pytest.raises(DataError, match=r"not known of: .*north"):
            export(store.view(), tmp_path / "package", "camtrap")
        assert not (tmp_path / "package").exists()
        (tmp_path / "sites.csv").write_text("folder,latitude,longitude\nnorth,52.5,4.5\nsouth,1,2\n")
        options = Options(sites=read_sites(tmp_path / "sites.csv"))
        export(store.view(), tmp_path / "package", "camtrap", options)
        assert rows(tmp_path / "package" / "deployments.csv")[0]["latitude"] == "52.5"
    assert site_of("/cards/a/north/1.jpg", {"north": (1, 1), "a/north": (2, 2)}) == (2, 2)
    assert site_of("/cards/far north/1.jpg", {"north": (1, 1)}) is None
    for wrong in (
        "folder,latitude\nx,1\n",
        "folder,latitude,longitude\nx,nan,1\n",
        "folder,latitude,longitude\nx,95,1\n",
    ):
        (tmp_path / "sites.csv").write_text(wrong)
        with pytest.raises(DataError, match="line 2 names no folder and place"):
            read_sites(tmp_path / "sites.csv")


def test_a_folder_holds_parts_and_copies_that_tell_nothing_where_they_should_not(store: Store, tmp_path: Path) -> None:
    export(store.view(), tmp_path / "out")
    kept, part, withheld, plain = (next((tmp_path / "out").rglob(f"*-{i}.jpg")) for i in (1, 2, 3, 4))
    assert sighting_of(kept).camera == sighting_of(plain).camera == "Reconyx PC800"
    assert sighting_of(withheld) == NOTHING  # it was to be kept by nobody
    assert Image.open(part).size == (40, 40)
    export(store.view(), tmp_path / "bare", options=Options(metadata=False))
    for path in (tmp_path / "bare").rglob("*.jpg"):
        assert sighting_of(path) == NOTHING
    with pytest.raises(SettingsError, match="with their metadata"):
        export(store.view(), tmp_path / "x", options=Options(how="link", metadata=False))
    export(store.view(), tmp_path / "bare.csv", options=Options(metadata=False))
    assert b"Reconyx" not in (tmp_path / "bare.csv").read_bytes()
    assert {row["latitude"] for row in rows(tmp_path / "bare.csv")} == {""}


def test_what_is_there_is_only_replaced_when_that_is_asked_and_ours(store: Store, tmp_path: Path) -> None:
    again = Options(overwrite=True)
    for name in ("a.csv", "out"):
        export(store.view(), tmp_path / name)
        with pytest.raises(DataError, match="--overwrite"):
            export(store.view(), tmp_path / name)
    store.rename("new-1", "moth")
    assert export(store.view(), tmp_path / "a.csv", options=again).count == 4
    export(store.view(), tmp_path / "out", options=again)
    assert (tmp_path / "out" / "moth").is_dir()
    assert not (tmp_path / "out" / "new-1").exists()
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.txt").write_text("years of work")
    for target, format in ((mine, "folder"), (mine, "csv"), (tmp_path / "a.csv", "folder")):
        with pytest.raises(DataError):
            export(store.view(), target, format, again)
    assert (mine / "thesis.txt").read_text() == "years of work"
    assert (tmp_path / "out" / MARK).exists()
    with pytest.raises(SettingsError, match=", ".join(FORMATS)):
        export(store.view(), tmp_path / "b", "sql")


def test_forgotten_images_are_in_no_export_but_as_a_line(store: Store, tmp_path: Path) -> None:
    number = store.view().images()[0]
    store.forget([number])
    export(store.view(), tmp_path / "all.csv")
    assert rows(tmp_path / "all.csv")[0]["source"] == ""
    assert export(store.view(), tmp_path / "out").count == 3
    assert export(store.view(), tmp_path / "o.csv", "dwc").count == 3


def test_files_that_are_gone_are_named(store: Store, tmp_path: Path) -> None:
    (tmp_path / "card A" / "1.jpg").unlink()
    for format in ("folder", "camtrap"):
        made = export(store.view(), tmp_path / format, format)
        assert made.missing == [f"{tmp_path / 'card A' / '1.jpg'}: is no longer there"]


def test_a_part_is_read_again_by_what_the_log_says(store: Store) -> None:
    part = next(each for each in images(store.view()) if each.box)
    picture = Originals(store.pictures).place(part)
    assert decode(read(picture)[0]).size == (40, 40)
    assert Image.open(io.BytesIO(in_frame(picture))).size == (80, 40)


def test_names_that_a_package_must_not_have_are_changed_and_any_picture_has_a_media_type(tmp_path: Path) -> None:
    folder = tmp_path / ".hidden ..card"
    photograph(folder / "..a..b.jpg")
    photograph(folder / "c.jp2")
    with new_store(tmp_path / "Ärger!.db") as store:
        record(store, *((path, ANT, TOLD) for path in (folder / "..a..b.jpg", folder / "c.jp2")))
        export(store.view(), tmp_path / "package", "camtrap")
    first, second = rows(tmp_path / "package" / "media.csv")
    assert (first["fileName"], second["fileMediatype"]) == ("..a..b.jpg", "image/jp2")
    assert all((tmp_path / "package" / each["filePath"]).is_file() for each in (first, second))
    check_package(json.loads((tmp_path / "package" / "datapackage.json").read_text()))


def test_empty_frames_are_blank_observations_until_something_is_found_in_them(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "card A"
    photograph(folder / "5.jpg", taken="2026:05:01 13:00:00", place=HAARLEM, camera=("Reconyx", "PC800"), size=(8, 8))
    keep_empty(store, [folder / "5.jpg", folder / "1.jpg"])
    made = export(store.view(), tmp_path / "package", "camtrap", Options(round_places=10_000))
    assert made.count == 2
    assert any("1 empty frame is a blank observation" in note for note in made.notes)
    tables = {name: rows(tmp_path / "package" / f"{name}.csv") for name in RULES}
    check_tables(RULES, tables)
    *_, blank = tables["observations"]
    assert [each["observationType"] for each in tables["observations"]] == ["animal", "animal", "blank"]
    assert (blank["scientificName"], blank["classificationMethod"]) == ("", "machine")
    (medium,) = [each for each in tables["media"] if each["mediaID"] == blank["mediaID"]]
    assert medium["fileName"] == "5.jpg"
    assert sighting_of(tmp_path / "package" / medium["filePath"]) == NOTHING  # places are coarse
    for format in ("csv", "dwc", "folder"):
        assert export(store.view(), tmp_path / format, format).count == 4
