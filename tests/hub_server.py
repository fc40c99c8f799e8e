"""A stand-in of the hub: as much of its protocol as pushing and fetching models takes, in memory, on this machine."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

TOKEN = "hf_letmein"  # what may write, and read what is private
LARGE = ".safetensors"  # which goes through LFS


@dataclass
class Repository:
    """Its commits, the latest last, and who may read it."""

    private: bool = False
    gated: bool = False
    commits: list[tuple[str, dict[str, bytes]]] = field(default_factory=list)

    def at(self, revision: str) -> tuple[str, dict[str, bytes]] | None:
        if revision == "main":
            return self.commits[-1] if self.commits else ("0" * 40, {})
        return next((each for each in self.commits if each[0] == revision), None)

    def commit(self, files: dict[str, bytes]) -> str:
        name = hashlib.sha1(repr((len(self.commits), sorted(files.items()))).encode()).hexdigest()
        self.commits.append((name, files))
        return name


@dataclass
class Hub:
    """What it holds, what was asked of it, and what it is to answer instead where it is out of order."""

    repositories: dict[str, Repository] = field(default_factory=dict)
    objects: dict[str, bytes] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    failing: int | None = None
    address: str = ""


class Handler(BaseHTTPRequestHandler):
    hub: Hub
    protocol_version = "HTTP/1.1"

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        self._handle("GET")

    def do_HEAD(self) -> None:
        self._handle("HEAD")

    def do_POST(self) -> None:
        self._handle("POST")

    def do_PUT(self) -> None:
        self._handle("PUT")

    def _handle(self, method: str) -> None:
        path = unquote(urlsplit(self.path).path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.hub.asked.append(f"{method} {path}")
        if self.hub.failing is not None:
            return self._say({"error": "out of order"}, self.hub.failing)
        if (token := self._token()) and token != TOKEN:
            return self._refuse(401, "", "Invalid credentials in Authorization header")
        for pattern, answer in ROUTES:
            if found := re.fullmatch(pattern, f"{method} {path}"):
                answer(self, *found.groups(), body)
                return None
        return self._say({"error": f"no such route: {method} {path}"}, 404)

    def _token(self) -> str:
        return str(self.headers.get("Authorization", "")).removeprefix("Bearer ")

    def _say(self, content: Any, status: int = 200, **headers: str) -> None:
        self._send(json.dumps(content).encode(), status, **headers)

    def _send(self, content: bytes, status: int = 200, **headers: str) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def _refuse(self, status: int, code: str, message: str) -> None:
        self._say({"error": message}, status, X_Error_Code=code, X_Error_Message=message)

    def _repository(self, name: str) -> Repository | None:
        """It, if whoever asks may read it."""
        found = self.hub.repositories.get(name)
        if found is None or (found.private and not self._token()):
            self._refuse(404 if self._token() else 401, "RepoNotFound", "Repository not found")
            return None
        if found.gated:
            self._refuse(403, "GatedRepo", "Access to this model is restricted")
            return None
        return found

    def create(self, body: bytes) -> None:
        asked = json.loads(body)
        name = f"{asked['organization']}/{asked['name']}"
        if not self._token():
            return self._refuse(401, "", "Sign in first")
        if asked["organization"] == "others":
            return self._refuse(403, "", "You don't have the rights to create a model under this namespace")
        about = {"url": f"{self.hub.address}/{name}", "name": name, "id": "1"}
        if name in self.hub.repositories:
            return self._say({**about, "error": "You already created this model repo"}, 409)
        private = bool(asked.get("private")) or asked.get("visibility") == "private"
        self.hub.repositories[name] = Repository(private)
        return self._say(about)

    def about(self, name: str, revision: str | None, body: bytes) -> None:
        if (repository := self._repository(name)) is None:
            return None
        if (found := repository.at(revision or "main")) is None:
            return self._refuse(404, "RevisionNotFound", f"Invalid rev id: {revision}")
        siblings = [{"rfilename": file} for file in found[1]]
        return self._say({"id": name, "sha": found[0], "siblings": siblings, "tags": [], "private": repository.private})

    def tree(self, name: str, revision: str, body: bytes) -> None:
        if (repository := self._repository(name)) is None or (found := repository.at(revision)) is None:
            return None
        entry = {"type": "file"}
        files = [{**entry, "path": p, "size": len(c), "oid": _oid(c), **_lfs(p, c)} for p, c in found[1].items()]
        return self._say(files)

    def preupload(self, name: str, revision: str, body: bytes) -> None:
        modes = {True: "lfs", False: "regular"}
        files = [
            {"path": each["path"], "uploadMode": modes[each["path"].endswith(LARGE)], "shouldIgnore": False}
            for each in json.loads(body)["files"]
        ]
        self._say({"files": files})

    def batch(self, name: str, body: bytes) -> None:
        upload = {"upload": {"href": f"{self.hub.address}/objects/"}}
        objects = [
            {**each, "actions": {"upload": {"href": upload["upload"]["href"] + each["oid"]}}}
            for each in json.loads(body)["objects"]
        ]
        self._say({"transfer": "basic", "objects": objects})

    def keep(self, oid: str, body: bytes) -> None:
        assert hashlib.sha256(body).hexdigest() == oid
        self.hub.objects[oid] = body
        self._say({})

    def commit(self, name: str, revision: str, body: bytes) -> None:
        repository = self.hub.repositories[name]
        files = dict(repository.commits[-1][1]) if repository.commits else {}
        for line in map(json.loads, body.splitlines()):
            value = line["value"]
            if line["key"] == "file":
                files[value["path"]] = base64.b64decode(value["content"])
            elif line["key"] == "lfsFile":
                files[value["path"]] = self.hub.objects[value["oid"]]
            elif line["key"] == "deletedFile":
                del files[value["path"]]
        made = repository.commit(files)
        self._say({"success": True, "commitOid": made, "commitUrl": f"{self.hub.address}/{name}/commit/{made}"})

    def resolve(self, name: str, revision: str, file: str, body: bytes) -> None:
        if (repository := self._repository(name)) is None:
            return None
        found = repository.at(revision)
        if found is None or file not in found[1]:
            return self._refuse(404, "EntryNotFound" if found else "RevisionNotFound", "Not found")
        content = found[1][file]
        etag = f'"{hashlib.sha256(content).hexdigest() if file.endswith(LARGE) else _oid(content)}"'
        return self._send(content, ETag=etag, X_Repo_Commit=found[0])

    def yaml(self, body: bytes) -> None:
        self._say({"errors": [], "warnings": []})


REPO = r"([\w.-]+/[\w.-]+)"
ROUTES: list[tuple[str, Any]] = [
    (r"POST /api/repos/create", Handler.create),
    (r"POST /api/validate-yaml", Handler.yaml),
    (rf"GET /api/models/{REPO}(?:/revision/(.+))?", Handler.about),
    (rf"GET /api/models/{REPO}/tree/([^/]+)/?", Handler.tree),
    (rf"POST /api/models/{REPO}/preupload/(.+)", Handler.preupload),
    (rf"POST /api/models/{REPO}/commit/(.+)", Handler.commit),
    (rf"POST /{REPO}\.git/info/lfs/objects/batch", Handler.batch),
    (r"PUT /objects/(\w+)", Handler.keep),
    (rf"(?:GET|HEAD) /{REPO}/resolve/([^/]+)/(.+)", Handler.resolve),
]


def _oid(content: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()


def _lfs(path: str, content: bytes) -> dict[str, Any]:
    if not path.endswith(LARGE):
        return {}
    about = {"oid": hashlib.sha256(content).hexdigest(), "size": len(content), "pointerSize": 1}
    return {"lfs": about}


@contextmanager
def running() -> Iterator[Hub]:
    """A hub that answers while the block runs."""
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Bound", (Handler,), {"hub": hub}))
    server.daemon_threads = True
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def connect(hub: Hub, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the hub's client in this process ask an empty stand-in, with the token that may write."""
    from huggingface_hub import constants

    hub.repositories.clear()
    hub.asked.clear()
    hub.failing = None
    changes: dict[str, Any] = {
        "ENDPOINT": hub.address,
        "HUGGINGFACE_CO_URL_TEMPLATE": hub.address + "/{repo_id}/resolve/{revision}/{filename}",
        "HF_HUB_CACHE": str(cache),
        "HF_HUB_DISABLE_XET": True,
        "HF_HUB_OFFLINE": False,
    }
    for name, value in changes.items():
        monkeypatch.setattr(constants, name, value)
    monkeypatch.setenv("HF_HUB_CACHE", str(cache))
    monkeypatch.setenv("HF_TOKEN", TOKEN)
