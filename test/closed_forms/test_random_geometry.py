"""Closed forms on random geometry: the same answers as Newton, or an honest fallback."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.random_robots import RandomRobot, random_robot

import closed_loop_dynamics as cld

COUNT = 1000
#: Ingredient of the generator -> words of the report, None where there is no closed form (yet).
LEGS = {
    "four_bar": "planar dyad",
    "overconstrained_four_bar": "planar dyad",
    "parallelogram": "planar dyad",
    "lambda_rrpr": "planar stroke",
    "platform_2spu_1u": "pointing leg",
    "ankle_2sprr_1u": "pointing leg+locked hinge",
    "rssr": "crank leg",
}
CASES = [(kind, seed) for kind in LEGS for seed in (101, 102)]


@cache
def robots(kind: str, seed: int) -> tuple[RandomRobot, cld.Robot, cld.Robot]:
    drawn = random_robot(seed, floating=False, loops=(kind,))
    return (
        drawn,
        cld.load(drawn.urdf, drawn.yaml),
        cld.load(drawn.urdf, drawn.yaml, solver="numerical"),
    )


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_closed_form_equals_newton(kind: str, seed: int) -> None:
    _, analytical, numerical = robots(kind, seed)
    rng = np.random.default_rng(seed)
    y = numerical.random_independent(rng, COUNT)
    yd = rng.normal(size=(COUNT, numerical.m))
    a, b = analytical.state(y), numerical.state(y)
    assert np.max(np.abs(a.q - b.q)) <= 1e-9
    assert np.max(a.residual) <= 1e-12
    assert np.max(np.abs(analytical.loop_jacobian(y) - numerical.loop_jacobian(y))) <= 1e-8
    g = numerical.loop_bias(y, yd)
    difference = np.max(np.abs(analytical.loop_bias(y, yd) - g))
    assert difference <= 1e-7 * max(1.0, np.max(np.abs(g)))


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_the_leg_is_recognised(kind: str, seed: int) -> None:
    _, analytical, _ = robots(kind, seed)
    (loop,) = [s for s in analytical.report().submechanisms if s.rows]
    assert loop.solver == "analytical"
    assert LEGS[kind] in loop.why


@pytest.mark.parametrize(("kind", "seed"), CASES)
def test_actuators_lead_back(kind: str, seed: int) -> None:
    _, analytical, _ = robots(kind, seed)
    rng = np.random.default_rng(seed + 1)
    for y in analytical.random_independent(rng, 50):
        u = analytical.state(y).u
        found = analytical.independent_from_actuator(u, guess=y)
        np.testing.assert_allclose(analytical.state(found).u, u, atol=1e-9)


def test_solver_analytical_without_a_closed_form_says_what_does_not_fit() -> None:
    drawn = random_robot(103, floating=False, loops=("spatial_slider",))
    with pytest.raises(cld.SubmechanismError, match="no closed form"):
        cld.load(drawn.urdf, drawn.yaml, solver="analytical")
    robot = cld.load(drawn.urdf, drawn.yaml)
    assert "numerical" in {s.solver for s in robot.report().submechanisms}


def test_unknown_solver_is_refused_with_the_valid_words() -> None:
    with pytest.raises(cld.InvalidInput, match="numerical"):
        cld.load("urdf/crank_leg.urdf", "config/crank_leg.yaml", solver="numeric")
