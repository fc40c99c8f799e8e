"""Every event, in any order a person might think of: the store against a model that knows nothing of taking back.

The model keeps the events and, to know the state, folds those in force from the start. It never reverts anything,
keeps no snapshot and has no file, so it cannot share a fault with what it is compared with.
"""

from __future__ import annotations

import shutil
import tempfile
from math import inf
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from tiny_store import BITS, LOCAL, MODEL, Kind, arrival, discover, feature, fresh, fresh_register

from firstsight.core.assignments import Assignment
from firstsight.core.errors import FirstsightError
from firstsight.core.protocols import Centre, Register
from firstsight.store import store as store_module
from firstsight.store.authors import HINDSIGHT
from firstsight.store.empties import keep_empty
from firstsight.store.events import (
    Assigned,
    Confirmed,
    Created,
    Discarded,
    Event,
    Forgotten,
    Founded,
    FoundEmpty,
    Merged,
    Moved,
    Promoted,
    RadiusChanged,
    Recentred,
    Recorded,
    Relocated,
    Renamed,
    Split,
    Undone,
)
from firstsight.store.memory import MemoryLog
from firstsight.store.sqlite import SqliteLog
from firstsight.store.store import Arrival, Store, header_of
from firstsight.store.view import View

CODES = [0, 1, 0b111, 0b1111, 0b1111110, 0b11111111, 0b10101010, 0b10101011, 0b10101000]  # near each other, and far
NAMES = ["moth", "wasp", "new-3", "ant", "gnat "]
PEOPLE = ("person", "person Ann")
HISTORY = ("last", "undone", "edits", "authored")


class Model:
    """The state, from the events in force alone."""

    def __init__(self, kind: Kind) -> None:
        self.events: list[Recorded] = []
        self.register = fresh(kind)

    def in_force(self) -> list[tuple[int, Event]]:
        undone: set[int] = set()
        for recorded in self.events:
            if isinstance(recorded.event, Undone):
                for number in recorded.event.events:
                    target = self.events[number - 1].event
                    undone |= {number}
                    undone -= set(target.events) if isinstance(target, Undone) else set()
        return [(r.number, r.event) for r in self.events if r.number not in undone]

    def state(self) -> dict[str, Any]:
        names = {"ant": "ant", "bee": "bee"}
        centres = [(c.home, c.feature, 0) for c in self.register.known_centres()]
        merged: dict[str, str] = {}
        images: dict[int, tuple[str, str]] = {}  # where each is, and who put it there
        empty: list[int] = []
        lessons: set[int] = set()
        known, sources = {"ant", "bee"}, dict[int, str]()
        radius = self.register.radius
        for number, event in self.in_force():
            match event:
                case Created():
                    names[event.category] = event.category
                    centres.append((event.category, self.register.feature_from(event.feature), 0))
                case Assigned():
                    images[number] = (event.via or event.category, event.by)
                    lessons |= {number} if event.lesson else set()
                case FoundEmpty():
                    empty.append(number)
                case Renamed():
                    names[event.category] = event.new
                case Merged():
                    merged[event.category] = event.into
                case Split():
                    names[event.category] = event.name
                    centres.append((event.category, self.register.feature_from(event.feature), number))
                    images |= dict.fromkeys(event.images, (event.category, event.by))
                case Moved():
                    images |= dict.fromkeys(event.images, (event.to, event.by))
                case Confirmed():
                    images |= {i: (images[i][0], event.by) for i in event.images}
                case Founded():
                    names[event.category] = event.name
                    known |= {event.category}
                    centres.append((event.category, self.register.feature_from(event.feature), number))
                case Promoted():
                    known |= {event.category}
                case Discarded():
                    images = {n: where for n, where in images.items() if n not in event.images}
                    names = {id: name for id, name in names.items() if id not in event.categories}
                    centres = [centre for centre in centres if centre[0] not in event.categories]
                case Recentred():
                    made = self.register.feature_from(event.feature)
                    centres = [(c[0], made, c[2]) if c[0] == event.category else c for c in centres]
                case Relocated():
                    sources |= dict(zip(event.images, event.sources, strict=True))
                    sources = {n: source for n, source in sources.items() if source}
                case RadiusChanged():
                    radius = event.new

        def home(id: str) -> str:
            return home(merged[id]) if id in merged else id

        owners = {n: home(c) for n, (c, _) in images.items()}
        firsts = {min(n for n, c in owners.items() if c == id) for id in set(owners.values()) - {"ant", "bee"}}
        placed = {n for n, (_, by) in images.items() if by.startswith("person")}
        taught = [n for n in sorted(images) if n in placed | lessons | firsts]
        ranked = sorted((c for c in centres if c[2]), key=lambda c: -c[2]) + [c for c in centres if not c[2]]
        return {
            "images": {n: (home(c), by) for n, (c, by) in images.items()},
            "empty": empty,
            "names": {id: (name, id in known) for id, name in names.items() if id not in merged},
            "sources": sources,
            "radius": radius,
            "centres": [Centre(centre, home(id), id) for id, centre, _ in ranked],
            "taught": [(n, images[n][0]) for n in taught],
        }

    def built(self) -> Register:
        """A register made of nothing but that."""
        state, made = self.state(), self.register.copy()
        order = [
            "ant",
            "bee",
            *(e.event.category for e in self.events if isinstance(e.event, Created | Split | Founded)),
        ]
        features = {e.number: e.event.feature for e in self.events if isinstance(e.event, Assigned)}
        members = [(made.feature_from(features[n]), home) for n, home in state["taught"]]
        made.rebuild(state["centres"], state["names"], members, order)
        made.radius = state["radius"]
        return made


class StoreMachine(RuleBasedStateMachine):
    kind: Kind

    @initialize(rule=st.sampled_from(["nearest", "first", "reference"]), log=st.sampled_from(LOCAL))
    def begin(self, rule: str, log: str) -> None:
        self.folder = Path(tempfile.mkdtemp())
        self.model = Model(self.kind)
        if self.kind == "codes":
            self.model.register = fresh_register(rule=rule)
        header = header_of(self.model.register, MODEL)
        self.log = MemoryLog(header) if log == "memory" else None
        if self.log is None:
            SqliteLog.create(self.folder / "a.db", header).close()
        self.store = self.open()
        self.ids: set[str] = {"ant", "bee"}
        self.kept: list[tuple[View, Any, Any]] = []

    def open(self) -> Store:
        return Store.open(self.folder / "a.db", sync="normal") if self.log is None else Store(self.log)

    def teardown(self) -> None:
        if hasattr(self, "store"):
            self.store.close()
            shutil.rmtree(self.folder)

    def answers(self, register: Register) -> list[Assignment]:
        return [register.match(feature(value, self.kind)) for value in range(0, 1 << BITS, 5)]

    def edit(self, verb: Any, *arguments: Any, **options: Any) -> Recorded | None:
        """Try an edit; what is refused must have changed nothing."""
        before, last = self.store.view().catalogue.state(), self.store.view().last
        try:
            verb(*arguments, **options)
        except FirstsightError:
            assert self.store.view().catalogue.state() == before
            return None
        made = list(self.store.view().events(last))
        assert {each.command for each in made} == {last + 1}
        self.model.events += made
        return made[-1]

    def categories(self) -> list[str]:
        return list(self.store.view().catalogue.categories)

    def images(self) -> list[int]:
        numbers: list[int] = self.store.view().catalogue.numbers.values().tolist()
        return numbers

    @rule(values=st.lists(st.sampled_from(CODES), min_size=1, max_size=4))
    def images_arrive(self, values: list[int]) -> None:
        before = self.store.view().last
        answers = discover(self.store, *values, kind=self.kind)
        self.model.events += self.store.view().events(before)
        for answer in answers:
            if answer.created:
                assert answer.category not in self.ids, "an id was given twice"
                self.ids.add(str(answer.category))
            assert answer.image is not None
            assert self.store.view().catalogue.category_of(answer.image) == answer.category

    @rule(values=st.lists(st.sampled_from([b"a", b"b", b"c"]), min_size=1, max_size=3), again=st.booleans())
    def empty_frames_arrive(self, values: list[bytes], again: bool) -> None:
        self.model.events += keep_empty(self.store, values, again=again).recorded

    @rule(data=st.data(), name=st.sampled_from(NAMES))
    def rename(self, data: st.DataObject, name: str) -> None:
        self.edit(self.store.rename, data.draw(st.sampled_from(self.categories())), name)

    @rule(data=st.data())
    def merge(self, data: st.DataObject) -> None:
        ids = st.sampled_from(self.categories())
        self.edit(self.store.merge, data.draw(ids), data.draw(ids))

    @precondition(lambda self: self.images())
    @rule(data=st.data(), name=st.none() | st.sampled_from(NAMES))
    def split(self, data: st.DataObject, name: str | None) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.images()), min_size=1, max_size=3))
        recorded = self.edit(self.store.split, chosen, name)
        if recorded:
            assert isinstance(recorded.event, Split)
            assert recorded.event.category not in self.ids
            self.ids.add(recorded.event.category)

    @precondition(lambda self: self.images())
    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.images()), min_size=1, max_size=3))
        self.edit(self.store.move, chosen, data.draw(st.sampled_from(self.categories())))

    @precondition(lambda self: self.images())
    @rule(data=st.data())
    def hindsight_moves(self, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.images()), min_size=1, max_size=3))
        self.edit(self.store.move, chosen, data.draw(st.sampled_from(self.categories())), by=HINDSIGHT)

    @rule(data=st.data(), name=st.none() | st.sampled_from(NAMES))
    def promote(self, data: st.DataObject, name: str | None) -> None:
        self.edit(self.store.promote, data.draw(st.sampled_from(self.categories())), name)

    @rule(data=st.data(), values=st.lists(st.sampled_from(CODES), min_size=1, max_size=3), ann=st.booleans())
    def teach(self, data: st.DataObject, values: list[int], ann: bool) -> None:
        """Images that are new, or one that is here already, for categories that are there and those that are not."""
        start = self.store.view().last
        arrivals = [arrival(value, f"{start}-{i}-{value}.jpg", self.kind) for i, value in enumerate(values)]
        if here := [n for n in self.store.view().images() if not self.store.view().assigned(n).forgotten]:
            held = self.store.view().assigned(data.draw(st.sampled_from(here)))
            arrivals.append(Arrival(held.source, held.content, self.store.register.feature_from(held.feature)))
        label = st.sampled_from([*self.categories(), *NAMES])
        labels = [data.draw(label) for _ in arrivals]
        recorded = self.edit(self.store.teach, arrivals, labels, MODEL, by="Ann" if ann else None)
        if recorded:
            founded = [e.event for e in self.store.view().events(start) if isinstance(e.event, Founded)]
            assert not self.ids & {event.category for event in founded}
            self.ids |= {event.category for event in founded}

    @precondition(lambda self: self.images())
    @rule(data=st.data())
    def discard(self, data: st.DataObject) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.images()), min_size=1, max_size=3))
        contents = [self.store.view().seen(image).content for image in chosen]
        if self.edit(self.store.discard, chosen):
            for content in filter(None, contents):  # a forgotten image is recognised no more
                answer = self.store.recognise(content)
                assert answer is not None
                assert (answer.decided_by, answer.category) == ("discarded", None)

    @rule(data=st.data())
    def discard_category(self, data: st.DataObject) -> None:
        self.edit(self.store.discard_category, data.draw(st.sampled_from(self.categories())))

    @precondition(lambda self: self.images())
    @rule(data=st.data(), folder=st.sampled_from(["here", "there"]))
    def relocate(self, data: st.DataObject, folder: str) -> None:
        chosen = data.draw(st.lists(st.sampled_from(self.images()), min_size=1, max_size=2, unique=True))
        self.edit(self.store.relocate, {image: f"/{folder}/{image}.jpg" for image in chosen})

    @rule(data=st.data())
    def undo_with_followers(self, data: st.DataObject) -> None:
        """Nothing stands in the way of that but what is undone already, is an undo, or is for good."""
        number = data.draw(st.integers(1, max(1, self.store.view().last)))
        done = self.edit(self.store.undo, number, followers=True)
        there = self.model.events[number - 1 : number]
        fresh = there and not isinstance(there[0].event, Undone | Forgotten)
        assert done or not fresh or number in self.store.view().catalogue.undone

    @precondition(lambda self: self.images())
    @rule(data=st.data())
    def confirm(self, data: st.DataObject) -> None:
        self.edit(self.store.confirm, [data.draw(st.sampled_from(self.images()))])

    @precondition(lambda self: self.images())
    @rule(data=st.data())
    def forget(self, data: st.DataObject) -> None:
        """Every number stays, and nothing that is decided or can be undone changes."""
        image = data.draw(st.sampled_from(self.images()))
        before, answers = self.store.view().catalogue, self.answers(self.store.register)
        mark = self.store.forget([image])
        assert self.store.view().seen(image).forgotten
        assert self.answers(self.store.register) == answers
        assert self.store.view().catalogue.edits == before.edits
        if mark is not None:
            assert not any(each.event.images == (image,) and any(each.event.sources) for each in self.relocated())
            self.model.events = list(self.store.view().events())  # what told of the image is gone from them

    def relocated(self) -> list[Any]:
        return [each for each in self.store.view().events() if isinstance(each.event, Relocated)]

    @rule(radius=st.integers(0, BITS) | st.just(inf))
    def change_radius(self, radius: float) -> None:
        self.edit(self.store.change_radius, radius)

    @rule(data=st.data())
    def undo(self, data: st.DataObject) -> None:
        self.edit(self.store.undo, data.draw(st.integers(1, max(1, self.store.view().last))))

    @rule()
    def undo_the_last(self) -> None:
        self.edit(self.store.undo)

    @precondition(lambda self: self.store.view().catalogue.undone)
    @rule(data=st.data())
    def redo(self, data: st.DataObject) -> None:
        self.edit(self.store.redo, data.draw(st.sampled_from(sorted(self.store.view().catalogue.undone))))

    @rule()
    def redo_the_last(self) -> None:
        self.edit(self.store.redo)

    @rule(data=st.data())
    def undo_then_redo_is_the_identity(self, data: st.DataObject) -> None:
        before, answers = _without_history(self.store), self.answers(self.store.register)
        undone = self.edit(self.store.undo, data.draw(st.integers(1, max(1, self.store.view().last))))
        if undone is not None:
            assert self.edit(self.store.redo, undone.number) is not None
            assert _without_history(self.store) == before
            assert self.answers(self.store.register) == answers

    @rule()
    def undo_two_and_bring_back_the_later(self) -> None:
        """Which must not stand on the earlier one when it is undone again."""
        later, earlier = self.edit(self.store.undo), self.edit(self.store.undo)
        if later and earlier and self.edit(self.store.redo, later.number):
            self.edit(self.store.undo)

    @rule(every=st.sampled_from([1, 10_000]))
    def close_and_reopen(self, every: int) -> None:
        """With a snapshot and without."""
        before = self.store.view().catalogue.state()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(store_module, "SNAPSHOT_EVERY", every)
            self.store.close()
        self.kept = []  # a view cannot be read once its log is closed
        self.store = self.open()
        assert self.store.view().catalogue.state() == before

    @rule()
    def keep_a_view(self) -> None:
        view = self.store.view()
        self.kept.append((view, view.catalogue.state(), self.answers(view.register)))

    @rule(data=st.data())
    def several_edits_are_one(self, data: st.DataObject) -> None:
        """All or none: where the last is refused, the first has not been done either."""
        ids = st.sampled_from(self.categories())
        pairs = data.draw(st.lists(st.tuples(ids, ids), min_size=2, max_size=3))
        before, last = self.store.view().catalogue.state(), self.store.view().last
        try:
            made = self.store.edit(lambda draft: [draft.merge(*pair) for pair in pairs])
        except FirstsightError:
            assert self.store.view().catalogue.state() == before
            return
        assert [each.number for each in made] == list(range(last + 1, last + 1 + len(pairs)))
        self.model.events += made
        assert self.edit(self.store.undo) is not None
        assert _without_history(self.store) == {k: v for k, v in before.items() if k not in HISTORY}

    @invariant()
    def a_view_stays_as_it_was(self) -> None:
        for view, state, answers in getattr(self, "kept", [])[-2:]:
            assert view.catalogue.state() == state
            assert self.answers(view.register) == answers

    @invariant()
    def the_store_is_what_the_events_in_force_say(self) -> None:
        if not hasattr(self, "store"):
            return
        catalogue, expected = self.store.view().catalogue, self.model.state()
        here = self.store.view().images()
        assert {n: (catalogue.category_of(n), str(catalogue.author(n))) for n in here} == expected["images"]
        assert {n for n in here if catalogue.placed(n)} == {n for n in here if str(catalogue.author(n)) in PEOPLE}
        assert catalogue.empty_frames() == expected["empty"]
        assert {c.id: (c.name, c.known) for c in catalogue.live()} == expected["names"]
        assert catalogue.sources == expected["sources"]
        assert catalogue.radius == expected["radius"]
        assert {owner for owner, _ in expected["images"].values()} <= expected["names"].keys(), (
            "an image without a home"
        )
        assert {owner for _, owner, _ in expected["centres"]} == expected["names"].keys(), "a category without a centre"
        for id in expected["names"]:
            assert catalogue.images(id) == [n for n, (owner, _) in expected["images"].items() if owner == id]

    @invariant()
    def the_register_answers_as_one_built_from_those_events(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.answers(self.store.register) == self.answers(self.model.built())

    @invariant()
    def a_replay_from_the_first_event_gives_the_same(self) -> None:
        if not hasattr(self, "store"):
            return
        assert self.store.replay() == self.store.view().catalogue

    @invariant()
    def names_are_unique_and_old_ids_still_lead_somewhere(self) -> None:
        if not hasattr(self, "store"):
            return
        live = self.store.view().catalogue.live()
        assert len({c.name for c in live}) == len(live)
        for id, category in self.store.view().catalogue.categories.items():
            found = self.store.view().catalogue.find(id)
            assert (found is None) == category.gone
            assert found is None or found in live


def _without_history(store: Store) -> dict[str, Any]:
    """What an undo and its redo must leave as it was."""
    return {name: value for name, value in store.view().catalogue.state().items() if name not in HISTORY}


class CodesMachine(StoreMachine):
    kind = "codes"


class StatisticsMachine(StoreMachine):
    kind = "statistics"


class LeadersMachine(StoreMachine):
    kind = "leaders"


TestCodes, TestStatistics, TestLeaders = (m.TestCase for m in (CodesMachine, StatisticsMachine, LeadersMachine))
TestLeaders.settings = settings(max_examples=10, stateful_step_count=30, deadline=None)
TestCodes.settings = TestStatistics.settings = settings(max_examples=12, stateful_step_count=30, deadline=None)
