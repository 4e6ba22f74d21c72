"""Every loop of RH5 robots, ours and published, has a closed form equal to what Newton finds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
import yaml
from support.rh5 import FILES, every_robot, kinds

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array

COUNT = 1000
#: The leg's planar loops are planar only to micrometres; the closed form leaves this much of that.
ROUNDED = {"leg": 1e-9}


@dataclass(frozen=True)
class Pair:
    """The same robot in closed form and by Newton, on the same motions."""

    analytical: cld.Robot
    numerical: cld.Robot
    y: Array
    yd: Array
    ydd: Array


@cache
def pair(name: str) -> Pair:
    analytical = cld.load(*FILES[name])
    numerical = cld.load(*FILES[name], solver="numerical")
    rng = np.random.default_rng(21)
    y = numerical.random_independent(rng, COUNT)
    yd, ydd = rng.normal(size=(2, COUNT, numerical.m))
    return Pair(analytical, numerical, y, yd, ydd)


@every_robot
def test_every_loop_is_analytical_in_the_file_as_published(name: str) -> None:
    report = pair(name).analytical.report()
    solvers = {s.solver for s in report.submechanisms}
    assert "analytical" in solvers and "numerical" not in solvers
    assert {s.solver for s in pair(name).numerical.report().submechanisms} >= {"numerical"}


@every_robot
def test_positions_velocities_and_accelerations_agree(name: str) -> None:
    p = pair(name)
    a, b = (r.state(p.y, p.yd, p.ydd) for r in (p.analytical, p.numerical))
    slack = ROUNDED.get(name, 0.0)
    assert np.max(np.abs(a.q - b.q)) <= 1e-9 + slack
    assert np.max(np.abs(a.qd - b.qd)) <= 1e-8 * max(1.0, np.max(np.abs(b.qd)))
    assert np.max(np.abs(a.qdd - b.qdd)) <= 1e-7 * max(1.0, np.max(np.abs(b.qdd)))
    assert np.max(a.residual) <= 1e-12 + slack


@every_robot
def test_loop_jacobian_and_bias_agree(name: str) -> None:
    p = pair(name)
    G_a, G_b = (r.loop_jacobian(p.y) for r in (p.analytical, p.numerical))
    g_a, g_b = (r.loop_bias(p.y, p.yd) for r in (p.analytical, p.numerical))
    assert np.max(np.abs(G_a - G_b)) <= 1e-8
    assert np.max(np.abs(g_a - g_b)) <= 1e-7 * max(1.0, np.max(np.abs(g_b)))


@every_robot
def test_dynamics_agree_and_invert_each_other(name: str) -> None:
    p = pair(name)
    tau = p.analytical.inverse_dynamics(p.y, p.yd, p.ydd)
    other = p.numerical.inverse_dynamics(p.y, p.yd, p.ydd)
    assert np.max(np.abs(tau - other)) <= 1e-8 * np.max(np.abs(other))
    ydd = p.analytical.forward_dynamics(p.y, p.yd, tau)
    assert np.max(np.abs(ydd - p.ydd)) <= 1e-9 * np.max(np.abs(p.ydd))


@every_robot
def test_actuator_positions_lead_back_to_the_independent_ones(name: str) -> None:
    p = pair(name)
    robot = p.analytical
    for y in p.y[:100]:
        u = robot.state(y).u
        found = robot.independent_from_actuator(u, guess=y + 1e-3)
        np.testing.assert_allclose(robot.state(found).u, u, atol=1e-9)
        np.testing.assert_allclose(found, y, atol=1e-8)


@kinds("reduced")
def test_switching_a_loop_is_one_word_in_the_file(name: str) -> None:
    """The hybrid case of Kumar et al. 2022: the torso numerical, everything else in closed form."""
    urdf, file = FILES[name]
    data = yaml.safe_load(file.read_text())
    tilt = {"reduced": "torso_joint", "our reduced": "torso_tilt"}[name]
    (torso,) = [e for e in data["submechanisms"] if e["contextual_name"] == tilt]
    torso["solver"] = "numerical"
    hybrid = cld.load(urdf, yaml.safe_dump(data))
    solvers = {s.name: s.solver for s in hybrid.report().submechanisms}
    assert solvers[tilt] == "numerical"
    elbows = [solver for other, solver in solvers.items() if "elbow" in other]
    assert elbows == ["analytical", "analytical"]
    p = pair(name)
    expected = p.analytical.inverse_dynamics(p.y, p.yd, p.ydd)
    found = hybrid.inverse_dynamics(p.y, p.yd, p.ydd)
    assert np.max(np.abs(found - expected)) <= 1e-8 * np.max(np.abs(expected))


@kinds("wrist", "leg")
def test_the_report_says_which_legs_were_recognised(name: str) -> None:
    words = {"wrist": ("crank leg", "planar stroke"), "leg": ("planar stroke", "hinged leg")}
    text = str(pair(name).analytical.report())
    assert all(word in text for word in words[name.removeprefix("our ")])
