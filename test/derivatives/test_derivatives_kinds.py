"""Derivatives where robots differ: trees as Pinocchio has them, hardware, functions, batches."""

from __future__ import annotations

from functools import cache
from typing import Any

import casadi as ca
import numpy as np
import pinocchio as pin
import pytest
from support.crank_legs import flying
from support.four_bar import FourBar
from support.hardware import ROBOTS, hardware
from support.richardson import derivative
from support.shipped import shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.simulation.payload import Payload
from tools.benchmark.dense import instruction_count
from tools.oracles.oracle import Oracle
from tools.robots import SHIPPED, crank_leg

Array = np.ndarray
#: Trees of more than forty joints.
LARGE = {
    *("rh5_manus", "rh5_humanoid", "belt_humanoid", "differential_humanoid", "geared_humanoid"),
}
TOLERANCE = 1e-7


def away(found: Array, expected: Array) -> float:
    assert found.shape == expected.shape
    return float(np.max(np.abs(found - expected)) / max(1e-12, np.max(np.abs(expected))))


def moving(robot: cld.Robot, seed: int) -> tuple[Array, Array, Array]:
    rng = np.random.default_rng(seed)
    samples = robot.random_independent(rng, 3)
    base = 7 if robot.mechanism.floating else 0
    y = np.concatenate([samples[0, :base], samples[:, base:].mean(axis=0)])
    return y, rng.uniform(-1.5, 1.5, robot.m), rng.uniform(-1.5, 1.5, robot.m)


def assert_derivatives(robot: cld.Robot, method: str, *state: Array, **options: Any) -> None:
    """``method`` of generalized forces or inverse dynamics at (y, yd, ydd)."""
    y, yd, ydd = state
    names = {"generalized_forces": "generalized_force_derivatives"}
    found = getattr(robot, names.get(method, f"{method}_derivatives"))(y, yd, ydd, **options)

    def run(*values: Array) -> Array:
        return np.asarray(getattr(robot, method)(*values, **options))

    m = robot.m
    expected = (
        derivative(lambda d: run(robot.integrate(y, d), yd, ydd), m),
        derivative(lambda d: run(y, yd + d, ydd), m),
        derivative(lambda d: run(y, yd, ydd + d), m),
    )
    for part, value in zip(found, expected, strict=True):
        assert away(part, value) <= TOLERANCE


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in LARGE else n for n in SHIPPED]
)
def test_of_trees_are_those_of_pinocchio(
    monkeypatch: pytest.MonkeyPatch, name: str, floating: bool
) -> None:
    """Of the spanning tree of every shipped robot, with all joints moving."""
    monkeypatch.setenv("CLOSED_LOOP_DYNAMICS_BACKEND", "vm")  # the same equations, not compiled
    urdf, _ = SHIPPED[name].generate()
    robot = cld.load(urdf, floating_base=floating, prepare=())
    oracle = Oracle(urdf, None, floating, names=robot.names.spanning[floating:])
    model, data = oracle.model, oracle.data
    order = oracle.to_pinocchio_v(np.arange(robot.m)).argsort()

    def ordered(matrix: Array) -> Array:
        return np.asarray(matrix)[np.ix_(order, order)]

    rng = np.random.default_rng(0)
    for y in robot.random_independent(rng, 2):
        yd, ydd = rng.normal(size=(2, robot.m))
        at = [oracle.to_pinocchio_q(y), oracle.to_pinocchio_v(yd)]
        parts = pin.computeRNEADerivatives(model, data, *at, oracle.to_pinocchio_v(ydd))
        found = robot.generalized_force_derivatives(y, yd, ydd)
        for part, expected in zip(found[:2], parts[:2], strict=True):
            assert away(part, ordered(expected)) <= 1e-10
        assert away(found.dtau_dydd, oracle.mass_matrix(y)) <= 1e-10

        if floating and model.inertias[1].mass == 0.0:
            continue  # a stand without mass falls in no determined way
        tau, free = 10.0 * rng.normal(size=robot.p), robot.m - robot.p
        forces = np.concatenate([np.zeros(free), tau])
        pin.computeABADerivatives(model, data, *at, oracle.to_pinocchio_v(forces))
        by = robot.forward_dynamics_derivatives(y, yd, tau)
        M = np.triu(data.Minv) + np.triu(data.Minv, 1).T
        for part, expected in zip(by[:2], (data.ddq_dq, data.ddq_dv), strict=True):
            assert away(part, ordered(expected)) <= 1e-10
        assert away(by.dydd_dtau, ordered(M)[:, free:]) <= 1e-10


@pytest.mark.parametrize(("seed", "loops", "floating"), ROBOTS)
def test_with_friction_and_rotors(seed: int, loops: tuple[str, ...], floating: bool) -> None:
    extras = hardware(seed, loops, floating)
    # Friction turns within a hundredth of a radian per second: far smaller steps than velocities.
    robot = cld.load(extras.drawn.urdf, extras.yaml, floating_base=floating, prepare=())
    y, yd, ydd = moving(robot, 1)
    found = robot.generalized_force_derivatives(y, yd, ydd)
    slow = 1e-3 * yd
    near_rest = robot.generalized_force_derivatives(y, slow, ydd)
    run, m = robot.generalized_forces, robot.m
    assert away(found.dtau_dyd, derivative(lambda d: run(y, yd + d, ydd), m, 1e-4)) <= 1e-6
    expected = derivative(lambda d: run(y, slow + d, ydd), m, 1e-4)
    assert away(near_rest.dtau_dyd, expected) <= 1e-6
    assert away(found.dtau_dydd, robot.mass_matrix(y)) <= 1e-12
    at = derivative(lambda d: run(robot.integrate(y, d), yd, ydd), m, 1e-4)
    assert away(found.dtau_dy, at) <= 1e-6


@cache
def two_cranks() -> cld.Robot:
    """A four-bar driven at crank and rocker: p = 2, m = 1."""
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    return cld.load(mechanism.urdf(), mechanism.yaml(active=("crank", "rocker")), prepare=())


def test_of_redundant_actuators() -> None:
    robot = two_cranks()
    assert robot.p > robot.m
    assert_derivatives(robot, "inverse_dynamics", *moving(robot, 2))


LINK = """<inertial><origin xyz="0.1 0.02 -0.2"/><mass value="1.5"/>
<inertia ixx="0.03" ixy="0.001" ixz="0" iyy="0.025" iyz="0.002" izz="0.01"/></inertial>"""
DIFFERENTIAL = f"""<robot name="pair"><link name="base"/>
<link name="a">{LINK}</link><link name="b">{LINK}</link><link name="c">{LINK}</link>
<joint name="first" type="continuous"><parent link="base"/><child link="a"/><axis xyz="0 1 0"/>
</joint>
<joint name="second" type="continuous"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
<origin xyz="0.3 0 0"/></joint>
<joint name="third" type="continuous"><parent link="base"/><child link="c"/><axis xyz="0 0 1"/>
</joint></robot>"""
FUNCTION = """
submechanisms:
- name: pair
  type: function
  jointnames_spanningtree: [first, second, third]
  jointnames_independent: [first, second]
  jointnames_active: [second, third]
"""


def test_of_a_function_given_by_the_user() -> None:
    def gamma(y: Any) -> list[Any]:
        return [y[0] + 0.3 * ca.sin(y[0] - 2.0 * y[1])]

    robot = cld.load(DIFFERENTIAL, FUNCTION, closures={"pair": gamma}, prepare=())
    assert_derivatives(robot, "inverse_dynamics", *moving(robot, 5))


@cache
def leg() -> cld.Robot:
    return cld.load(*crank_leg.generate(), prepare=())


def test_with_wrenches_payload_and_parameters() -> None:
    robot, state = leg(), moving(leg(), 6)
    link = robot.mechanism.tree.bodies[-1].link
    wrench = {link: np.array([0.3, -1.0, 2.0, 20.0, -10.0, 50.0])}
    heavier = {link: Payload(2.0, (0.1, 0.02, -0.05))}
    assert_derivatives(robot, "inverse_dynamics", *state, wrenches=wrench)
    assert_derivatives(robot, "generalized_forces", *state, wrenches=wrench, payload=heavier)
    y, yd, tau = state[0], state[1], np.ones(robot.p)
    found = robot.forward_dynamics_derivatives(y, yd, tau, wrenches=wrench, payload=heavier)
    expected = derivative(
        lambda d: robot.forward_dynamics(y + d, yd, tau, wrenches=wrench, payload=heavier), robot.m
    )
    assert away(found.dydd_dy, expected) <= TOLERANCE


def test_both_solvers_and_a_guess_agree() -> None:
    robot, (y, yd, ydd) = leg(), moving(leg(), 7)
    twin = cld.load(*crank_leg.generate(), solver="numerical", prepare=())
    q = robot.state(y).q
    for found in (
        twin.inverse_dynamics_derivatives(y, yd, ydd),
        robot.inverse_dynamics_derivatives(y, yd, ydd, guess=q),
    ):
        for part, expected in zip(
            found, robot.inverse_dynamics_derivatives(y, yd, ydd), strict=True
        ):
            assert away(part, expected) <= 1e-9


def test_of_the_state() -> None:
    robot, (y, yd, ydd) = leg(), moving(leg(), 8)
    found = robot.state_derivatives(y, yd, ydd)
    m = robot.m
    for part, expected in (
        (found.dq_dy, derivative(lambda d: robot.state(y + d).q, m)),
        (found.dqd_dy, derivative(lambda d: robot.state(y + d, yd, ydd).qd, m)),
        (found.dqdd_dy, derivative(lambda d: robot.state(y + d, yd, ydd).qdd, m)),
        (found.dqdd_dyd, derivative(lambda d: robot.state(y, yd + d, ydd).qdd, m)),
    ):
        assert away(part, expected) <= TOLERANCE


def test_a_batch_is_its_samples() -> None:
    robot = leg()
    states = [moving(robot, seed) for seed in range(5)]
    y, yd, ydd = (np.array(part) for part in zip(*states, strict=True))
    found = robot.inverse_dynamics_derivatives(y, yd, ydd)
    forward = robot.forward_dynamics_derivatives(y, yd, robot.inverse_dynamics(y, yd, ydd))
    assert found.dtau_dy.shape == (5, robot.p, robot.m)
    for k, state in enumerate(states):
        one = robot.inverse_dynamics_derivatives(*state)
        tau = robot.inverse_dynamics(*state)
        other = robot.forward_dynamics_derivatives(*state[:2], tau)
        for part, expected in zip((*found, *forward), (*one, *other), strict=True):
            assert away(part[k], expected) <= 1e-11


@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_steps_of_a_batch_are_those_of_its_samples(floating: bool) -> None:
    robot = flying() if floating else leg()
    y, yd, _ = (np.array(part) for part in zip(*(moving(robot, s) for s in range(3)), strict=True))
    tau, push = np.ones((3, robot.p)), {"foot": np.array([0.0, 0.0, 0.0, 5.0, -3.0, 8.0])}
    found = robot.step_derivatives(y, yd, tau, 2e-3, push, 2)
    assert found.dz_dtau.shape == (3, 2 * robot.m, robot.p)
    for k in range(3):
        one = robot.step_derivatives(y[k], yd[k], tau[k], 2e-3, push, 2)
        for part, expected in zip(found, one, strict=True):
            assert away(part[k], expected) <= 1e-11
    none = robot.step_derivatives(y[:0], yd[:0], tau[:0], 2e-3)
    assert none.dz_dz.shape == (0, 2 * robot.m, 2 * robot.m)
    with pytest.raises(cld.InvalidInput, match="different length"):
        robot.step_derivatives(y, yd[:2], tau, 2e-3)


def test_actuator_forces_that_are_not_determined_have_no_derivatives() -> None:
    mechanism = FourBar(0.3, 0.25, 0.2, 0.22)
    robot = cld.load(mechanism.urdf(), mechanism.yaml(active=()), prepare=())
    with pytest.raises(cld.Underactuated):
        robot.inverse_dynamics_derivatives([0.1], [0.0], [0.0])
    assert robot.generalized_force_derivatives([0.1], [0.0], [0.0]).dtau_dydd > 0.0


@pytest.mark.parametrize(
    "name",
    ["rh5_leg", "rh5_manus_reduced", pytest.param("rh5_manus", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("function", ["inverse_dynamics", "forward_dynamics"])
def test_take_at_most_five_times_the_instructions_of_the_function(name: str, function: str) -> None:
    robot = shipped(name)
    own, more = (instruction_count(robot, n) for n in (function, f"{function}_derivatives"))
    assert more <= 5 * own


PENDULUM = """<robot name="p"><link name="a"/><link name="b"><inertial><origin xyz="0.1 0 0.2"/>
<mass value="1"/><inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial></link>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/><axis xyz="0 1 0"/></joint>
</robot>"""


@pytest.mark.parametrize("name", ["gravity", "mass_matrix", "positions", "inverse_dynamics"])
def test_one_joint_has_gradients_too(name: str) -> None:
    robot = cld.load(PENDULUM, prepare=())
    recipe = robot.programs.recipes[name]
    at = [np.full(size, 0.3) for size in recipe.vectors(robot.mechanism).values()]
    weights = np.ones(recipe.outputs(robot.mechanism).size)
    found = robot.vjp(name, at, weights)
    for k, part in enumerate(found):
        along = [np.full(len(v), float(i == k)) for i, v in enumerate(at)]
        moved = robot.jvp(name, at, along)
        parts = list(moved.values()) if hasattr(moved, "values") else [moved]
        total = sum(float(np.sum(each)) for each in parts)
        np.testing.assert_allclose(part, [total], atol=1e-12)


@pytest.mark.parametrize(
    ("at", "along", "word"),
    [
        ((0, 0), (0, 0, 0, 0), "'at' of 'inverse_dynamics' is a tuple of 3"),
        ((0, 0, 0), (0, 0), "'along' of 'inverse_dynamics' is a tuple of 3"),
        (None, (0, 0, 0), r"\(y, yd, ydd\), not None"),
    ],
)
def test_vectors_in_the_wrong_place_are_refused(at: Any, along: Any, word: str) -> None:
    robot, zero = cld.load("crank_leg"), np.zeros(3)
    at, along = (None if v is None else [zero for _ in v] for v in (at, along))
    with pytest.raises(cld.InvalidInput, match=word):
        robot.jvp("inverse_dynamics", at, along)
    if len(at or ()) != 3:
        with pytest.raises(cld.InvalidInput, match=word):
            robot.vjp("inverse_dynamics", at, zero)
    with pytest.raises(cld.InvalidInput, match="weights of 'q' are no numbers"):
        robot.vjp("state", (zero, zero, zero), {"q": "abc"})


def test_a_robot_that_nothing_drives_has_second_derivatives() -> None:
    bar = FourBar(0.3, 0.25, 0.2, 0.22)
    robot = cld.load(bar.urdf(), bar.yaml(active=()), prepare=())
    assert robot.p == 0
    f = robot.casadi("forward_dynamics")
    y, yd = ca.MX.sym("y"), ca.MX.sym("yd")
    second = ca.Function(
        "second", [y, yd], [ca.hessian(f(y, yd, ca.MX(0, 1)), ca.vertcat(y, yd))[0]]
    )
    at, h = np.array([0.1, 0.7]), 1e-4

    def ydd(a: float, b: float) -> float:
        return float(robot.forward_dynamics([a], [b], np.zeros(0))[0])

    by_y = (ydd(at[0] + h, at[1]) - 2.0 * ydd(*at) + ydd(at[0] - h, at[1])) / h**2
    found = np.asarray(second(*at))
    assert abs(found[0, 0] - by_y) <= 1e-4 * abs(by_y) + 1e-4
    assert abs(found[0, 1] - found[1, 0]) <= 1e-9
