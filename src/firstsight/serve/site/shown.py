"""What every page has: who looks, where the register is, and the last edit with a way back."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any, TypeAlias

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from markupsafe import Markup

from firstsight.pages.render import render
from firstsight.serve.routes import the_caller, the_service
from firstsight.serve.security import Caller
from firstsight.serve.service import Service
from firstsight.serve.site.telling import last_edit
from firstsight.store.originals import Originals
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
    def originals(self) -> Originals:
        return Originals(self.view.pictures)

    def page(self, name: str, here: str, status: int = 200, **values: Any) -> HTMLResponse:
        """A whole page. `here` is its name in the navigation."""
        about = {"token": self.caller.csrf, "edits": self.caller.edits, "here": here, "last": self.view.last}
        bar = Markup(self.rendered("undo", edit=last_edit(self.view)))
        return HTMLResponse(render(f"service/{name}.html.j2", undo_bar=bar, **about, **values), status)

    def part(self, name: str, **values: Any) -> HTMLResponse:
        """What replaces or follows a part of a page that is there."""
        return HTMLResponse(self.rendered(name, **values))

    def rendered(self, name: str, **values: Any) -> str:
        return render(f"service/{name}.html.j2", edits=self.caller.edits, **values).decode()


def the_site(request: Request) -> Site:
    return Site(the_service(request), the_caller(request))


TheSite: TypeAlias = Annotated[Site, Depends(the_site)]
