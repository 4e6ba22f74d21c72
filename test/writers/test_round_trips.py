"""All shipped robots and mechanisms through every format that we write: the same robot comes back.

CLOSED_LOOP_ROUND_TRIPS=all takes all of them, with 15 states each; else it is some small ones.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from support.figures import relative
from support.written import NAMES
from support.written import robot as shipped

import closed_loop_dynamics as cld
from closed_loop_dynamics.errors import NotWritable
from closed_loop_dynamics.writers.ties import ties_of
from tools.oracles.files import Array

pytestmark = pytest.mark.usefixtures("traced_only")

ALL = os.environ.get("CLOSED_LOOP_ROUND_TRIPS") == "all"
SOME = ("antiparallelogram", "belt_pair", "geared_rotor", "irsbot_4u", "lambda_rrpr", "rrr3")
COUNT = 15 if ALL else 2
FILES = {"urdf": "robot.urdf", "urdf+": "robot.urdf", "mjcf": "robot.xml", "sdf": "robot.sdf"}
BELTS = ("belt_chain", "belt_pair", "differential", "differential_humanoid")
#: What a format has no words for: couplings of several joints, universal cuts.
REFUSED = {
    "urdf+": (*BELTS, "delta", "irsbot2", "irsbot_4u", "rh5_humanoid", "rh5_leg", "rh5_manus",
              "sprr2_u"),
    "sdf": (*BELTS, "belt_humanoid", "rh5_humanoid", "rh5_manus"),
}  # fmt: skip


@pytest.mark.parametrize("format_", FILES)
@pytest.mark.parametrize("name", NAMES if ALL else SOME)
def test_what_is_written_is_the_same_robot(name: str, format_: str, tmp_path: Path) -> None:
    robot = shipped(name)
    if name in REFUSED.get(format_, ()):
        with pytest.raises(NotWritable, match="; ") as refused:
            robot.write(tmp_path / FILES[format_], to=format_)
        assert refused.value.place and refused.value.remedy
        return
    written = robot.write(tmp_path / FILES[format_], to=format_)
    again = cld.load(*written.files, prepare=())
    assert_same(robot, again, shown(robot) if format_ == "sdf" else {})


def shown(robot: cld.Robot) -> dict[str, float]:
    """Joint -> where an SDF shows it: there it is at zero."""
    ties = ties_of(robot.mechanism)
    looped = [name for entry in robot.mechanism.entries if entry.loops for name in entry.spanning]
    return {name: ties.reference[name] for name in looped}


def assert_same(robot: cld.Robot, again: cld.Robot, away: dict[str, float]) -> None:
    """Dynamics at speed; other joints may be independent, and others driven where all say so."""
    a, b = robot.mechanism, again.mechanism
    assert {*b.q.names} <= {*a.q.names} and again.m == robot.m
    q_at, v_at = ([list(x.names).index(n) for n in z.names] for x, z in ((a.q, b.q), (a.qd, b.qd)))
    y_at, yd_at = ([list(x.names).index(n) for n in z.names] for x, z in ((b.q, b.y), (b.qd, b.yd)))
    shift = np.array([away.get(joint, 0.0) for joint in b.q.names])
    same_drives = {*robot.names.actuator} == {*again.names.actuator}
    order = [list(robot.names.actuator).index(n) for n in again.names.actuator if same_drives]
    rng = np.random.default_rng(7)
    rest = np.zeros(robot.m)

    def moved(y: Array, yd: Array, ydd: Array) -> tuple[Array, Array, Array]:
        """The same motion in the coordinates of the copy."""
        state = robot.state(y, yd, ydd)
        return (state.q[q_at] - shift)[y_at], state.qd[v_at][yd_at], state.qdd[v_at][yd_at]

    for y in robot.random_independent(rng, COUNT):
        yd, ydd = rng.uniform(-1.0, 1.0, (2, robot.m))
        T = np.column_stack([moved(y, axis, rest)[1] for axis in np.eye(robot.m)])
        here, there = robot.state(y, yd, ydd), again.state(*moved(y, yd, ydd))
        assert relative(there.q, here.q[q_at] - shift) <= 1e-9
        assert relative(there.qd, here.qd[v_at]) <= 1e-9
        assert relative(there.qdd, here.qdd[v_at]) <= 1e-9
        M = T.T @ again.mass_matrix(moved(y, yd, rest)[0]) @ T
        assert relative(M, robot.mass_matrix(y)) <= 1e-9
        bias = T.T @ again.generalized_forces(*moved(y, yd, rest))
        assert relative(bias, robot.generalized_forces(y, yd, rest)) <= 1e-9
        if same_drives:
            tau = rng.uniform(-1.0, 1.0, robot.p)
            free = again.forward_dynamics(*moved(y, yd, rest)[:2], tau[order])
            expected = moved(y, yd, robot.forward_dynamics(y, yd, tau))[2]
            assert relative(free, expected) <= 1e-9
