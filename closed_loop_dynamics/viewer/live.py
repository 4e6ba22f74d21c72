"""Live mode: what a ``sensor_msgs/JointState`` topic says, as snapshots. rclpy is imported late."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

import numpy as np

from ..arrays import Array
from ..cli.mistakes import FileProblem
from ..errors import ClosedLoopError, InvalidInput
from .snapshot import Camera, Snapshot

MEASURED = "measured"


class JointStates:
    """Turns joint states into snapshots.

    All joints of the tree: shown as measured, gaps of the loops included. Only the independent
    ones, or only the actuators: the loops are closed by calculation. Free flyers and balls rest at
    the origin.
    """

    def __init__(self, camera: Camera) -> None:
        self._camera = camera
        self._last: Array | None = None
        mech = camera.robot.mechanism
        spanning, independent = map(mech.scalar_joints, (mech.spanning, mech.independent))
        self._spanning, self._independent = (
            [mech.joint_name(b) for b in bodies] for bodies in (spanning, independent)
        )
        self._places = mech.q.slots(spanning)

    def snapshot(
        self, names: Sequence[str], position: Sequence[float], effort: Sequence[float] = ()
    ) -> Snapshot:
        """The configuration that a message describes.

        Raises:
            InvalidInput: joints are missing, numbers are not finite.
            ClosureNotFound: the loops do not close there.
        """
        if len(position) != len(names):
            raise InvalidInput(f"{len(position)} positions for {len(names)} joints")
        values = dict(zip(names, map(float, position), strict=True))
        bad = [name for name, value in values.items() if not np.isfinite(value)]
        if bad:
            raise InvalidInput(f"the position of '{bad[0]}' is not finite")
        forces = dict(zip(names, map(float, effort), strict=False))
        drives = self._camera.robot.names.actuator
        found = np.array([forces.get(name, np.nan) for name in drives])
        tau = found if np.all(np.isfinite(found)) else None
        if all(name in values for name in self._spanning):
            return self._as_measured(values, tau)
        y = self._positions(values)
        shot = self._camera.standing(y)
        self._last = y
        return shot if tau is None else self._camera.at(shot.q, tau, MEASURED, y=y)

    def _as_measured(self, values: dict[str, float], tau: Array | None) -> Snapshot:
        q = self._camera.robot.mechanism.neutral_q()
        q[self._places] = [values[name] for name in self._spanning]
        shot = self._camera.at(q, tau, MEASURED)
        if tau is not None:
            return shot
        try:
            held = self._camera.standing(shot.y)
        except ClosedLoopError as error:
            return self._camera.at(q, None, MEASURED, str(error))
        return self._camera.at(q, held.tau, held.source, held.note)

    def _positions(self, values: dict[str, float]) -> Array:
        robot = self._camera.robot
        if all(name in values for name in self._independent):
            y = robot.mechanism.neutral_y()
            y[robot.mechanism.flat[0]] = [values[name] for name in self._independent]
            return y
        if all(name in values for name in robot.names.actuator):
            u = np.array([values[name] for name in robot.names.actuator])
            return robot.independent_from_actuator(u, guess=self._last)
        missing = [name for name in self._independent if name not in values]
        raise InvalidInput(
            f"joint '{missing[0]}' is missing; needed are all independent joints, or all actuators"
        )


class Listener:
    """The newest message of a topic."""

    def __init__(self) -> None:
        self._newest: deque[Any] = deque(maxlen=1)

    def hear(self, message: Any) -> None:
        """Called by ROS, in its own thread."""
        self._newest.append(message)

    def take(self) -> Any:
        """The newest message, once; None when there is no new one."""
        return self._newest.pop() if self._newest else None


@contextmanager
def listen(topic: str) -> Iterator[Listener]:
    """Subscribe to a topic in a thread of its own.

    Raises:
        FileProblem: rclpy is not here.
    """
    try:
        import rclpy
        from rclpy.executors import ExternalShutdownException, SingleThreadedExecutor
        from rclpy.qos import qos_profile_sensor_data
        from sensor_msgs.msg import JointState
    except ImportError as error:
        raise FileProblem(
            f"--live needs ROS 2 ({error}); source its setup file, or in the folder of this "
            "package pip install '.[ros]'"
        ) from None
    context = rclpy.Context()
    context.init()
    node = rclpy.create_node("closed_loop_viewer", context=context)
    listener = Listener()
    node.create_subscription(JointState, topic, listener.hear, qos_profile_sensor_data)
    executor = SingleThreadedExecutor(context=context)
    executor.add_node(node)

    def spin() -> None:
        with suppress(ExternalShutdownException):
            executor.spin()

    thread = threading.Thread(target=spin, name="joint_states", daemon=True)
    thread.start()
    try:
        yield listener
    finally:
        executor.shutdown()
        thread.join(timeout=2.0)
        node.destroy_node()
        context.try_shutdown()
