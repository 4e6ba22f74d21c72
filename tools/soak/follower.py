"""``python -m tools.soak.follower``: a robot that follows trajectories as one of ros2_control does.

joint_trajectory_controller is in no wheel. This node stands in for it and for its hardware, which
are one process, as in a controller manager: each period reads the simulated robot, follows, and
writes efforts, and no message passes between them. It takes ``~/actuator_trajectory``, the newest
from where the actuators then are, holds its end, and gives the efforts of the points with PD
feedback on top, by the gains of its parameter file (``config/ros2_control_jtc.yaml``). What it was
told it does, whatever becomes of who told it.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from trajectory_msgs.msg import JointTrajectory

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.motion.clock_steps import NANO
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, Spline
from closed_loop_dynamics.ros.conversions import nanoseconds, points_from
from closed_loop_dynamics.ros.run import run
from closed_loop_dynamics.ros.simulator import Simulator, in_turn


class FollowingRobot(Simulator):
    """See the module.

    Args:
        gains: actuator -> ``p`` and ``d``.
    """

    #: Drives and their controller do not stand still with this machine: no period is left out.
    catch_up = 60.0

    def __init__(self, gains: Mapping[str, Any]) -> None:
        self._gains = gains
        super().__init__()

    def setup(self) -> None:
        """As the simulator; trajectories in place of efforts."""
        super().setup()
        names = self.robot.names.actuator
        self._stiffness, self._damping = (
            np.array([self._gains[name][what] for name in names]) for what in "pd"
        )
        self._spline: Spline | None = None
        topic = "~/actuator_trajectory"
        self.add_subscription(JointTrajectory, topic, "actuator_trajectory", self._on_trajectory)

    @in_turn
    def _on_trajectory(self, message: JointTrajectory) -> None:
        points, now = points_from(message, self.robot.names.actuator), time.time()
        u, ud = self._measured()
        begin = nanoseconds(message.header.stamp) / NANO or now
        before = Setpoint(now, u, ud, 0.0 * u, effort=self._followed(now).effort)
        coming = begin + points.times > now
        later = points.after(int(np.argmax(coming)) if coming.any() else len(coming) - 1)
        self._spline = Spline(later, begin, before)

    def _measured(self) -> tuple[Array, Array]:
        state = self.robot.state(self.plant.y, self.plant.yd)
        assert state.ud is not None
        return state.u, state.ud

    def _followed(self, now: float) -> Setpoint:
        """Where the actuators shall be; where they are at first."""
        if self._spline is None:
            y = self.plant.y
            held = self.robot.inverse_dynamics(y, 0.0 * y, 0.0 * y)
            self._spline = Spline(Points.of([0.0], [self._measured()[0]], efforts=[held]), now)
        return self._spline.sample(now)

    def _commanded(self, ago: float) -> Array:
        """The controller's own efforts, of the measurements of this period."""
        wanted, (u, ud) = self._followed(time.time() - ago), self._measured()
        efforts = self._stiffness * (wanted.y - u) + self._damping * (wanted.yd - ud)
        return efforts if wanted.effort is None else efforts + wanted.effort


def main() -> int:
    """The parameter file of the controller, then ROS arguments."""
    found = yaml.safe_load(Path(sys.argv[1]).read_text())["actuator_trajectory_controller"]
    return run(partial(FollowingRobot, found["ros__parameters"]["gains"]))


if __name__ == "__main__":
    sys.exit(main())
