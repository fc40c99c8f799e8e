"""The app: routers, errors, and the gate around them."""

from __future__ import annotations

from importlib.resources import files
from threading import BoundedSemaphore

from fastapi import FastAPI
from starlette.staticfiles import StaticFiles

from firstsight._version import __version__
from firstsight.serve import problems
from firstsight.serve.api import (
    answering,
    between,
    categories,
    describing,
    editing,
    events,
    exporting,
    images,
    looking,
    mapping,
    operating,
    teaching,
)
from firstsight.serve.between.passing import Passing
from firstsight.serve.gate import Gate
from firstsight.serve.schemas import Problem
from firstsight.serve.security import Guard
from firstsight.serve.service import Service
from firstsight.serve.site import categories as categories_page
from firstsight.serve.site import category as category_page
from firstsight.serve.site import image as image_page
from firstsight.serve.site import map as map_page
from firstsight.serve.site import overview, review, sign_in, stream, undo
from firstsight.serve.site.finding import Finder
from firstsight.serve.site.shown import problem_page

API = (
    answering,
    teaching,
    editing,
    looking,
    images,
    categories,
    mapping,
    exporting,
    events,
    operating,
    describing,
    between,
)
SITE = (stream, review, categories_page, category_page, image_page, map_page, overview, undo, sign_in)
TURNS = 4  # requests that may look through everything at a time


def create_app(service: Service) -> FastAPI:
    """Everything over HTTP, for a service that is running."""
    app = FastAPI(
        title="Firstsight",
        version=__version__,
        description="For every image the moment it arrives: a known category, one discovered earlier, or a new one.",
        openapi_url="/api/openapi.json",
        docs_url=None,  # they fetch scripts from elsewhere
        redoc_url=None,
        responses={"default": {"model": Problem, "description": "What was wrong, as problem+json."}},
    )
    app.state.service = service
    app.state.heavy = BoundedSemaphore(TURNS)
    app.state.finder = Finder()
    app.state.guard = Guard(service.settings)
    problems.install(app, problem_page)
    for module in (*API, *SITE):
        app.include_router(module.router)
    app.mount("/static", StaticFiles(directory=str(files("firstsight.pages").joinpath("static"))), name="static")
    seals = None if service.sharing is None else service.sharing.seals
    app.add_middleware(Passing, service=service)
    app.add_middleware(Gate, guard=app.state.guard, settings=service.settings, seals=seals)
    return app
