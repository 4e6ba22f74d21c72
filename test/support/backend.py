"""For tests that look at programs and not at their speed."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module")
def traced_only() -> Iterator[None]:
    """Programs run on CasADi's virtual machine: right numbers without compiling."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CLOSED_LOOP_DYNAMICS_BACKEND", "vm")
        yield
