"""The command: writes what is out of date, or names it and fails."""

from __future__ import annotations

import argparse
import sys

from tools.docs.catalogue import GENERATED, ROOT, current, fresh


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tools.docs", description="Write the generated parts of the docs.")
    parser.add_argument("--check", action="store_true", help="change nothing; fail if something is out of date")
    check = parser.parse_args().check
    late = {name: content for name in GENERATED if (content := fresh(name)) != current(name)}
    for name, content in late.items():
        print(f"{'out of date' if check else 'written'}: {name}")
        if not check:
            _write(name, content)
    if check and late:
        sys.exit("write them with: uv run --all-extras python -m tools.docs")


def _write(name: str, content: str) -> None:
    path = ROOT / name
    if content:
        path.write_text(content, encoding="utf-8")
    else:
        path.unlink()


if __name__ == "__main__":
    main()
