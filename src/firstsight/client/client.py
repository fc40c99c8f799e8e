"""`Client`: a service by its address, with the verbs of `Discoverer` and of `Store`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self, overload
from urllib.parse import quote
from uuid import uuid4

from firstsight.client.sending import Sending, files, ready, requests, several
from firstsight.client.transport import TRIES, Transport, error_of
from firstsight.client.values import Event, assignment, event, halves, member, summary, value
from firstsight.core.assignments import Assignment
from firstsight.core.errors import BadImages, FirstsightError, ImageError
from firstsight.store.reconsider import Reconsidered
from firstsight.store.splits import SplitSuggestion
from firstsight.store.suggest import Suggestion
from firstsight.store.views import Member, Summary, Thrown

PAGE = 1000  # images or categories asked for at once

Image = int | str  # by number, or by what it came from


class Client:
    """Asks a service that `firstsight serve` runs.

    An image is a path, a PIL image, an array or a file's bytes, a feature an array of one dimension. What is sent to be
    discovered has a key of its own, so that it counts once however often it is sent. Edits are signed with the name of
    the token, which may also be in FIRSTSIGHT_TOKEN. Close it, or use it in a `with`. Threads may share one.
    """

    def __init__(
        self,
        address: str = "http://127.0.0.1:8000",
        token: str | None = None,
        once: bool = False,
        timeout: float = 120.0,
        tries: int = TRIES,
    ) -> None:
        self.once = once
        self._service = Transport(address, token or os.environ.get("FIRSTSIGHT_TOKEN"), timeout, tries)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Let go of its connections."""
        self._service.close()

    # ------------------------------------------------------------------ answering

    def predict_one(self, image: Any) -> Assignment:
        """What this image is; `category` is None where it would found a new one. Records nothing."""
        return self._one("predict", ready(image))

    def discover_one(self, image: Any, source: str | None = None) -> Assignment:
        """What this image is, a new category registered if it fits none; kept before this returns."""
        return self._one("discover", ready(image, source))

    @overload
    def predict_many(self, images: Iterable[Any], errors: Literal["raise"] = "raise") -> Iterator[Assignment]: ...
    @overload
    def predict_many(self, images: Iterable[Any], errors: Literal["yield"]) -> Iterator[Assignment | ImageError]: ...
    def predict_many(self, images: Iterable[Any], errors: str = "raise") -> Iterator[Assignment | ImageError]:
        """`predict_one` of every image, in groups. A bad image is raised, or yielded as its error in its place."""
        return self._many("predict", several(images, errors), errors)

    @overload
    def discover_many(self, images: Iterable[Any], errors: Literal["raise"] = "raise") -> Iterator[Assignment]: ...
    @overload
    def discover_many(self, images: Iterable[Any], errors: Literal["yield"]) -> Iterator[Assignment | ImageError]: ...
    def discover_many(self, images: Iterable[Any], errors: str = "raise") -> Iterator[Assignment | ImageError]:
        """`discover_one` of every image, likewise. All of a group are kept, also those after a bad one."""
        return self._many("discover", several(images, errors), errors)

    def teach(self, images: Iterable[Any], labels: Sequence[str]) -> list[Assignment]:
        """Add labelled images to known or new categories, all or none; how each stands then."""
        every = [ready(each) for each in images]
        if bad := [each for each in every if isinstance(each, ImageError)]:
            raise BadImages(bad)
        good = [each for each in every if isinstance(each, Sending)]
        said = self._service.post("/api/teach", **files(good), data={"labels": list(labels)})
        return [assignment(each) for each in said["answers"]]

    def explain(self, image: Any) -> dict[str, Any]:
        """Why an image is what it is, as docs/explanations.md has it; of the register by its number, or of any."""
        if isinstance(image, int):
            found: dict[str, Any] = self._service.get(f"/api/images/{image}/explain")
        else:
            found = self._service.request("POST", "/api/explain", safe=True, **files([_good(ready(image))])).json()
        return found

    # ------------------------------------------------------------------ looking

    def categories(self) -> list[Summary]:
        """All categories there are, oldest first."""
        return [summary(each) for each in self._pages("/api/categories", "categories")]

    def category(self, name: str) -> Summary:
        """The category a person means, by id or name."""
        return summary(self._service.get(_of(name)))

    def number(self) -> dict[str, int | None]:
        """How many categories there are in what was seen: estimate, low, high, certain."""
        found: dict[str, int | None] = self._service.get("/api/number")
        return found

    def images(self, category: str | None = None) -> Iterator[Member]:
        """The images of a category in order of arrival; of all of them, the newest first."""
        if category is not None:
            yield from (member(each) for each in self._pages(f"{_of(category)}/images", "images"))
            return
        before = None
        while some := self._service.get("/api/images", before=before, limit=PAGE)["images"]:
            yield from (member(each) for each in some)
            before = some[-1]["image"]

    def image(self, number: int) -> Member:
        """One image."""
        return member(self._service.get(f"/api/images/{number}"))

    def picture(self, number: int, side: int | None = None) -> bytes:
        """The picture of an image as it came or, with a side of 112 or 224 pixels, a small square of it."""
        if side is None:
            return self._service.content(f"/api/images/{number}/picture")
        return self._service.content(f"/api/images/{number}/thumbnail", side=side)

    def unsure(self, below: float = 0.5, limit: int = 20) -> list[Member]:
        """Images a person should look at, the least sure first."""
        return [member(each) for each in self._service.get("/api/unsure", below=below, limit=limit)["images"]]

    def discarded(self) -> list[Thrown]:
        """Images that are discarded, with the event that undo takes to bring them back."""
        return [value(Thrown, each) for each in self._pages("/api/discarded", "images")]

    def suggest(self, limit: int = 20) -> list[Suggestion]:
        """Pairs of categories that may be the same, the likeliest first."""
        return [value(Suggestion, each) for each in self._service.get("/api/suggestions", limit=limit)["suggestions"]]

    def suggest_splits(self, limit: int = 20, category: str | None = None) -> list[SplitSuggestion]:
        """Categories that may hold two things, what lies farthest apart first."""
        return [halves(each) for each in self._service.get("/api/splits", limit=limit, category=category)["splits"]]

    def reconsider(self, limit: int = 20) -> list[Reconsidered]:
        """Images that would be answered otherwise by now, the surest first."""
        return [value(Reconsidered, each) for each in self._service.get("/api/reconsider", limit=limit)["images"]]

    def history(self, category: str | None = None, image: int | None = None, limit: int = 50) -> list[Event]:
        """What happened, the latest last."""
        asked = {"category": category, "image": image, "limit": limit}
        return [event(each) for each in self._service.get("/api/history", **asked)["events"]]

    def days(self, category: str | None = None) -> list[dict[str, Any]]:
        """How many images of each category were taken on each day."""
        return list(self._pages("/api/days", "counts", category=category))

    def places(self, within: float = 1000.0, category: str | None = None) -> list[dict[str, Any]]:
        """How many images of each category were taken at each place, a square with sides of so many metres."""
        return list(self._pages("/api/places", "counts", within=within, category=category))

    def events(self, after: int | None = None) -> Iterator[Event]:
        """Everything recorded after an event, or from now on, as it happens; it never ends by itself.

        A connection that breaks is made again, and goes on after the last event that came.
        """
        start = self._service.get("/ready")["events"] if after is None else after
        return (event(each) for each in self._service.events(start))

    @property
    def radius(self) -> float | None:
        """How far categories reach; None where nothing is ever new."""
        found: float | None = self._service.get("/api/radius")["radius"]
        return found

    # ------------------------------------------------------------------ correcting

    def rename(self, category: str, name: str) -> Event:
        """Call a category something else; its id stays."""
        return self._edit(f"{_of(category)}/rename", name=name)[0]

    def merge(self, category: str, into: str, *also: str) -> Event:
        """Make a category, and others with it, part of another."""
        return self._edit(f"{_of(category)}/merge", into=into, also=list(also))[0]

    def split(self, images: Sequence[Image], name: str | None = None) -> Event:
        """Give images a category of their own, with a centre of its own."""
        return self._edit("/api/images/split", images=list(images), name=name)[0]

    def split_category(self, category: str, name: str | None = None) -> Event:
        """Split a category in two, as `suggest_splits` proposes."""
        return self._edit(f"{_of(category)}/split", name=name)[0]

    def move(self, images: Sequence[Image], to: str) -> Event:
        """Put images into a category, for good."""
        return self._edit("/api/images/move", images=list(images), to=to)[0]

    def confirm(self, images: Sequence[Image]) -> Event:
        """Say that images are where they belong."""
        return self._edit("/api/images/confirm", images=list(images))[0]

    def promote(self, category: str, name: str | None = None) -> Event:
        """Make a discovered category a known one, under its name or another."""
        return self._edit(f"{_of(category)}/promote", name=name)[-1]

    def discard(self, images: Sequence[Image]) -> Event:
        """Images are of nothing: they leave, and teach nothing."""
        return self._edit("/api/images/discard", images=list(images))[0]

    def discard_category(self, category: str) -> Event:
        """A discovered category is of nothing: it goes, with all its images."""
        return self._edit(f"{_of(category)}/discard")[0]

    def change_radius(self, radius: float) -> Event:
        """Set how far categories reach, for the images to come."""
        return self._edit("/api/radius", radius=radius)[0]

    def undo(self, *events: int, followers: bool = False) -> Event:
        """Take back events, each with its whole command, or the last edit; with `followers`, what depends on them."""
        return self._edit("/api/undo", events=list(events), followers=followers)[0]

    def redo(self, event: int | None = None) -> Event:
        """Bring back what was taken back."""
        return self._edit("/api/redo", event=event)[0]

    def apply_reconsider(self, limit: int = 20) -> list[Event]:
        """Move the images that `reconsider` lists, all at once."""
        return self._edit("/api/reconsider", limit=limit)

    def relocate(self, folder: Path | str) -> list[str]:
        """Find the files of images below a folder of the service's machine; those that are still missing."""
        missing: list[str] = self._service.post("/api/relocate", json={"folder": str(folder)})["missing"]
        return missing

    def forget(self, images: Sequence[Image]) -> Event | None:
        """Remove for good what tells of images; None where that was done already."""
        return next(iter(self._edit("/api/images/forget", images=list(images))), None)

    # ------------------------------------------------------------------ keeping

    def export(self, target: Path | str, format: str = "csv", **options: Any) -> int:
        """Write what the register holds to a new file here; how many images. `camtrap` and `folder` are zips."""
        said = self._service.download("/api/export", Path(target), format=format, **options)
        return int(said["x-firstsight-images"])

    def gallery(self, target: Path | str, below: float = 0.5) -> None:
        """Write a page of every category with its images to a file here."""
        self._service.download("/api/gallery", Path(target), below=below)

    def back_up(self, target: Path | str) -> None:
        """Write a zip of the register and its pictures to a file here."""
        self._service.download("/api/backup", Path(target))

    def verify(self) -> int:
        """Check every event there is; how many that are."""
        return int(self._service.get("/api/verify")["events"])

    # ------------------------------------------------------------------ inside

    def _one(self, verb: str, sending: Sending | ImageError) -> Assignment:
        (answer,) = self._answers(verb, [_good(sending)])
        if isinstance(answer, FirstsightError):
            raise answer
        return answer

    def _many(self, verb: str, images: Iterable[Any], errors: str) -> Iterator[Assignment | ImageError]:
        for group in requests(images):
            good = [each for each in group if isinstance(each, Sending)]
            answers = iter(self._answers(verb, good) if good else ())
            for each in group:
                answer = next(answers) if isinstance(each, Sending) else each
                if isinstance(answer, FirstsightError) and not (errors == "yield" and isinstance(answer, ImageError)):
                    raise answer
                yield answer

    def _answers(self, verb: str, group: Sequence[Sending]) -> list[Assignment | ImageError]:
        path = f"/api/{verb}" + ("" if group[0].kind == "image" else "/features")
        how = files(group)
        if verb == "discover":
            how["headers"] = {**how.get("headers", {}), "Idempotency-Key": uuid4().hex}
            how["params"] = {"once": self.once}
        said = self._service.request("POST", path, safe=True, **how).json()["answers"]
        return [
            assignment(each["answer"]) if each["answer"] else error_of(each["problem"], each["source"])  # type: ignore[misc]
            for each in said
        ]

    def _edit(self, path: str, **body: Any) -> list[Event]:
        return [event(each) for each in self._service.post(path, json=body)["events"]]

    def _pages(self, path: str, what: str, **params: Any) -> Iterator[dict[str, Any]]:
        offset = 0
        while some := self._service.get(path, offset=offset, limit=PAGE, **params)[what]:
            yield from some
            if len(some) < PAGE:
                return
            offset += len(some)


def _of(category: str) -> str:
    return f"/api/categories/{quote(category, safe='')}"


def _good(sending: Sending | ImageError) -> Sending:
    if isinstance(sending, ImageError):
        raise sending
    return sending
