"""The API as programs use it: every verb, what it answers, and what it refuses."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fastapi.testclient import TestClient
from PIL import Image
from served import asked, jpeg, running, sent

from firstsight.cli.categories import app as commands
from firstsight.core.errors import Conflict
from firstsight.model.model import Model
from firstsight.serve.service import Service
from firstsight.serve.uploads import Upload
from firstsight.store.store import Store

# verbs of `firstsight categories`, and the operations that do the same; several where a flag makes it another
VERBS = {
    "list": ("list_categories",),
    "show": ("category_images", "show_category"),
    "unsure": ("unsure",),
    "discarded": ("discarded",),
    "rename": ("rename",),
    "promote": ("promote",),
    "merge": ("merge",),
    "split": ("split", "split_category"),
    "move": ("move",),
    "confirm": ("confirm",),
    "discard": ("discard", "discard_category"),
    "radius": ("radius",),
    "teach": ("teach",),
    "undo": ("undo",),
    "redo": ("redo",),
    "history": ("history",),
    "suggest": ("suggestions",),
    "splits": ("splits",),
    "reconsider": ("reconsider", "apply_reconsider"),
    "backup": ("backup",),
    "verify": ("verify",),
    "relocate": ("relocate",),
    "gallery": ("gallery",),
    "export": ("export",),
    "days": ("days",),
    "places": ("places",),
    "forget": ("forget",),
}
ELSEWHERE = {"reencode": "it needs another model and makes another file, which a service that runs cannot go on with"}


def said(response: Any, status: int = 200) -> Any:
    assert response.status_code == status, response.text
    return response.json()


def category_of(client: TestClient, image: int) -> str:
    return str(said(client.get(f"/api/images/{image}"))["category"])


def numbers(client: TestClient, category: str) -> list[int]:
    return [each["image"] for each in said(client.get(f"/api/categories/{category}/images"))["images"]]


def test_every_verb_of_the_command_line_is_a_route(client: TestClient) -> None:
    paths = said(client.get("/api/openapi.json"))["paths"].values()
    operations = {about["operationId"] for methods in paths for about in methods.values()}
    verbs = {command.name or command.callback.__name__ for command in commands.registered_commands if command.callback}
    assert verbs == {*VERBS, *ELSEWHERE}
    assert {each for some in VERBS.values() for each in some} <= operations


def test_operations_are_called_as_their_functions_and_say_what_they_do(client: TestClient) -> None:
    for path, methods in said(client.get("/api/openapi.json"))["paths"].items():
        for method, about in methods.items():
            assert about["operationId"].isidentifier(), path
            assert about["summary"], path
            assert about["description"].endswith("."), path
            assert "default" in about["responses"], (method, path)
            assert "422" not in about["responses"], "an error has one form"


def test_images_are_answered_in_their_order_each_with_its_own_error(client: TestClient) -> None:
    blue, broken, white = sent(
        client, ("a.jpg", jpeg("blue")), ("b.jpg", b"no image at all"), ("c.jpg", jpeg("white", 1))
    )
    assert (blue["category"], blue["is_new"]) == ("blue", False)
    assert (broken["status"], broken["kind"]) == (422, "ImageError")
    assert "b.jpg" in broken["detail"]
    assert (white["category"], white["created"]) == ("new-1", True)


def test_one_image_may_be_the_body_and_its_error_is_the_request_s(client: TestClient) -> None:
    answer = said(client.post("/api/discover?name=moth.jpg", content=jpeg("green")))["answers"][0]
    assert (answer["source"], answer["answer"]["category"]) == ("upload:moth.jpg", "green")
    refused = client.post("/api/discover", content=b"GIF89a")
    assert said(refused, 422)["kind"] == "ImageError"
    assert refused.headers["Content-Type"] == "application/problem+json"


def test_predicting_records_nothing(client: TestClient, service: Service) -> None:
    answer = said(client.post("/api/predict", content=jpeg("white")))["answers"][0]["answer"]
    assert (answer["category"], answer["is_new"], answer["image"]) == (None, True, None)
    assert service.view().last == 0


def test_features_come_as_json_or_as_an_array(client: TestClient, service: Service, colours: Model) -> None:
    features = colours.encode([colours.prepare(jpeg("blue")), colours.prepare(jpeg("white"))])
    listed = said(client.post("/api/predict/features", json={"features": features.tolist()}))["answers"]
    assert [each["answer"]["category"] for each in listed] == ["blue", None]
    file = io.BytesIO()
    np.save(file, features)
    array = said(client.post("/api/discover/features", content=file.getvalue()))["answers"]
    assert [each["answer"]["category"] for each in array] == ["blue", "new-1"]
    wide = said(client.post("/api/predict/features", json={"features": [[1.0, 2.0, 3.0]]}))["answers"]
    assert wide[0]["problem"]["kind"] == "ImageError"


def test_a_request_sent_again_with_its_key_counts_once_also_after_a_restart(colours: Model, tmp_path: Path) -> None:
    images, key = [("a.jpg", jpeg("white")), ("b.jpg", jpeg("white"))], {"Idempotency-Key": "a walk in June"}
    for _ in range(2):  # of the service
        with running(colours, tmp_path / "colours.db") as service, asked(service) as client:
            first, again = sent(client, *images, headers=key), sent(client, *images, headers=key)
            assert [each["image"] for each in again] == [each["image"] for each in first]
            assert len(service.view().images()) == 2
            other = sent(client, ("c.jpg", jpeg("blue")), headers=key)
            assert other[0]["kind"] == "Conflict"


def test_with_once_an_image_is_recognised(filled: TestClient) -> None:
    (again,) = sent(filled, ("other name.jpg", jpeg("white", 0)), params={"once": True})
    assert (again["decided_by"], again["image"]) == ("record", numbers(filled, "new-1")[0])


def test_categories_are_listed_a_page_at_a_time(filled: TestClient) -> None:
    every = said(filled.get("/api/categories"))
    assert [each["id"] for each in every["categories"]][-2:] == ["new-1", "new-2"]
    page = said(filled.get("/api/categories?offset=4&limit=1"))
    assert (page["total"], [each["id"] for each in page["categories"]]) == (6, ["new-1"])
    assert said(filled.get("/api/number")) == every["number"]
    one = said(filled.get("/api/categories/NEW-1"))
    assert (one["images"], one["support"]) == (3, 0)
    members = said(filled.get("/api/categories/new-1/images?offset=1&limit=1"))
    assert (members["total"], len(members["images"])) == (3, 1)
    missing = said(filled.get("/api/categories/new-9"), 404)
    assert missing["kind"] == "NotFound"
    assert "new-" in missing["remedy"]
    assert said(filled.get("/api/categories?limit=0"), 422)["status"] == 422


def test_known_categories_have_the_pictures_they_were_taught_by(filled: TestClient) -> None:
    count = said(filled.get("/api/categories/blue"))["support"]
    assert count > 0
    response = filled.get(f"/api/categories/blue/support/{count - 1}")
    assert Image.open(io.BytesIO(response.content)).format == "JPEG"
    assert said(filled.get(f"/api/categories/blue/support/{count}"), 404)["status"] == 404


def test_every_edit_says_what_it_recorded_and_what_takes_it_back(filled: TestClient, service: Service) -> None:
    white, yellow = numbers(filled, "new-1"), numbers(filled, "new-2")
    edits: list[tuple[str, dict[str, Any]]] = [
        ("/api/categories/new-1/rename", {"name": "snow"}),
        ("/api/categories/new-1/promote", {"name": "ermine"}),
        ("/api/categories/new-2/merge", {"into": "new-1"}),
        ("/api/categories/new-1/merge", {"into": "blue", "also": ["new-2"]}),
        ("/api/categories/new-2/discard", {}),
        ("/api/images/split", {"images": white[:2], "name": "ice"}),
        ("/api/images/move", {"images": white, "to": "blue"}),
        ("/api/images/move", {"images": ["upload:3 yellow.jpg"], "to": "blue"}),
        ("/api/images/confirm", {"images": yellow}),
        ("/api/images/discard", {"images": yellow}),
        ("/api/radius", {"radius": 2}),
    ]
    before = service.view().catalogue
    for path, body in edits:
        made = said(filled.post(path, json=body))
        assert made["events"], path
        assert {each["command"] for each in made["events"]} == {made["undo"]}
        assert service.view().catalogue != before
        back = said(filled.post("/api/undo", json={"events": [made["undo"]]}))
        assert back["events"][0]["kind"] == "Undone"
        assert numbers(filled, "new-1") == white
        assert [each.name for each in service.view().catalogue.live()] == [each.name for each in before.live()], path
    assert said(filled.post("/api/redo", json={}))["events"][0]["kind"] == "Redone"
    assert said(filled.get("/api/radius"))["radius"] == 2


def test_what_cannot_be_is_refused_with_its_reason(filled: TestClient) -> None:
    refusals = [
        ("/api/categories/new-9/rename", {"name": "x"}, 404),
        ("/api/categories/new-1/rename", {"name": "blue"}, 409),
        ("/api/categories/new-1/rename", {"name": "a\nb"}, 400),
        ("/api/categories/new-1/rename", {"nom": "x"}, 422),
        ("/api/categories/new-1/merge", {"into": "new-1"}, 409),
        ("/api/categories/blue/discard", {}, 409),
        ("/api/categories/blue/promote", {}, 409),
        ("/api/images/move", {"images": [99], "to": "blue"}, 404),
        ("/api/images/move", {"images": [2**60], "to": "blue"}, 422),
        ("/api/images/confirm", {"images": []}, 422),
        ("/api/images/confirm", {"images": ["nothing.jpg"]}, 404),
        ("/api/undo", {"events": [9999]}, 404),
        ("/api/redo", {}, 409),
        ("/api/radius", {"radius": 0}, 409),
        ("/api/radius", {"radius": -1}, 400),
        ("/api/relocate", {"folder": "/no/such/folder"}, 422),
    ]
    for path, body, status in refusals:
        response = filled.post(path, json=body)
        assert response.headers["Content-Type"] == "application/problem+json"
        assert said(response, status)["detail"], path


def test_several_events_are_undone_with_what_stands_on_them(filled: TestClient) -> None:
    first, *_ = numbers(filled, "new-1")
    assert "followers" in said(filled.post("/api/undo", json={"events": [first]}), 409)["remedy"]
    said(filled.post("/api/undo", json={"events": [first], "followers": True}))
    assert said(filled.get("/api/categories/new-1"), 404)["kind"] == "NotFound"


def test_labelled_images_teach_and_one_undo_takes_it_back(filled: TestClient) -> None:
    files = [("images", ("x.jpg", jpeg("red", 3))), ("images", ("y.jpg", jpeg("blue", 9)))]
    taught = said(filled.post("/api/teach", files=files, data={"labels": ["rust", "blue"]}))
    assert [each["name"] for each in taught["answers"]] == ["rust", "blue"]
    assert said(filled.get("/api/categories/rust"))["known"]
    said(filled.post("/api/undo", json={"events": [taught["undo"]]}))
    assert said(filled.get("/api/categories/rust"), 404)
    short = filled.post("/api/teach", files=files, data={"labels": ["rust"]})
    assert "2 images need as many labels" in said(short, 400)["detail"]
    broken = [*files, ("images", ("z.jpg", b"broken"))]
    assert said(filled.post("/api/teach", files=broken, data={"labels": ["a", "b", "c"]}), 422)["kind"] == "BadImages"


def test_an_image_has_its_picture_its_thumbnail_and_why(filled: TestClient) -> None:
    image = numbers(filled, "new-1")[1]
    assert said(filled.get(f"/api/images/{image}"))["source"] == "upload:1 white.jpg"
    picture = filled.get(f"/api/images/{image}/picture")
    assert (picture.content, picture.headers["Content-Type"]) == (jpeg("white", 1), "image/jpeg")
    again = filled.get(f"/api/images/{image}/picture", headers={"If-None-Match": picture.headers["ETag"]})
    assert (again.status_code, again.content) == (304, b"")
    small = filled.get(f"/api/images/{image}/thumbnail?side=224")
    assert Image.open(io.BytesIO(small.content)).size == (224, 224)
    assert said(filled.get(f"/api/images/{image}/thumbnail?side=5000"), 404)["status"] == 404
    assert "new-1" in said(filled.get(f"/api/images/{image}/explain"))["sentence"]
    assert said(filled.post("/api/explain", content=jpeg("blue", 2)))["category"] == "blue"
    listed = said(filled.get("/api/images?limit=2"))
    assert [each["image"] for each in listed["images"]] == sorted(numbers(filled, "blue"), reverse=True)
    older = said(filled.get(f"/api/images?limit=1&before={image}"))["images"]
    assert [each["image"] for each in older] == [numbers(filled, "new-1")[0]]


def test_what_is_forgotten_has_no_picture(filled: TestClient) -> None:
    image = numbers(filled, "new-1")[0]
    gone = said(filled.post("/api/images/forget", json={"images": [image]}))
    assert (gone["undo"], gone["events"][0]["kind"]) == (None, "Forgotten")
    assert said(filled.get(f"/api/images/{image}"))["source"] == ""
    assert said(filled.get(f"/api/images/{image}/picture"), 404)["kind"] == "NotFound"
    assert said(filled.post("/api/images/forget", json={"images": [image]}))["events"] == []


def test_history_is_read_backwards_a_page_at_a_time(filled: TestClient, service: Service) -> None:
    newest = said(filled.get("/api/history?limit=3"))["events"]
    assert [each["event"] for each in newest] == [service.view().last - 2 + i for i in range(3)]
    before = said(filled.get(f"/api/history?limit=2&before={newest[0]['event']}"))["events"]
    assert before[-1]["event"] == newest[0]["event"] - 1
    of_one = said(filled.get("/api/history?category=new-2"))["events"]
    assert all("new-2" in each["what"] for each in of_one)
    image = numbers(filled, "new-1")[1]
    assert [each["event"] for each in said(filled.get(f"/api/history?image={image}"))["events"]] == [image]


def test_what_may_be_one_or_two_or_elsewhere_is_proposed(filled: TestClient) -> None:
    assert said(filled.get("/api/suggestions")) == {"suggestions": []}
    assert said(filled.get("/api/splits")) == {"splits": []}
    assert said(filled.get("/api/reconsider")) == {"total": 0, "images": []}
    assert said(filled.post("/api/reconsider", json={}))["events"] == []
    assert said(filled.get("/api/unsure"), 409)["kind"] == "Conflict"  # a register of codes cannot tell
    assert said(filled.post("/api/categories/new-1/split", json={}), 409)["kind"] == "Conflict"
    assert said(filled.get("/api/days")) == {"total": 0, "counts": [], "unknown": 7}
    assert said(filled.get("/api/places?within=10000"))["unknown"] == 7
    said(filled.post("/api/images/discard", json={"images": numbers(filled, "new-2")}))
    thrown = said(filled.get("/api/discarded?limit=1"))
    assert (thrown["total"], thrown["images"][0]["category"]) == (2, "new-2")


def test_exports_are_downloads_that_leave_nothing_behind(filled: TestClient, tmp_path: Path) -> None:
    before = sorted(tmp_path.rglob("*"))
    table = filled.get("/api/export?format=csv")
    assert table.headers["Content-Disposition"] == 'attachment; filename="firstsight-csv.csv"'
    assert len(list(csv.DictReader(io.StringIO(table.text)))) == 7
    assert len(json.loads(filled.get("/api/export?format=json&metadata=false").text)) >= 3
    folders = zipfile.ZipFile(io.BytesIO(filled.get("/api/export?format=folder").content))
    assert {name.split("/")[0] for name in folders.namelist()} == {"new-1", "new-2", "blue"}
    darwin = filled.get("/api/export?format=dwc")
    assert darwin.text.startswith("occurrenceID")
    for format in ("parquet", "xlsx"):
        assert filled.get(f"/api/export?format={format}").content
    assert (
        "datapackage.json" in zipfile.ZipFile(io.BytesIO(filled.get("/api/export?format=camtrap").content)).namelist()
    )
    assert said(filled.get("/api/export?format=exe"), 422)
    assert sorted(tmp_path.rglob("*")) == before


def test_a_gallery_and_a_backup_are_downloads(filled: TestClient, service: Service, tmp_path: Path) -> None:
    assert b"<!doctype html>" in filled.get("/api/gallery").content
    copy = zipfile.ZipFile(io.BytesIO(filled.get("/api/backup").content))
    copy.extractall(tmp_path / "restored")
    with Store.open(tmp_path / "restored" / "colours.db") as restored:
        assert restored.view().last == service.view().last
        image = restored.view().images()[0]
        assert restored.pictures.path(restored.view().assigned(image).content) is not None
    assert said(filled.get("/api/verify")) == {"events": service.view().last}


def test_files_that_moved_are_found(filled: TestClient, service: Service, colours: Model, tmp_path: Path) -> None:
    photograph = tmp_path / "there.jpg"
    photograph.write_bytes(jpeg("cyan", 5))
    service.discover([photograph])[0].result()
    (tmp_path / "new").mkdir()
    photograph.rename(tmp_path / "new" / "here.jpg")
    found = said(filled.post("/api/relocate", json={"folder": str(tmp_path / "new")}))
    assert (found["found"], found["missing"]) == (1, [])
    assert said(filled.post("/api/relocate", json={"folder": str(tmp_path / "new")}))["undo"] is None


def test_operating(filled: TestClient, service: Service) -> None:
    assert said(filled.get("/health")) == {"status": "ok", "role": "writer"}
    assert said(filled.get("/ready")) == {"events": service.view().last, "waiting": 0, "role": "writer"}
    assert 'firstsight_answers_total{answer="new"} 5.0' in filled.get("/metrics").text


def test_the_api_has_a_page_of_its_own(client: TestClient) -> None:
    page = client.get("/api/docs").text
    for path in said(client.get("/api/openapi.json"))["paths"]:
        assert path.rpartition("/")[2].strip("{}") in page
    assert "<script" not in page


@pytest.mark.parametrize("path", ["/api/nothing", "/nothing", "/api/images/0", "/api/images/x", "/static/../x"])
def test_what_is_not_there_is_a_problem_too(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code in (404, 422)
    assert response.headers["Content-Type"] == "application/problem+json"


def test_whoever_looks_for_a_page_that_is_not_there_sees_one(client: TestClient) -> None:
    response = client.get("/nothing", headers={"Accept": "text/html,*/*"})
    assert response.status_code == 404
    assert "There is no such page" in response.text
    assert 'href="/categories"' in response.text


def test_a_key_is_for_one_image_though_two_come_with_it_at_once(filled: TestClient) -> None:
    """Whichever is recorded first has it; the other is refused, and not answered with what it is not."""
    service: Service = filled.app.state.service  # type: ignore[attr-defined]
    before = len(service.view().images())
    sent = [Upload(f"{colour}.jpg", jpeg(colour, 7)) for colour in ("white", "blue", "white", "red")]
    coming = [service.discover([each], key="night 4")[0] for each in sent]
    errors = [each.exception(60) for each in coming]
    good = [each for each, error in zip(sent, errors, strict=True) if error is None]
    assert {type(each) for each in errors} <= {type(None), Conflict}
    assert len({each.content for each in good}) == 1
    assert len(service.view().images()) == before + 1


def test_an_empty_file_is_told_in_its_place(filled: TestClient) -> None:
    files = [("images", ("a.jpg", jpeg("white", 5))), ("images", ("empty.jpg", b""))]
    one, other = said(filled.post("/api/discover", files=files))["answers"]
    assert one["answer"]["category"]
    assert (other["answer"], other["problem"]["status"]) == (None, 422)


def test_a_bad_origin_is_refused_without_a_fault(filled: TestClient) -> None:
    assert filled.post("/api/undo", json={}, headers={"Origin": "http://["}).status_code == 403
