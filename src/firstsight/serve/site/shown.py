"""What every page has: who looks, a view of the register, the last edit with a way back; and problems in words."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeAlias

from fastapi import APIRouter, Depends, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse
from fastapi.routing import APIRoute
from markupsafe import Markup

from firstsight.core.errors import FirstsightError
from firstsight.pages.render import render
from firstsight.serve.problems import NO_PAGE, START, Refused, problem
from firstsight.serve.routes import the_caller, the_service
from firstsight.serve.security import Caller
from firstsight.serve.service import Service
from firstsight.serve.site.telling import last_edit
from firstsight.store.originals import Originals
from firstsight.store.table import Table, table
from firstsight.store.view import View


@dataclass(frozen=True)
class Site:
    """One look at the service, by whoever asks: a view that stays as it is for the whole page."""

    service: Service
    caller: Caller

    @cached_property
    def view(self) -> View:
        return self.service.view()

    @cached_property
    def table(self) -> Table:
        """Its categories and images as columns."""
        return table(self.view)

    @cached_property
    def originals(self) -> Originals:
        return Originals(self.view.pictures)

    def page(self, name: str, here: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page. `here` is its name in the navigation."""
        about: dict[str, Any] = {
            "token": self.caller.csrf,
            "edits": self.caller.edits,
            "here": here,
            "last": self.view.last,
        }
        about["signed_in"] = self.caller.name
        bar = Markup(self.rendered("undo", edit=last_edit(self.view)))
        return HTMLResponse(render(f"service/{name}.html.j2", undo_bar=bar, **about, **values), status)

    def part(self, name: str, **values: Any) -> HTMLResponse:
        """What replaces or follows a part of a page that is there."""
        return HTMLResponse(self.rendered(name, **values))

    def rendered(self, name: str, **values: Any) -> str:
        return render(f"service/{name}.html.j2", edits=self.caller.edits, **values).decode()


class PageRoute(APIRoute):
    """A page that says in words what went wrong, where the API would say it in JSON."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handler = super().get_route_handler()

        async def page(request: Request) -> Response:
            try:
                return await handler(request)
            except (FirstsightError, RequestValidationError) as error:
                ours = isinstance(error, FirstsightError)
                return problem_page(request, error if ours else Refused(404, NO_PAGE, START))

        return page


def problem_page(request: Request, error: Exception) -> HTMLResponse:
    """What was wrong, in words; or for a part of a page, in its place."""
    said = problem(error)
    if request.url.path.startswith("/parts/"):
        return the_site(request).part("problem_part", said=said)
    return the_site(request).page("problem", "", int(said["status"]), said=said)


def pages() -> APIRouter:
    """A router for pages, which are no part of the API."""
    return APIRouter(include_in_schema=False, route_class=PageRoute)


def the_site(request: Request) -> Site:
    return Site(the_service(request), the_caller(request))


TheSite: TypeAlias = Annotated[Site, Depends(the_site)]
