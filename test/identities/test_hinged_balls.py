"""Balls in loops, as three hinges: right where the loop closes, refused where the hinges lock."""

from __future__ import annotations

import numpy as np
import pytest
from support.mjcf import bar, robot

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import ClosureNotFound

ABOUT_Y = '<joint name="{name}" axis="0 1 0"/>'
BALL = '<joint name="{name}" type="ball"/>'
HINGES = "".join(
    f'<joint name="{{name}}_{x}" axis="{axis}"/>'
    for x, axis in zip("XYZ", ("1 0 0", "0 1 0", "0 0 1"), strict=True)
)


def crank_and_rocker(coupler: str) -> str:
    """In the plane of x and z; the crank turns all the way, the rod is pinned to the rocker."""
    rod = bar("rod", 0.5, "0.2 0 0", "", coupler.format(name="ball"))
    rocker = bar("rocker", 0.5, "0.4 0 -0.5", "", ABOUT_Y.format(name="swing"))
    pins = (f'<connect body1="rod" body2="rocker" anchor="0.5 {y} 0"/>' for y in (0.1, -0.1))
    crank = bar("crank", 0.2, "0 0 0", rod, ABOUT_Y.format(name="crank"))
    return robot(crank + rocker, "".join(pins), '<motor joint="crank"/>')


def swing(loaded: cld.Robot, angle: float) -> float:
    return float(loaded.state([angle]).q[loaded.names.spanning.index("swing")])


@pytest.fixture(scope="module")
def truth() -> cld.Robot:
    return cld.load(crank_and_rocker(ABOUT_Y), prepare=())


def test_the_middle_hinge_of_a_ball_stays_at_rest_in_a_planar_loop(truth: cld.Robot) -> None:
    loaded = cld.load(crank_and_rocker(BALL), prepare=())
    hinges = [name for name in loaded.names.spanning if name.startswith("ball")]
    assert hinges == ["ball_Y", "ball_X", "ball_Z"]
    for angle in np.linspace(-3.1, 3.1, 25):  # all the way round: the ball turns as much
        assert swing(loaded, angle) == pytest.approx(swing(truth, angle), abs=1e-9)
        motion = loaded.state([angle], [1.3], [-0.7])
        expected = truth.generalized_forces([angle], [1.3], [-0.7])
        assert loaded.generalized_forces([angle], [1.3], [-0.7]) == pytest.approx(expected)
        assert motion.residual <= 1e-9


def test_hinges_that_lock_are_never_silently_wrong(truth: cld.Robot) -> None:
    loaded = cld.load(crank_and_rocker(HINGES), prepare=(), solver="numerical")
    refused = []
    for angle in np.linspace(-3.1, 3.1, 63):
        try:
            found = swing(loaded, angle)
        except ClosureNotFound as error:
            assert "meets a singularity" in str(error)
            refused.append(angle)
        else:
            assert found == pytest.approx(swing(truth, angle), abs=1e-8)
    assert refused and min(map(abs, refused)) > 1.0  # about a quarter turn away
