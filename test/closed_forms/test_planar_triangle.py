"""1-RRPR in actuator coordinates: two hinges in closed form from the slider's length."""

from __future__ import annotations

import numpy as np
import pytest

import closed_loop_dynamics as cld
from tools.robots import heavy_duty_arm, heavy_duty_loop


def swapped(text: str) -> str:
    """The same cut, seen from its other side."""
    text = text.replace("predecessor_body", "@@").replace("successor_body", "predecessor_body")
    return text.replace("@@", "successor_body")


@pytest.mark.parametrize("other_side", [False, True], ids=["from the rod", "from the arm"])
def test_closed_form_agrees_with_newton_at_speed(other_side: bool) -> None:
    urdf, text = heavy_duty_arm.generate()
    text = swapped(text) if other_side else text
    closed = cld.load(urdf, text, solver="analytical")
    newton = cld.load(urdf, text, solver="numerical")
    assert not closed.mechanism.numerical and len(newton.mechanism.numerical) == 2
    rng = np.random.default_rng(3)
    y = closed.random_independent(rng, 100)
    yd, ydd = rng.normal(size=(2, *y.shape))
    first, second = (robot.state(y, yd, ydd) for robot in (closed, newton))
    np.testing.assert_allclose(first.q, second.q, atol=1e-12)
    np.testing.assert_allclose(first.qd, second.qd, atol=1e-11)
    np.testing.assert_allclose(first.qdd, second.qdd, atol=1e-10)
    assert np.max(first.residual) < 1e-13


def test_leg_is_recognised_and_named() -> None:
    report = str(cld.load(*heavy_duty_loop.generate()).report())
    assert "analytical (closed form by legs: planar triangle)" in report


@pytest.mark.parametrize("stroke", [0.9, -0.45])
def test_lengths_that_close_no_triangle_are_refused(stroke: float) -> None:
    geometry = heavy_duty_loop.LIFT
    X = geometry.x0 + stroke
    assert X > geometry.L + geometry.L1 or X < geometry.L - geometry.L1
    with pytest.raises(cld.ClosureNotFound):
        cld.load(*heavy_duty_loop.generate()).state([stroke])
