"""The generated example robot: its files are current, its loops close and stay regular."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pinocchio as pin
import pytest
import yaml

from tools.robots.crank_leg import Dimensions, generate

URDF, SUBMECHANISMS = generate()
D = Dimensions()
LOOPS = {  # joint that closes the loop: tip link, link it is held by, point there, limits
    "knee": ("knee_cylinder_rod", "shank", D.knee_lever, D.knee_limits),
    "ankle": ("ankle_rod_tip", "foot", D.ankle_lever, D.ankle_limits),
}
FOLLOWERS = {"knee": ["knee_cylinder_tilt", "knee_cylinder"], "ankle": ["ankle_crank", "ankle_rod"]}


class Leg:
    """The spanning tree in Pinocchio, with the gap of a loop as a function of q."""

    def __init__(self) -> None:
        self.model = pin.buildModelFromXML(URDF)
        self.data = self.model.createData()

    def index(self, joint: str) -> int:
        return self.model.joints[self.model.getJointId(joint)].idx_q

    def limits(self, joint: str) -> tuple[float, float]:
        i = self.index(joint)
        return self.model.lowerPositionLimit[i], self.model.upperPositionLimit[i]

    def gap(self, loop: str, q: np.ndarray) -> np.ndarray:
        """The tip minus the point it belongs to, in the frame of the link that has the point."""
        tip, link, point, _ = LOOPS[loop]
        pin.framesForwardKinematics(self.model, self.data, q)
        placement = {name: self.data.oMf[self.model.getFrameId(name)] for name in (tip, link)}
        return placement[link].actInv(placement[tip].translation) - (point.x, 0.0, point.z)

    def jacobian(self, loop: str, q: np.ndarray, joints: list[str]) -> np.ndarray:
        """d(gap in the plane)/d(joints), by central differences."""
        step = 1e-6 * np.eye(q.size)
        columns = [step[self.index(joint)] for joint in joints]
        gaps = [(self.gap(loop, q + c) - self.gap(loop, q - c)) / 2e-6 for c in columns]
        return np.array(gaps)[:, [0, 2]].T

    def close(self, loop: str, q: np.ndarray) -> np.ndarray:
        """Newton in the two followers of the loop."""
        q, followers = q.copy(), [self.index(joint) for joint in FOLLOWERS[loop]]
        for _ in range(8):
            jacobian = self.jacobian(loop, q, FOLLOWERS[loop])
            q[followers] -= np.linalg.solve(jacobian, self.gap(loop, q)[[0, 2]])
        return q


def test_submechanisms_cover_each_moving_joint_of_the_urdf_once() -> None:
    entries = yaml.safe_load(SUBMECHANISMS)["submechanisms"]
    spanning = [joint for entry in entries for joint in entry["jointnames_spanningtree"]]
    independent = [joint for entry in entries for joint in entry["jointnames_independent"]]
    active = [joint for entry in entries for joint in entry["jointnames_active"]]
    assert sorted(spanning) == sorted(list(Leg().model.names)[1:])
    assert independent == ["hip", "knee", "ankle"]
    assert active == ["hip", "knee_cylinder", "ankle_crank"]


@pytest.mark.parametrize("loop", LOOPS)
def test_loop_is_closed_at_zero(loop: str) -> None:
    leg = Leg()
    assert np.abs(leg.gap(loop, np.zeros(leg.model.nq))).max() < 1e-11


@pytest.mark.parametrize("loop", LOOPS)
@pytest.mark.parametrize("end", [0, 1])
def test_loop_closes_and_stays_clear_of_dead_points_up_to_its_limits(loop: str, end: int) -> None:
    leg = Leg()
    q = np.zeros(leg.model.nq)
    lever = np.hypot(LOOPS[loop][2].x, LOOPS[loop][2].z)
    drive = "knee_cylinder" if loop == "knee" else "ankle_crank"
    driven = [q]
    for angle in np.linspace(0.0, LOOPS[loop][3][end], 25)[1:]:
        q[leg.index(loop)] = angle
        q = leg.close(loop, q)
        driven.append(q)
        assert np.abs(leg.gap(loop, q)).max() < 1e-12
        for joint in FOLLOWERS[loop]:
            low, high = leg.limits(joint)
            assert low <= q[leg.index(joint)] <= high, joint
        # The rod keeps a good part of the lever as its arm, so the force it needs stays finite.
        followers = leg.jacobian(loop, q, FOLLOWERS[loop])
        speed = np.linalg.solve(followers, -leg.jacobian(loop, q, [loop])[:, 0])
        ratio = abs(speed[FOLLOWERS[loop].index(drive)])
        assert ratio > (0.5 * lever if loop == "knee" else 0.5)
    steps = np.diff([q[leg.index(drive)] for q in driven])
    assert all(a * b > 0 for a, b in pairwise(steps)), "the drive never turns back"


def test_dimensions_are_parameters() -> None:
    urdf, _ = generate(Dimensions(thigh=0.5, shank=0.45))
    assert urdf != URDF
    assert pin.buildModelFromXML(urdf).nq == 7
