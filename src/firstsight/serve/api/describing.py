"""The API's own description as a page: no script, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse

from firstsight.pages.render import render

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True)
class Route:
    """One route, for people."""

    id: str
    tag: str
    method: str
    path: str
    says: str
    takes: list[tuple[str, str, str]]  # what, where, and what it is


@router.get("/api/docs")
def docs(request: Request) -> HTMLResponse:
    """Every route: what it does, and what it takes."""
    groups: dict[str, list[Route]] = {}
    for each in routes(request.app.openapi()):
        groups.setdefault(each.tag, []).append(each)
    return HTMLResponse(render("service/api.html.j2", groups=list(groups.items())))


def routes(description: dict[str, Any]) -> Iterator[Route]:
    """All that an OpenAPI description has."""
    parts = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method, said in methods.items():
            takes = [(p["name"], p["in"], p.get("description", "")) for p in said.get("parameters", ())]
            takes += [(name, "body", what) for name, what in _body(said.get("requestBody", {}), parts)]
            yield Route(said["operationId"], said["tags"][0], method.upper(), path, said["description"], takes)


def _body(body: dict[str, Any], parts: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for kind, content in body.get("content", {}).items():
        schema = content["schema"]
        schema = parts.get(schema.get("$ref", "").rpartition("/")[2], schema)
        if not schema.get("properties"):
            yield kind, body.get("description", "")
        for name, what in schema.get("properties", {}).items():
            yield name, what.get("description", body.get("description", ""))
