"""What people say of what was found: a verb each. All become events, and all can be undone."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

from firstsight.core.protocols import Provenance
from firstsight.store.authors import By
from firstsight.store.draft import Edit
from firstsight.store.events import Recorded
from firstsight.store.groups import Arrival
from firstsight.store.lessons import teach


class Editing(ABC):
    """The verbs of a store. `by` is the name of whoever edits; each verb is one command, and one undo."""

    @abstractmethod
    def edit(self, edit: Edit, by: By = None) -> list[Recorded]:
        """Several edits as one, all or none."""

    @abstractmethod
    def encoder(self, model: Provenance) -> int:
        """The entry of the log for what makes features."""

    def rename(self, category: str, name: str, by: By = None) -> Recorded:
        """Call a category something else; its id stays."""
        return self.edit(lambda draft: draft.rename(category, name), by)[0]

    def merge(self, category: str, into: str, by: By = None) -> Recorded:
        """Make a category part of another: its images belong there, and what its centres match goes there."""
        return self.edit(lambda draft: draft.merge(category, into), by)[0]

    def split(self, images: Sequence[int], name: str | None = None, by: By = None) -> Recorded:
        """Give images a category of their own, with a centre of its own."""
        return self.edit(lambda draft: draft.split(images, name), by)[0]

    def move(self, images: Sequence[int], to: str, by: By = None) -> Recorded:
        """Put images into a category, for good."""
        return self.edit(lambda draft: draft.move(images, to), by)[0]

    def confirm(self, images: Sequence[int], by: By = None) -> Recorded:
        """Say that images are where they belong."""
        return self.edit(lambda draft: draft.confirm(images), by)[0]

    def promote(self, category: str, name: str | None = None, by: By = None) -> Recorded:
        """Make a discovered category a known one, under its name or another; what it has learned stays."""
        return self.edit(lambda draft: draft.promote(category, name), by)[-1]

    def teach(
        self, arrivals: Sequence[Arrival], labels: Sequence[str], model: Provenance, by: By = None
    ) -> list[Recorded]:
        """Add labelled images to known or new categories, without fitting anew; see `lessons.teach`."""
        encoder = self.encoder(model)
        return self.edit(lambda draft: teach(draft, arrivals, labels, encoder), by)

    def discard(self, images: Sequence[int], by: By = None) -> Recorded:
        """Images are of nothing: they leave, with discovered categories that have no others, and teach nothing."""
        return self.edit(lambda draft: draft.discard(images), by)[0]

    def discard_category(self, category: str, by: By = None) -> Recorded:
        """A discovered category is of nothing: it goes, with all its images."""
        return self.edit(lambda draft: draft.discard_category(category), by)[0]

    def relocate(self, sources: dict[int, str], by: By = None) -> Recorded:
        """The files of images are elsewhere, by number; `relocate.find` finds them."""
        return self.edit(lambda draft: draft.relocate(sources), by)[0]

    def change_radius(self, radius: int | float, by: By = None) -> Recorded:
        """Set how far categories reach, for the images to come."""
        return self.edit(lambda draft: draft.change_radius(radius), by)[0]

    def undo(self, *events: int, followers: bool = False, by: By = None) -> Recorded:
        """Take back events, each with its whole command, or the last edit. Refused where later ones depend on one.

        With `followers` those are taken back too.
        """
        return self.edit(lambda draft: draft.undo(*events, followers=followers), by)[0]

    def redo(self, event: int | None = None, by: By = None) -> Recorded:
        """Bring back what was taken back."""
        return self.edit(lambda draft: draft.redo(event), by)[0]
