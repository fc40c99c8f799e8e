"""The package lies two folders up in a clone, and beside this file in an sdist, which is whole by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE, LEGAL = Path("src", "firstsight"), ("LICENSE", "NOTICE")


class OneSource(BuildHookInterface):
    """Takes the package from where it is; in an sdist it is kept where a build from that looks for it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        tree = next(folder for folder in (root, root.parents[1]) if (folder / PACKAGE).is_dir())
        if self.target_name != "sdist":
            build_data["force_include"][str(tree / PACKAGE)] = PACKAGE.name
            return
        for part in (PACKAGE, *LEGAL):  # a wheel takes the licence from where its sdist has it
            build_data["force_include"][str(tree / part)] = str(part)
