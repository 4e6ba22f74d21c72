"""What the simulator says about its robot in each state, on all of its topics."""

from __future__ import annotations

from geometry_msgs.msg import PoseStamped, TwistStamped
from rosgraph_msgs.msg import Clock
from sensor_msgs.msg import JointState

from ..arrays import Array
from ..quantities.state import State
from .conversions import BaseBuffer, set_stamp
from .robot_node import RobotNode
from .serialized import JointStateBuffer


class PlantStates:
    """Publishes ``joint_states`` and ``~/actuator_states``; with a floating base its motion.

    Args:
        clock: publish ``/clock`` as well, before the states of that time.
        world: frame of the pose of a floating base.
    """

    def __init__(self, node: RobotNode, clock: bool, world: str) -> None:
        names, floating = node.robot.names, node.robot.mechanism.floating
        joints = names.spanning[floating:]
        self._count = len(joints)
        self._tree = JointStateBuffer(joints)
        self._driven = [joints.index(name) for name in names.actuator]
        self._actuators = JointStateBuffer(names.actuator)
        self._tree_out = node.add_publisher(JointState, "joint_states")
        self._actuators_out = node.add_publisher(JointState, "~/actuator_states")
        self._base = None
        if floating:
            self._base = BaseBuffer(world, node.robot.mechanism.tree.root_link)
            self._pose_out = node.add_publisher(PoseStamped, "~/base_pose")
            self._twist_out = node.add_publisher(TwistStamped, "~/base_twist")
        self._clock = Clock()
        self._clock_out = node.add_publisher(Clock, "/clock") if clock else None

    def publish(self, stamp: int, state: State, tau: Array) -> None:
        """Say it all, at time ``stamp`` [ns], with the actuator efforts ``tau`` (p,)."""
        q, qd, ud = state.q, state.qd, state.ud
        assert qd is not None and ud is not None
        if self._clock_out is not None:
            set_stamp(self._clock.clock, stamp)
            self._clock_out.publish(self._clock)
        self._tree.effort[self._driven] = tau
        joints = q[len(q) - self._count :], qd[len(qd) - self._count :]  # the base comes first
        self._tree_out.publish(self._tree.fill(stamp, *joints))
        if self._base is not None:
            pose, twist = self._base.fill(stamp, q, qd)
            self._pose_out.publish(pose)
            self._twist_out.publish(twist)
        self._actuators_out.publish(self._actuators.fill(stamp, state.u, ud, tau))
