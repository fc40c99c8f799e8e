"""torch's compiler is not loaded before something is compiled, and is whole when it is."""

from __future__ import annotations

import subprocess
import sys

import pytest
import torch

from firstsight.encode import compiler
from firstsight.encode.compiler import compiler_when_called

SCRIPT = """
import sys
import firstsight.train.fit
import firstsight.evidence.explain
assert "torch._dynamo" not in sys.modules, "the compiler was loaded"
import torch, torchvision
assert torchvision.ops.roi_align(torch.ones(1, 1, 8, 8), torch.tensor([[0, 0, 0, 4.0, 4]]), 2).sum() == 4
assert torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)).tolist() == [2, 2]
assert "torch._dynamo" in sys.modules
assert torch.compiler.disable.__module__ == "torch.compiler"
"""


@pytest.mark.slow
def test_fitting_and_explaining_are_imported_without_it() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_everything_is_as_it_was_afterwards(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, compiler.HOME, raising=False)
    disable = torch.compiler.disable
    with compiler_when_called():
        assert compiler.HOME in sys.modules
        assert torch.compiler.disable is not disable
    assert compiler.HOME not in sys.modules
    assert torch.compiler.disable is disable
