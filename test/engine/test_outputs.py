"""Named outputs: what is packed by name comes back by name, in its shape, without copies."""

from __future__ import annotations

import casadi as ca
import numpy as np
import pytest

from closed_loop_dynamics.engine.outputs import Outputs

OUTPUTS = Outputs({"q": (3,), "residual": (), "K": (2, 3), "R": (2, 2, 2)})
VALUES = {
    "q": np.array([1.0, 2.0, 3.0]),
    "residual": np.array(4.0),
    "K": np.arange(5.0, 11.0).reshape(2, 3),
    "R": np.arange(11.0, 19.0).reshape(2, 2, 2),
}


def packed() -> np.ndarray:
    traced = {
        "R": ca.SX(VALUES["R"].reshape(4, 2)),  # the order of an equation does not count
        "K": ca.SX(VALUES["K"]),
        "q": ca.SX(VALUES["q"]),
        "residual": ca.SX(4.0),
    }
    return np.array(ca.DM(ca.vertcat(*OUTPUTS.pack(traced)))).ravel()


def test_rows_of_each_output_follow_in_the_declared_order() -> None:
    np.testing.assert_array_equal(packed(), np.arange(1.0, 19.0))
    assert OUTPUTS.size == 18


def test_views_have_names_and_shapes_and_are_no_copies() -> None:
    flat = packed()
    views = OUTPUTS.views(flat)
    assert list(views) == list(VALUES) and isinstance(views["residual"], float)
    for name, value in VALUES.items():
        np.testing.assert_array_equal(views[name], value)
    views["K"][1, 2] = -1.0
    assert flat[9] == -1.0


@pytest.mark.parametrize("count", [0, 1, 4])
def test_a_batch_keeps_its_leading_axis(count: int) -> None:
    flat = np.tile(packed(), (count, 1))
    views = OUTPUTS.views(flat)
    for name, value in VALUES.items():
        np.testing.assert_array_equal(views[name], np.tile(value, (count, *[1] * value.ndim)))
        assert np.shares_memory(views[name], flat) or not count


def test_one_output_is_the_vector_itself_or_its_shape() -> None:
    flat = np.arange(6.0)
    assert Outputs({"ydd": (6,)}).only(flat) is flat
    assert Outputs({"M": (2, 3)}).only(flat).shape == (2, 3)
    assert Outputs({"M": (2, 3)}).only(np.zeros((5, 6))).shape == (5, 2, 3)
    with pytest.raises(ValueError, match="several outputs: q, residual"):
        OUTPUTS.only(packed())


@pytest.mark.parametrize("traced", [{"q": ca.SX(3, 1)}, {"p": ca.SX(2, 1)}, {}])
def test_what_was_not_declared_is_refused(traced: dict[str, ca.SX]) -> None:
    with pytest.raises(ValueError, match="declared"):
        Outputs({"q": (2,)}).pack(traced)
