"""The heavy-duty robots: files are current, masses are the paper's, loops close everywhere."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pinocchio as pin
import pytest

import closed_loop_dynamics as cld
from tools.robots import heavy_duty_arm, heavy_duty_loop
from tools.robots.heavy_duty import ActuatorLoop, sinusoids

ROOT = Path(__file__).resolve().parents[2]
ROBOTS = {module.NAME: module for module in (heavy_duty_loop, heavy_duty_arm)}
COUNTS = {"heavy_duty_loop": (3, 1, 1), "heavy_duty_arm": (8, 4, 4)}
MASSES = {"heavy_duty_loop": 415.0, "heavy_duty_arm": 1063.0}  # Paz and Mattila, Sec. 5
LOOPS = {
    "heavy_duty_loop": {"lift": heavy_duty_loop.LIFT},
    "heavy_duty_arm": {"lift": heavy_duty_arm.LIFT, "tilt": heavy_duty_arm.TILT},
}
every_robot = pytest.mark.parametrize("name", ROBOTS)


@cache
def load(name: str) -> cld.Robot:
    return cld.load(*ROBOTS[name].generate())


def grid(name: str) -> np.ndarray:
    """Strokes and joints from end to end, all at once and against each other."""
    tree = load(name).mechanism.tree
    joints = [tree.bodies[b].joint for b in load(name).mechanism.independent]
    low, high = (np.array([getattr(j, end) for j in joints]) for end in ("lower", "upper"))
    rng = np.random.default_rng(3)
    ends = rng.integers(0, 2, (32, len(low)))
    shares = np.vstack([ends, rng.uniform(size=(200, len(low)))])
    return low + shares * (high - low)


@every_robot
def test_robot_weighs_what_the_paper_says_and_has_its_joints(name: str) -> None:
    robot = load(name)
    assert (robot.n, robot.m, robot.p) == COUNTS[name]
    assert robot.names.independent == robot.names.actuator
    urdf, _ = ROBOTS[name].generate()
    model = pin.buildModelFromXML(urdf)
    assert sum(body.mass for body in model.inertias) == pytest.approx(MASSES[name], abs=1e-9)


@every_robot
def test_linter_has_nothing_to_complain_about(name: str) -> None:
    report = load(name).report()
    assert not report.errors and not report.warnings, str(report)


@every_robot
def test_loops_stay_closed_in_an_independent_reading_of_the_urdf(name: str) -> None:
    urdf, _ = ROBOTS[name].generate()
    model = pin.buildModelFromXML(urdf)
    data = model.createData()
    order = [model.joints[model.getJointId(joint)].idx_q for joint in load(name).names.spanning]
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    frames = {
        loop: (model.getFrameId(f"{loop}_rod"), model.getFrameId(f"{loop}_arm"))
        for loop in LOOPS[name]
    }
    pins = {loop: data.oMf[a].actInv(data.oMf[r].translation) for loop, (r, a) in frames.items()}
    for sample in load(name).state(grid(name)).q:
        q = np.empty(model.nq)
        q[order] = sample
        pin.framesForwardKinematics(model, data, q)
        for loop, (rod, arm) in frames.items():
            gap = data.oMf[rod].translation - data.oMf[arm].act(pins[loop])
            assert np.linalg.norm(gap) < 1e-11


@every_robot
def test_hinges_follow_the_law_of_cosines_and_every_joint_stays_within_its_limits(
    name: str,
) -> None:
    robot = load(name)
    y = grid(name)
    state = robot.state(y)
    for loop, geometry in LOOPS[name].items():
        strokes = y[:, robot.names.independent.index(f"{loop}_cylinder")]
        expected = [geometry.elevation(x) - geometry.retracted for x in strokes]
        found = state.q[:, robot.names.spanning.index(loop)]
        np.testing.assert_allclose(found, expected, atol=1e-11)
        ends = np.linspace(0.0, geometry.stroke, 50)
        rate = np.gradient([geometry.elevation(x) for x in ends], ends)
        assert np.all(rate > 0.0) or np.all(rate < 0.0), "the arm never turns back"
        assert np.abs(1.0 / rate).min() > 0.12  # [m]: no cylinder ever loses its lever arm
    tree = robot.mechanism.tree
    joints = [tree.bodies[tree.joint_index(joint)].joint for joint in robot.names.spanning]
    low, high = (np.array([getattr(j, end) for j in joints]) for end in ("lower", "upper"))
    assert ((state.q >= low - 1e-9) & (state.q <= high + 1e-9)).all()


@every_robot
@pytest.mark.parametrize("motion", ["SINUSOIDS", "WORKING"])
def test_sinusoids_stay_within_strokes_and_rated_speeds_and_forces(name: str, motion: str) -> None:
    robot, module = load(name), ROBOTS[name]
    x, xd, xdd = sinusoids(getattr(module, motion), np.linspace(0.0, 10.0, 201))
    tree = robot.mechanism.tree
    joints = [tree.bodies[b].joint for b in robot.mechanism.independent]
    forces = np.abs(robot.inverse_dynamics(x, xd, xdd)).max(axis=0)
    for i, joint in enumerate(joints):
        assert joint.lower <= x[:, i].min() and x[:, i].max() <= joint.upper
        assert np.abs(xd[:, i]).max() <= joint.velocity
        assert forces[i] <= joint.effort


def mean_acceleration(module: ModuleType) -> float:
    _, _, xdd = sinusoids(module.SINUSOIDS, np.linspace(0.0, 10.0, 1000, endpoint=False))
    return float(np.abs(xdd).sum(axis=1).mean())


def test_sinusoids_accelerate_as_much_as_those_of_the_paper() -> None:
    # error / (error in percent / 100), as printed in Sec. 5
    assert mean_acceleration(heavy_duty_loop) == pytest.approx(7.66e-16 / 1.25e-13, rel=0.01)
    assert mean_acceleration(heavy_duty_arm) == pytest.approx(5.21e-14 / 2.42e-13, rel=0.01)


def test_sinusoid_rates_are_its_derivatives() -> None:
    t, h = np.linspace(0.0, 10.0, 40), 1e-5
    x, xd, xdd = sinusoids(heavy_duty_arm.WORKING, t)
    before, after = (sinusoids(heavy_duty_arm.WORKING, t + step) for step in (-h, h))
    np.testing.assert_allclose((after[0] - before[0]) / (2 * h), xd, atol=1e-8)
    np.testing.assert_allclose((after[1] - before[1]) / (2 * h), xdd, atol=1e-8)
    assert x.shape == (40, 4)


@pytest.mark.parametrize(
    ("stroke", "words"), [(0.62, "does not fit between its pins"), (0.5, "when retracted")]
)
def test_impossible_cylinder_is_refused(stroke: float, words: str) -> None:
    lever = (0.1, 0.0) if stroke == 0.62 else (0.62, -0.12)
    angle = math.radians(-15.0 if stroke == 0.62 else -45.0)
    with pytest.raises(cld.InvalidInput, match=words):
        ActuatorLoop((0.22, -1.05), lever, angle, stroke)


def test_dimensions_are_parameters() -> None:
    longer = cld.load(*heavy_duty_arm.generate(heavy_duty_arm.Dimensions(boom=2.6)))
    reach = [r.pose("tilt_arm", np.zeros(4))[:3, 3] for r in (load("heavy_duty_arm"), longer)]
    assert np.linalg.norm(reach[1] - reach[0]) == pytest.approx(0.5)
