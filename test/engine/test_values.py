"""Values stand for what is not known yet: Python must not decide by them."""

from __future__ import annotations

import pytest

from closed_loop_dynamics.engine.llvm_ir import LlvmModule
from closed_loop_dynamics.engine.values import Block


def test_a_value_is_neither_true_nor_false() -> None:
    (block,) = LlvmModule().function("f", {"in": Block}).arguments
    with pytest.raises(TypeError, match="while it is written"):
        assert block[0] < block[1]
    with pytest.raises(TypeError, match="while it is written"):
        min(block[0], block[1])


def test_a_block_has_no_end() -> None:
    (block,) = LlvmModule().function("f", {"in": Block}).arguments
    with pytest.raises(TypeError, match="not iterable"):
        list(block)
