"""The spelling of LLVM IR."""

from __future__ import annotations

import numpy as np
import pytest

from closed_loop_dynamics.engine.llvm_ir import LlvmModule, literal
from closed_loop_dynamics.engine.values import Block


@pytest.mark.parametrize("value", [0.0, -0.0, 1.0, -1 / 3, 5e-324, 1.7976931348623157e308])
def test_literals_are_exact(value: float) -> None:
    text = literal(value)
    assert np.array([int(text, 16)], dtype=np.uint64).view(float)[0].hex() == value.hex()


def test_an_operation_without_a_spelling_is_refused() -> None:
    f = LlvmModule().function("f", {"in": Block})
    with pytest.raises(NotImplementedError, match="'erf'"):
        f.arguments[0][0].apply("erf")
