"""The commands of the docs: found wherever they stand, and made small enough to be run by a test.

Flags are kept as they are documented; only sizes, and words that stand for something of the reader's, are replaced.
"""

from __future__ import annotations

import ast
import re
import shlex
from pathlib import Path

from postgres import shared

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SCRIPTS = sorted(path for folder in ("benchmarks", "reproductions") for path in (ROOT / folder).glob("*.py"))

INSTALLING = (
    "pip install .", "pip install uv", "uv sync --all-extras", "uv sync --extra lite2", "export PYTHONPATH=.",
    "source .venv/bin/activate",
)  # fmt: skip
SERVER = "postgresql://ann@db/field"
CHECKING = ("pytest", "ruff", "mypy", "lint-imports")  # what .ci/run does

# how much there is to do, by the word before it
SIZES = {
    "--seeds": "1", "--orders": "2", "--epochs": "1", "--cache-trunk": "1", "--views": "2", "--jobs": "1",
    "--device": "cpu", "--scenes": "1", "--stream": "40", "--side": "64", "--fits": "1", "--processes": "1",
    "--clicks": "5", "tests/store/crash.py": "2", "--clients": "4", "--rounds": "1",
}  # fmt: skip
LISTS = {"--images", "--categories"}  # as many values as documented, each small
# what a synopsis leaves to the reader
READERS = {
    "DIR": "birds/train", "MODEL": "birds.model", "IMAGES": "birds/new", "IMAGE": "photo.jpg", "IMAGE2": "other.jpg",
    "FILE.html": "page.html", "FILE.db": "birds.db", "OUT.tar": "packed.tar", "NAME": "dmax", "FILE": "figures.json",
    "OWNER/NAME": "ann/birds", "EVENTS": "200", "KNOWN_IMAGE": "photo.jpg", "NEW_IMAGE": "other.jpg",
    "backbone=efficientnet-lite2 cache_trunk=16": "backbone=efficientnet-lite2 cache_trunk=1 epochs=1",
}  # fmt: skip
READERS_FLAGS = {
    "--data": "cub", "--root": "cub.tar", "--out": "made", "--backbone": "efficientnet-lite2", "--device": "cpu",
}  # fmt: skip
# commands that say no size: theirs is a constant, or a default
TOO_LARGE = {
    "firstsight benchmark": (("--seeds", "1"), ("--orders", "2")),
    "firstsight reproduce": (("--seeds", "1"), ("--orders", "2")),
    "python benchmarks/answering.py": (("--images", "24"), ("--seconds", "0.01")),
    "python benchmarks/bulk.py": (("--images", "4"), ("--part", "2"), ("--rounds", "1"), ("--workers", "1")),
    "python benchmarks/calibrating.py": (("--categories", "4"), ("--images", "4"), ("--width", "16")),
    "python benchmarks/cores.py": (("--images", "2"), ("--methods", "phe"), ("--jobs", "1")),
    "python benchmarks/deciding.py": (("--categories", "10,20"), ("--images", "5")),
    "python benchmarks/index.py": (("--categories", "10,20"), ("--images", "5"), ("--full", "2")),
    "python benchmarks/map.py": (("--images", "60"), ("--categories", "6")),
    "python benchmarks/runtime.py": (("--images", "4"), ("--rounds", "1"), ("--image-size", "64")),
    "python benchmarks/service.py": (("--images", "12"), ("--rounds", "1")),
    "python benchmarks/stages.py": (("--images", "4"),),
    "python benchmarks/store.py": (("--images", "200"),),
    "python reproductions/embeddings.py": (("--orders", "1"), ("--images", "12"), ("--sets", "digits")),
    "python reproductions/phe_small.py": (
        ("--taught", "10"),
        ("--seeds", "1"),
        ("--epochs", "1"),
        ("--cache-trunk", "1"),
    ),
    "python reproductions/sharding.py": (("--categories", "40"), ("--images", "20"), ("--shards", "2")),
    "python reproductions/tune.py": (("--folds", "1"), ("--common", "epochs=1 hash_hidden=64")),
}


FENCED = re.compile(r"^```(\w*)\n(.*?)^```", flags=re.DOTALL | re.MULTILINE)


def blocks(page: Path, *languages: str) -> list[str]:
    return [block for language, block in FENCED.findall(page.read_text()) if language in languages]


def in_turn(path: Path) -> list[str]:
    """The commands of a page's shell blocks: a reader types them one after the other."""
    return [command for block in blocks(path, "sh") for command in commands(block)]


def commands(block: str) -> list[str]:
    """The commands of one block."""
    lines = [line for line in block.splitlines() if line.strip()]
    return [plain(part) for line in lines for part in re.sub(r"\s#.*", "", line).split(" && ")]


def by_themselves(path: Path) -> list[str]:
    """Commands in running text, in other blocks, and in what a script says of itself: each stands alone."""
    text = path.read_text()
    if path.suffix == ".py":
        said = (ast.get_docstring(ast.parse(text)) or "").splitlines()
    else:
        shown = [line for block in blocks(path, "", "text") for line in block.splitlines()]
        said = [*shown, *re.findall(r"`([^`\n]+)`", FENCED.sub("", text))]
    return [plain(each) for each in said if _runs(each)]


def _runs(text: str) -> bool:
    return re.match(r"(firstsight|python) [^-]", plain(text)) is not None


def plain(command: str) -> str:
    """Without what is said only to find the program."""
    command = re.sub(r"^(\$ )?(\w+=\S+ )*(uv run (--extra \S+ |--all-extras )*)?", "", command.strip())
    return re.sub(r"^python -m firstsight\b", "firstsight", command)


def is_only_named(command: str) -> bool:
    """`firstsight explain` in running text is the name of a command, not one that somebody would type."""
    program, *rest = command.split()
    alone = ("demo", "methods", "doctor", "reproduce")
    return program == "firstsight" and not [word for word in rest[1:] if word[0] not in "-["] and rest[0] not in alone


def small(command: str) -> list[str]:
    """The words of a command with every flag it has, its sizes small, its gaps filled in, its choices made."""
    command = re.sub(r"\s*\|[^\]]*\]", "]", command)  # of two ways in brackets, the first
    words = [word.removesuffix("...") for word in shlex.split(command.replace("[", "").replace("]", ""))]
    words = [re.sub(r",$", "", word) for word in words if word]
    filled = [_filled(flag, word) for flag, word in zip(["", *words], words, strict=False)]
    more = [arguments for arguments in TOO_LARGE.get(" ".join(filled[:2]), ()) if arguments[0] not in filled]
    return [*filled, *(word for arguments in more for word in arguments)]


def on_server(words: list[str], home: Path) -> list[str]:
    """With a server of the tests' own where the docs speak of the reader's, and folders that are there."""
    if not any(SERVER in word for word in words):
        return words
    own = shared().address("").removesuffix("&register=")
    return [word.replace(f"{SERVER}?", f"{own}&").replace("=/shared", f"={home}/shared") for word in words]


def _filled(flag: str, word: str) -> str:
    if flag in READERS_FLAGS and word.isupper():
        return READERS_FLAGS[flag]
    word = READERS.get(word, word)
    if flag in LISTS:
        return ",".join(str(12 * (i + 1)) for i, _ in enumerate(word.split(",")))
    return SIZES.get(flag, word)
