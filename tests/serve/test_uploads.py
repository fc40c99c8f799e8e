"""Whatever is sent: never a fault of ours, never a register that is not as it was written."""

from __future__ import annotations

import io
from collections import Counter
from itertools import islice
from typing import Any

import numpy as np
import pytest
from broken import arrays, forms, images
from fastapi.testclient import TestClient
from hypothesis import given
from hypothesis import strategies as st
from served import jpeg, sent

from firstsight.core.errors import BadRequest
from firstsight.serve.service import Service
from firstsight.serve.uploads import LONGEST, features_from, features_of, plain

pytestmark = pytest.mark.filterwarnings("ignore::UserWarning:PIL")  # which says what it thinks of broken files
REFUSALS = {400, 413, 422}
TOGETHER = 50  # broken images of a request


@given(st.text())
def test_a_name_can_always_be_shown(name: str) -> None:
    shown = plain(name)
    assert 0 < len(shown) <= LONGEST
    assert not any(c in shown for c in "\0\n\r\x1b\u202e")
    assert plain(shown) == shown


@given(st.binary(max_size=300))
def test_what_is_no_array_is_refused(content: bytes) -> None:
    for read in (features_from, features_of):
        with pytest.raises(BadRequest):
            read(content)


def test_arrays_of_objects_are_not_run() -> None:
    buffer = io.BytesIO()
    np.save(buffer, np.array([print], dtype=object), allow_pickle=True)
    with pytest.raises(BadRequest, match="not numbers"):
        features_from(buffer.getvalue())


def test_an_array_takes_no_more_memory_than_it_has_bytes() -> None:
    buffer = io.BytesIO()
    np.lib.format.write_array_header_1_0(buffer, {"descr": "<f4", "fortran_order": False, "shape": (10**12, 9)})
    with pytest.raises(BadRequest, match="not of the shape"):
        features_from(buffer.getvalue() + bytes(36))


def bombard(client: TestClient, service: Service, size: int, seed: int) -> Counter[str]:
    """Send so many broken uploads of every kind; what became of them."""
    outcomes: Counter[str] = Counter()

    def sent_one(path: str, **how: Any) -> None:
        response = client.post(path, **how)
        assert response.status_code in {200, *REFUSALS}, (path, how, response.text)
        outcomes[str(response.status_code)] += 1

    broken = images(seed)
    for _ in range(size * 8 // 10 // TOGETHER):
        some = list(islice(broken, TOGETHER))
        response = client.post(
            "/api/discover", files=[("images", (name or "a", content)) for name, content in some if content]
        )
        assert response.status_code == 200, response.text
        for answer in response.json()["answers"]:
            assert answer["answer"] or answer["problem"]["status"] in REFUSALS, answer
            outcomes["answered" if answer["answer"] else answer["problem"]["kind"]] += 1
        outcomes["empty"] += sum(not content for _, content in some)
    for name, content in islice(broken, size // 20):
        sent_one("/api/discover", params={"name": name.encode("utf-8", "replace")[:900]}, content=content)
    width = service.model.encode([service.model.prepare(jpeg("blue"))]).shape[1]
    for kind, content in islice(arrays(seed, width), size // 20):
        sent_one("/api/discover/features", content=content, headers={"Content-Type": kind})
    for i, (kind, content) in enumerate(islice(forms(seed), size // 10)):
        sent_one(("/api/discover", "/api/teach")[i % 2], content=content, headers={"Content-Type": kind})
    return outcomes


def check_sound(client: TestClient, service: Service) -> None:
    """The register is as it was written, and answers as ever."""
    service.store.verify()
    assert service.store.replay() == service.view().catalogue
    (answer,) = sent(client, ("blue.jpg", jpeg("blue")))
    assert answer["category"] == "blue"
    assert service.worker.waiting == 0


def test_broken_uploads_are_refused_one_by_one(client: TestClient, service: Service) -> None:
    outcomes = bombard(client, service, 500, seed=0)
    assert outcomes["ImageError"] > 100
    check_sound(client, service)


@pytest.mark.slow
def test_ten_thousand_broken_uploads_do_no_harm(client: TestClient, service: Service) -> None:
    outcomes = bombard(client, service, 10_000, seed=1)
    assert outcomes.total() >= 10_000
    assert outcomes["answered"] > 0, "some flips leave a picture"
    check_sound(client, service)
