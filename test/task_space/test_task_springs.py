"""Springs at joints of a parallel manipulator: task space and independent coordinates agree."""

from __future__ import annotations

import numpy as np
import pytest
from support.manipulators import files

import closed_loop_dynamics as cld


def loaded(springs: str) -> cld.Robot:
    urdf, text = files("irsbot2")
    text = f"{text.read_text(encoding='utf-8')}\nsprings: [{springs}]\n"
    return cld.load(urdf, text, solver="numerical", prepare=())


def test_forces_of_a_motion_are_those_of_the_whole_robot() -> None:
    names = loaded("").names.spanning
    passive = [name for name in names if name not in loaded("").names.actuator][:5]
    springs = [f"{{joint: {name}, stiffness: 30.0, rest: 0.2, preload: 4.0}}" for name in passive]
    robot = loaded(", ".join(springs))
    task = robot.task_space()
    x = task.reference + np.array([0.05, -0.03])
    xd, xdd = np.array([0.4, -0.7]), np.array([2.0, 1.0])
    state = task.inverse_kinematics(x, xd, xdd)
    at = [names.index(name) for name in robot.names.independent]
    expected = robot.inverse_dynamics(state.q[at], state.qd[at], state.qdd[at])
    found = task.inverse_dynamics(x, xd, xdd)
    bare = loaded("").inverse_dynamics(state.q[at], state.qd[at], state.qdd[at])
    assert np.max(np.abs(expected - bare)) > 1.0
    np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-7)


def test_springs_between_points_are_refused() -> None:
    link = loaded("").mechanism.tree.bodies[2].link
    root = loaded("").mechanism.tree.root_link
    robot = loaded(f"{{from: {{link: {root}}}, to: {{link: {link}}}, stiffness: 30.0}}")
    with pytest.raises(cld.SubmechanismError, match="springs between points"):
        robot.task_space()
