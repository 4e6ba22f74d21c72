"""Markers for RViz: where loops are cut, how far they gape, what the actuators push, and where the
robot should be, if that is elsewhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from geometry_msgs.msg import Point
from std_msgs.msg import ColorRGBA
from visualization_msgs.msg import Marker, MarkerArray

from ..arrays import Array
from ..quantities.links import body_poses, cut_points
from .robot_node import RobotNode

CUT = ColorRGBA(r=0.1, g=0.5, b=1.0, a=0.9)
GAP = ColorRGBA(r=1.0, g=0.0, b=0.0, a=1.0)
FORCE = ColorRGBA(r=1.0, g=0.6, b=0.1, a=0.9)
DESIRED = ColorRGBA(r=0.2, g=0.9, b=0.3, a=0.35)
SPHERE = 0.02  # [m]
AWAY = 1e-3  # [m]; a desired pose that is nearer is not drawn
ARROW = 0.25  # length of the arrow of an actuator at its effort limit [m]


class MarkerPublisher:
    """Publishes ``~/markers``: cut points, residuals (magnified lines) and forces as arrows.

    A desired pose is a figure of translucent sticks, from joint to joint.
    """

    def __init__(self, node: RobotNode) -> None:
        self._robot = node.robot
        self._clock = node.get_clock()
        self._publisher = node.add_publisher(MarkerArray, "~/markers")
        mech = node.robot.mechanism
        frame = mech.tree.root_link
        self._cuts = _marker(frame, "cut points", 0, Marker.SPHERE_LIST, CUT, SPHERE)
        self._gaps = _marker(frame, "loop residuals", 0, Marker.LINE_LIST, GAP, 0.2 * SPHERE)
        self._arrows = [
            _marker(frame, "actuator forces", k, Marker.ARROW, FORCE, 0.5 * SPHERE)
            for k in range(node.robot.p)
        ]
        for arrow in self._arrows:
            arrow.scale.y = SPHERE
        self._sticks = _marker(frame, "desired pose", 0, Marker.LINE_LIST, DESIRED, SPHERE)
        self._message = MarkerArray(markers=[self._cuts, self._gaps, *self._arrows, self._sticks])
        efforts = [mech.joint(b).effort for b in mech.actuator]
        self._scales = [e if np.isfinite(e) and e > 0 else 100.0 for e in efforts]

    def publish(self, q: Array, tau: Array, desired: Array | None = None) -> None:
        """Show whoever listens spanning positions ``q`` (n,) and actuator forces ``tau`` (p,).

        Args:
            desired: (n,) where it should be, if somebody knows.
        """
        if not self._publisher.heard:
            return
        stamp = self._clock.now().to_msg()
        for marker in self._message.markers:
            marker.header.stamp = stamp
        mech = self._robot.mechanism
        if mech.floating:  # the markers are seen from the root link, which flies
            q = np.concatenate([mech.joint(0).neutral, q[7:]])
        poses = body_poses(mech, q)
        self._cuts.points.clear()
        self._gaps.points.clear()
        for at_p, at_s in cut_points(self._robot.branches, poses):
            self._cuts.points.append(_point(0.5 * (at_p + at_s)))
            self._gaps.points += [_point(at_p), _point(at_s)]
        for k, b in enumerate(mech.actuator):
            T, length = poses[b], ARROW * float(tau[k]) / self._scales[k]
            tip = T[:3, 3] + T[:3, :3] @ mech.joint(b).axis * length
            self._arrows[k].points = [_point(T[:3, 3]), _point(tip)]
        self._show_desired(poses, poses if desired is None else body_poses(mech, desired))
        self._publisher.publish(self._message)

    def _show_desired(self, poses: Array, desired: Array) -> None:
        bodies = self._robot.mechanism.tree.bodies
        away = np.abs(poses - desired)[:, :3, 3].max()
        self._sticks.action = Marker.ADD if away > AWAY else Marker.DELETE
        parents = [body.parent for body in bodies]
        ends = [(desired[k], D) for k, D in zip(parents, desired, strict=True) if k >= 0]
        self._sticks.points = [_point(T[:3, 3]) for pair in ends for T in pair]


def _point(at: Any) -> Point:
    return Point(x=float(at[0]), y=float(at[1]), z=float(at[2]))


def _marker(
    frame: str, space: str, number: int, kind: int, color: ColorRGBA, size: float
) -> Marker:
    marker = Marker(ns=space, id=number, type=kind, color=color)
    marker.header.frame_id = frame
    marker.pose.orientation.w = 1.0
    marker.scale.x = marker.scale.y = marker.scale.z = size
    return marker
