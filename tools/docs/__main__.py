"""The command: writes what is out of date, or names it and fails."""

from __future__ import annotations

import argparse
import sys

from tools.docs.catalogue import FIGURES, GENERATED, ROOT, current, fresh


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description="Write the generated parts of the docs.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something is out of date")
    parser.add_argument("--figures", action="store_true", help="draw the figures anew as well")
    chosen = parser.parse_args()
    late = {name: content for name in GENERATED if (content := fresh(name)) != current(name)}
    for name, content in late.items():
        print(f"{'out of date' if chosen.check else 'written'}: {name}")
        if not chosen.check:
            (ROOT / name).write_text(content, encoding="utf-8")
    for name, draw in FIGURES.items() if chosen.figures and not chosen.check else ():
        (ROOT / name).write_bytes(draw())
    if chosen.check and late:
        sys.exit("write them with: uv run --all-extras python -m tools.docs")


if __name__ == "__main__":
    main()
