"""The loops of a robot as ours finds them, in the words of the other libraries' adapters.

A file may leave cuts to its reader (analytical types); so these are the package's, not a second
reading of the file: what is timed must be the same problem.
"""

from __future__ import annotations

import numpy as np

from closed_loop_dynamics.closure.cut_joint import CutJoint, resolve
from closed_loop_dynamics.robot import Robot

from ..oracles.files import Coupling, Cut


def cuts_of(robot: Robot) -> list[Cut]:
    """All cuts, with both frames."""
    mech, tree = robot.mechanism, robot.mechanism.tree

    def link(body: int) -> str:
        return tree.bodies[body].link if body >= 0 else tree.root_link

    def neutral(cut: CutJoint) -> Cut:
        axes = [(*axis, 0.0, 0.0, 0.0) for axis in cut.rotations]
        axes += [(0.0, 0.0, 0.0, *axis) for axis in cut.translations]
        ends = link(cut.predecessor), link(cut.successor)
        return Cut(*ends, np.array(axes), None, cut.frame_p, cut.frame_s)

    return [
        neutral(resolve(tree, component.entry, loop))
        for component in mech.components
        for loop in component.loops
    ]


def couplings_of(robot: Robot) -> list[Coupling]:
    """All couplings."""
    return [
        Coupling(c.joint, c.terms, c.offset)
        for component in robot.mechanism.components
        for c in component.couplings
    ]


def joint_names(robot: Robot) -> tuple[str, ...]:
    """The joints of the spanning tree without a free base, in the robot's order."""
    return tuple(robot.names.spanning[int(robot.mechanism.floating) :])
