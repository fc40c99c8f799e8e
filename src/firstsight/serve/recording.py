"""Images recorded under their keys: what came with a key before has its answer again, and another image never has."""

from __future__ import annotations

from collections.abc import Sequence
from threading import Lock

from firstsight.core.assignments import Assignment
from firstsight.core.errors import Conflict
from firstsight.core.protocols import Provenance
from firstsight.store.groups import Arrival
from firstsight.store.store import Store


class Recording:
    """Records in one store, a group at a time: what was checked of a key holds until the group is kept."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._turn = Lock()

    def record(self, arrivals: Sequence[Arrival], model: Provenance, once: bool) -> list[Assignment | Conflict]:
        """What each of these is, kept before this returns; Conflict for those whose key came with another image."""
        with self._turn:
            came: dict[str, bytes] = {}
            told = [self._conflict(each.key, each.content, came) for each in arrivals]
            good = [each for each, conflict in zip(arrivals, told, strict=True) if conflict is None]
            decided = iter(self.store.record(good, model, once) if good else ())
            return [next(decided) if each is None else each for each in told]

    def check(self, key: str, content: bytes) -> None:
        """Conflict where another image came with this key before."""
        if (conflict := self._conflict(key, content, {})) is not None:
            raise conflict

    def _conflict(self, key: str, content: bytes, came: dict[str, bytes]) -> Conflict | None:
        if not key:
            return None
        view = self.store.view()
        before = view.keyed(key)
        first = came.setdefault(key, content) if before is None else view.assigned(before).content
        if first in (content, b""):
            return None
        return Conflict("this idempotency key came with another image before", "use a key for one request only")
