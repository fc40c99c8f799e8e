"""Many clients of a service, in a process of their own: what `service.py` puts it under.

Every client has one connection and one image on its way. Prints what each image was answered, and how long that took.
"""

from __future__ import annotations

import http.client
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import local
from urllib.parse import urlsplit

MINE = local()


def main() -> None:
    address, folder, clients = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    images = [(path.name, path.read_bytes()) for path in sorted(folder.glob("*.jpg"))]
    with ThreadPoolExecutor(clients) as several:
        began = time.perf_counter()
        done = list(several.map(lambda each: send(address, *each), images))
        seconds = time.perf_counter() - began
    print(json.dumps({"seconds": seconds, "took": [took for _, took in done], "answers": [said for said, _ in done]}))


def send(address: str, name: str, content: bytes) -> tuple[dict[str, object], float]:
    """The answer to an image, and how many seconds it took."""
    if not hasattr(MINE, "connection"):
        MINE.connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=600)
    began = time.perf_counter()
    headers = {"Content-Type": "image/jpeg", "Idempotency-Key": name}
    MINE.connection.request("POST", f"/api/discover?name={name}", content, headers)
    response = MINE.connection.getresponse()
    said = json.loads(response.read())
    took = time.perf_counter() - began
    assert response.status == 200, said
    return said["answers"][0], took


if __name__ == "__main__":
    main()
