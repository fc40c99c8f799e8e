"""Models on the hub: `owner/name`, or `owner/name@revision`, wherever a model folder is taken.

What comes from there is safetensors and JSON by our own names, and is checked as any model folder is: a stranger's
files run nothing. A folder here always wins over the hub.
"""

from __future__ import annotations

import logging
import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from firstsight.core.errors import ModelError

log = logging.getLogger(__name__)
PATIENCE = 10.0  # seconds for one answer
SUFFIXES = (".safetensors", ".json")
_PART = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9])?"  # as the hub names owners and repositories
_NAME = re.compile(rf"({_PART}/{_PART})(?:@([A-Za-z0-9][A-Za-z0-9._/-]{{0,250}}))?")
_COMMIT = re.compile("[0-9a-f]{40}")
SIGN_IN = "sign in with `hf auth login`, or set HF_TOKEN"


class HubName(NamedTuple):
    """A repository, and a branch, tag or commit of it where one is named.

    >>> HubName.of("ann/moths@v2"), HubName.of("moths.model")
    (HubName(repository='ann/moths', revision='v2'), None)
    """

    repository: str
    revision: str | None = None

    @classmethod
    def of(cls, text: str) -> HubName | None:
        """What was typed, where it can be a name on the hub."""
        found = _NAME.fullmatch(text)
        return None if found is None or ".." in text or "--" in text.partition("@")[0] else cls(*found.groups())

    def __str__(self) -> str:
        return self.repository if self.revision is None else f"{self.repository}@{self.revision}"


class Found(NamedTuple):
    """Where a model lies, and its name with the commit where it came from the hub."""

    path: Path
    origin: str = ""


def find(model: Path | str, names: tuple[str, ...]) -> Found:
    """The folder that is meant: the one here, or the hub's, of which only files of these names are fetched."""
    path = Path(model)
    wanted = HubName.of(path.as_posix())
    if wanted is None or path.exists():
        if wanted is not None and _cache(wanted).is_dir():
            log.warning("%s is the folder here; the hub has one of that name too: %s@main", wanted, wanted.repository)
        return Found(path)
    if wanted.revision is None and path.parent.is_dir():
        raise ModelError(
            f"{path}: there is no model folder",
            f"make one with: firstsight fit FOLDER --out MODEL; a model on the hub would be {wanted}@main",
        )
    folder = _fetched(wanted, [name for name in names if name.endswith(SUFFIXES)])
    return Found(folder, f"{wanted.repository}@{folder.name}")


def _fetched(wanted: HubName, names: list[str]) -> Path:
    """The folder of one commit, downloaded where it is not here yet. It is called by the commit."""
    client = library()
    fixed = wanted.revision is not None and _COMMIT.fullmatch(wanted.revision)  # which never changes
    if fixed and (here := _cached(client, wanted, names)) is not None:
        return here
    try:
        with telling(wanted):
            about = client.HfApi().model_info(wanted.repository, revision=wanted.revision, timeout=PATIENCE)
            there = {each.rfilename for each in about.siblings or []}
            _check_is_ours(wanted, there)
            log.info("fetching %s at commit %s", wanted, about.sha)
            with quietly():
                folder = client.snapshot_download(
                    wanted.repository, revision=wanted.revision, allow_patterns=names, etag_timeout=PATIENCE
                )
    except Unanswered as error:
        if (here := _cached(client, wanted, names)) is None:
            raise
        log.warning("%s; going on with the copy that is here, commit %s", error.what, here.name)
        return here
    return Path(folder)


def _check_is_ours(wanted: HubName, there: set[str]) -> None:
    """Before anything large is fetched."""
    if missing := [name for name in ("config.json", "checksums.json", "decision.safetensors") if name not in there]:
        raise ModelError(
            f"{wanted} on the hub is no Firstsight model: it has no {missing[0]}",
            "name a repository that `firstsight push` made",
        )


def _cached(client: Any, wanted: HubName, names: list[str]) -> Path | None:
    """The copy of that revision that was fetched before, if it is whole."""
    try:
        folder = client.snapshot_download(
            wanted.repository, revision=wanted.revision, allow_patterns=names, local_files_only=True
        )
    except Exception:  # its client has several kinds of "not here", by version
        return None
    return Path(folder) if (Path(folder) / "checksums.json").is_file() else None


def _cache(wanted: HubName) -> Path:
    """Where copies of a repository lie, without loading the hub's client."""
    home = os.environ.get("HF_HOME") or Path(os.environ.get("XDG_CACHE_HOME", "~/.cache")) / "huggingface"
    cache = Path(os.environ.get("HF_HUB_CACHE") or Path(home) / "hub").expanduser()
    return cache / f"models--{wanted.repository.replace('/', '--')}"


def library() -> Any:
    """The hub's client, or an error that says how to get it."""
    try:
        import huggingface_hub.errors
    except ModuleNotFoundError as error:
        raise ModelError(
            f"models on the hub need {error.name}, which is not installed", "pip install huggingface-hub"
        ) from None
    return huggingface_hub


class Unanswered(ModelError):
    """The hub could not be asked, or is out of order."""


@contextmanager
def telling(name: HubName) -> Iterator[None]:
    """Turn what the hub's client raises into errors for people."""
    errors = library().errors
    try:
        yield
    except errors.GatedRepoError:
        raise ModelError(
            f"{name} on the hub asks to accept its terms first",
            f"open its page there, accept them, and {SIGN_IN}",
        ) from None
    except errors.RevisionNotFoundError:
        raise ModelError(
            f"{name.repository} on the hub has no revision {name.revision!r}", "name a branch, a tag or a commit of it"
        ) from None
    except errors.RepositoryNotFoundError:
        raise ModelError(
            f"{name}: there is no such folder here, and no such model on the hub, or it is private",
            f"check the name; if it is private, {SIGN_IN}",
        ) from None
    except errors.HfHubHTTPError as error:
        raise _refused(name, error) from None
    except errors.HFValidationError as error:
        raise ModelError(f"{name} is no name on the hub: {_first_line(error)}") from None
    except ModelError:
        raise
    except Exception as error:  # its clients raise many kinds, by version
        raise Unanswered(
            f"{name}: there is no such folder here, and the hub cannot be reached: {_first_line(error)}",
            "check the network, and whether HF_HUB_OFFLINE is set; a model that was fetched once works without one, "
            "and so does a folder copied from another machine",
        ) from None


def _refused(name: HubName, error: Any) -> ModelError:
    """What an answer other than success means."""
    status = error.response.status_code
    if status == 401:
        given = library().get_token() is not None
        why = "refuses the token it was given" if given else "asks who you are"
        return ModelError(f"the hub {why}, asked about {name}", SIGN_IN)
    if status == 403:
        return ModelError(f"the hub does not let you do that with {name}", f"use a token that may: {SIGN_IN}")
    if status >= 500 or status == 429:
        return Unanswered(f"{name}: the hub answered with error {status}", "try again later")
    return ModelError(f"{name}: the hub refused: {error.server_message or _first_line(error)}")


def _first_line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]


@contextmanager
def quietly() -> Iterator[None]:
    """The client's bars are for terminals only."""
    from huggingface_hub.utils.tqdm import are_progress_bars_disabled, disable_progress_bars, enable_progress_bars

    if sys.stderr.isatty() or are_progress_bars_disabled():
        yield
        return
    disable_progress_bars()
    try:
        yield
    finally:
        enable_progress_bars()
