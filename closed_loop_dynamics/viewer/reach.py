"""How far each independent joint can go: the ranges of the sliders."""

from __future__ import annotations

import numpy as np

from ..errors import InvalidInput
from ..inspection.geometry import SubmechanismGeometry
from ..model.tree import PRISMATIC
from ..robot import Robot
from .shapes import robot_size

Range = tuple[float, float]


def joint_ranges(robot: Robot) -> dict[str, Range]:
    """Independent joint (but a free flyer) -> (lower, upper) [rad or m].

    Joints in loops: what the loop and the limits of its actuators allow, exactly for one joint; for
    more of them the smallest box around the reachable positions that are known. Other joints:
    their limits; one turn or half the robot's size where there are none.
    """
    mech = robot.mechanism
    ranges: dict[str, Range] = {}
    for b in mech.scalar_joints(mech.independent):
        joint = mech.tree.bodies[b].joint
        far = 0.5 * robot_size(robot) if joint.kind == PRISMATIC else np.pi
        low = joint.lower if np.isfinite(joint.lower) else -far
        high = joint.upper if np.isfinite(joint.upper) else far
        ranges[joint.name] = (float(low), float(high))
    for c, branch in robot.branches.items():
        ranges.update(zip(branch.names, _loop_box(robot, c), strict=True))
    return ranges


def _loop_box(robot: Robot, component: int) -> list[Range]:
    branch = robot.branches[component]
    geometry = SubmechanismGeometry(robot.programs, component)
    if len(branch.names) == 1:
        try:
            return [geometry.reachable_interval()]
        except InvalidInput:  # the actuators' limits exclude all known positions: `check` says so
            low, high = branch.reachable_box(exact=True)
            return [(float(low[0]), float(high[0]))]
    allowed = [s.p for s in branch.known() if geometry.allows(s.p)]
    if len(allowed) > 1:
        points = np.array(allowed)
        low, high = points.min(axis=0), points.max(axis=0)
    else:
        low, high = branch.reachable_box()
    return list(zip(map(float, low), map(float, high), strict=True))
