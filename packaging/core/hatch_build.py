"""The package lies two folders up in a clone, and beside this file in an sdist, which is whole by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGE = Path("src", "firstsight")


class OneSource(BuildHookInterface):
    """Takes the package from where it is; in an sdist it is kept where a build from that looks for it."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        source = next(folder / PACKAGE for folder in (root, root.parents[1]) if (folder / PACKAGE).is_dir())
        build_data["force_include"][str(source)] = str(PACKAGE if self.target_name == "sdist" else PACKAGE.name)
