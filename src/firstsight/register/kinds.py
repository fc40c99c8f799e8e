"""Every kind of register there is, by the name a file gives it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from firstsight.core.errors import StoreError
from firstsight.core.protocols import Register
from firstsight.register.codes import CodeRegister
from firstsight.register.features import FeatureRegister
from firstsight.register.niw import NiwRegister
from firstsight.register.prototypes import GatedRegister, LeaderRegister, PrototypeRegister
from firstsight.register.statistics import StatisticsRegister
from firstsight.register.windows import WindowRegister

KINDS: dict[str, Any] = {
    kind.kind: kind
    for kind in (
        CodeRegister,
        FeatureRegister,
        StatisticsRegister,
        NiwRegister,
        PrototypeRegister,
        GatedRegister,
        LeaderRegister,
        WindowRegister,
    )
}


def is_confident(header: Mapping[str, Any]) -> bool:
    """Whether the register a header describes can tell how probable its answers are."""
    return bool(KINDS[header["kind"]].confident)


def of_header(header: Mapping[str, Any]) -> Register:
    """The register a header describes, holding its known categories."""
    kind = header["kind"]
    if kind not in KINDS:
        raise StoreError(f"its register is of kind {kind!r}; this release has {', '.join(KINDS)}", "upgrade Firstsight")
    register: Register = KINDS[kind].of(header)
    return register
