"""torch's compiler, loaded when something is compiled and not before: it takes as long to load as all of torch.

timm and torchvision load it when they are imported, for a decorator and for one function that nothing here calls.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

import torch

HOME = "torch._dynamo.utils"


@contextmanager
def compiler_when_called() -> Iterator[None]:
    """Import timm in this context: what it and torchvision take from the compiler loads it only when called."""
    if HOME in sys.modules:
        yield
        return
    stand_in = ModuleType(HOME)
    stand_in.__dict__.update(is_compile_supported=_is_compile_supported, __getattr__=_more)
    disable = torch.compiler.disable
    sys.modules[HOME], torch.compiler.disable = stand_in, _disable
    try:
        yield
    finally:
        torch.compiler.disable = disable
        if sys.modules.get(HOME) is stand_in:
            del sys.modules[HOME]


def _is_compile_supported(device: str) -> Any:
    return import_module(HOME).is_compile_supported(device)


def _disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """torch's own decorator for its optimisers: like the public one, but it loads the compiler with the first call."""
    return torch._disable_dynamo(fn, recursive)  # type: ignore[attr-defined]


def _more(name: str) -> Any:
    """Whoever takes anything else from that module gets it, and the compiler with it."""
    if name.startswith("__"):
        raise AttributeError(name)
    sys.modules.pop(HOME, None)
    return getattr(import_module(HOME), name)
