"""What to do about an error, in commands: the layers below know what is wrong, not what a person can type."""

from __future__ import annotations

from firstsight.core.errors import FirstsightError, StoreError

REMEDIES = {
    "list": "see them with: list",
    "show": "their numbers are shown by: show CATEGORY",
    "history": "history shows what is undone, and its number",
    "promote": "give it one: promote {id} --name NAME",
    "followers": "undo those first, the last one first; or take them back too: undo {number} --with-followers",
    "founder": "keep the others and drop this image alone: discard {image}; "
    "or take them back too: undo {number} --with-followers",
    "relocate": "put the files back where they were, or say where they are: relocate FOLDER",
    "redo": "bring it back with: redo {number}",
    "make": "make one with: firstsight discover --register",
    "wait": "wait for it to end, or for a while: firstsight categories --wait SECONDS FILE.db ..., "
    "firstsight discover ... --wait SECONDS; reading is possible meanwhile",
    "model": "use that model, or encode its images anew: firstsight categories {log} reencode MODEL NEW.db",
    "release": "use the release that wrote it, or encode its images anew: "
    "firstsight categories {log} reencode MODEL NEW.db",
    "unsure": "methods firstsight and dp-boa can; pairs of categories to look at are named by: suggest",
    "trust": "if you know that module, say so with --trust",
    "damaged": "restore it from a backup; what is left of it has not been touched, and "
    "firstsight categories {log} verify says where the damage is",
}


def remedy(error: FirstsightError) -> str:
    """The remedy an error brings, or the one its hint stands for."""
    if isinstance(error, StoreError) and error.hint in REMEDIES:
        return REMEDIES[error.hint].format(**error.facts)
    return error.remedy
