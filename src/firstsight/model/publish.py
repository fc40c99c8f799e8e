"""Publishing a model folder on the hub: safetensors, JSON and a card, in one commit."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from firstsight.core.errors import ModelError, SettingsError
from firstsight.model.examples import Examples
from firstsight.model.folder import CHECKSUMS, EXAMPLES, checked_files
from firstsight.model.hub import PATIENCE, SUFFIXES, HubName, library, quietly, telling
from firstsight.model.hub_card import hub_card, licence_of

CARD, ENCODER = "README.md", "encoder.safetensors"


@dataclass(frozen=True)
class Pushed:
    """What is on the hub now."""

    repository: str
    commit: str
    address: str
    files: tuple[str, ...]
    bytes: int
    licence: str
    thumbnails: int  # small copies of support images among it


def push(
    folder: Path,
    name: str,
    *,
    private: bool = False,
    licence: str | None = None,
    evaluation: Mapping[str, Any] | None = None,
    thumbnails: bool = True,
    message: str = "",
) -> Pushed:
    """Make the repository where there is none, and put the model there, card and all; or nothing.

    `evaluation` is what `firstsight evaluate --json` wrote, for the card. Without `thumbnails`, the small copies of
    support images stay here.
    """
    wanted = HubName.of(name)
    if wanted is None or wanted.revision is not None:
        raise SettingsError(f"{name!r} is no name on the hub", "give it as owner/name")
    config, contents = _contents(folder, thumbnails)
    licence = licence or licence_of(config.get("licence"))
    card = (folder / CARD).read_text() if (folder / CARD).is_file() else f"# {wanted.repository}\n"
    contents[CARD] = hub_card(wanted.repository, card, licence, ENCODER in contents, evaluation).encode()
    client = library()
    with telling(wanted), quietly():
        api = client.HfApi()
        repository = str(api.create_repo(wanted.repository, private=private, exist_ok=True).repo_id)
        there = {each.rfilename for each in api.model_info(repository, timeout=PATIENCE).siblings or []}
        stale = {EXAMPLES, ENCODER} & there - contents.keys()
        operations = [client.CommitOperationAdd(file, content) for file, content in contents.items()]
        operations += [client.CommitOperationDelete(file) for file in sorted(stale)]
        made = api.create_commit(repository, operations, commit_message=message or "Firstsight model")
    return Pushed(
        repository=repository,
        commit=str(made.oid),
        address=f"{api.endpoint}/{repository}",
        files=tuple(contents),
        bytes=sum(map(len, contents.values())),
        licence=licence,
        thumbnails=_pictures(contents.get(EXAMPLES)),
    )


def _contents(folder: Path, thumbnails: bool) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What a folder says of itself, and its files as they are to lie on the hub.

    Other forms of the encoder stay here: whoever fetches the model makes them of its weights.
    """
    config, names = checked_files(folder)
    contents = {name: (folder / name).read_bytes() for name in names if name.endswith(SUFFIXES)}
    if len(contents) < len(names) and ENCODER not in contents:
        raise ModelError(
            f"{folder} has no {ENCODER}, and the hub takes safetensors and JSON only",
            "push the model it was exported from, as fit wrote it",
        )
    if not thumbnails and EXAMPLES in contents:
        contents[EXAMPLES] = replace(Examples.of_bytes(contents[EXAMPLES]), pictures=None).to_bytes()
    del contents[CHECKSUMS]
    sums = {name: sha256(content).hexdigest() for name, content in contents.items()}
    return config, {**contents, CHECKSUMS: (json.dumps(sums, indent=2) + "\n").encode()}


def _pictures(examples: bytes | None) -> int:
    return 0 if examples is None else len(Examples.of_bytes(examples).pictures or ())
