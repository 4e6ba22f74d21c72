"""control_msgs as far as the nodes need it, for machines that do not have it.

Field names and error codes are those of control_msgs: they are its contract. Where it is installed
the installed one is used.
"""

from __future__ import annotations

import fcntl
import importlib.util
from pathlib import Path

from .generated_interfaces import Package, import_from, missing_tools

JOINT_TOLERANCE = """\
string name
float64 position
float64 velocity
float64 acceleration
"""
FOLLOW_JOINT_TRAJECTORY = """\
trajectory_msgs/JointTrajectory trajectory
trajectory_msgs/MultiDOFJointTrajectory multi_dof_trajectory
JointTolerance[] path_tolerance
JointTolerance[] goal_tolerance
builtin_interfaces/Duration goal_time_tolerance
---
int32 SUCCESSFUL = 0
int32 INVALID_GOAL = -1
int32 INVALID_JOINTS = -2
int32 OLD_HEADER_TIMESTAMP = -3
int32 PATH_TOLERANCE_VIOLATED = -4
int32 GOAL_TOLERANCE_VIOLATED = -5
int32 error_code
string error_string
---
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint desired
trajectory_msgs/JointTrajectoryPoint actual
trajectory_msgs/JointTrajectoryPoint error
"""
JOINT_TRAJECTORY_CONTROLLER_STATE = """\
std_msgs/Header header
string[] joint_names
trajectory_msgs/JointTrajectoryPoint reference
trajectory_msgs/JointTrajectoryPoint feedback
trajectory_msgs/JointTrajectoryPoint error
trajectory_msgs/JointTrajectoryPoint output
float64 speed_scaling_factor
"""
DEFINITIONS = {
    "msg/JointTolerance.msg": JOINT_TOLERANCE,
    "msg/JointTrajectoryControllerState.msg": JOINT_TRAJECTORY_CONTROLLER_STATE,
    "action/FollowJointTrajectory.action": FOLLOW_JOINT_TRAJECTORY,
}
NEEDS = (
    "trajectory_msgs",
    "geometry_msgs",
    "std_msgs",
    "builtin_interfaces",
    "action_msgs",
    "unique_identifier_msgs",
    "service_msgs",
)


#: Asked before anything is built: what was built is found from then on, by this process alone.
_INSTALLED = importlib.util.find_spec("control_msgs") is not None


def installed() -> bool:
    """control_msgs is there, for all processes."""
    return _INSTALLED


def unavailable() -> str:
    """Why there is no control_msgs and none can be made; empty: there is, or it can be."""
    return "" if installed() else missing_tools()


def provide(folder: Path) -> Path | None:
    """Let this process import control_msgs; the folder for other processes' PYTHONPATH, if any.

    It is built into ``folder`` by the first process that asks; the others wait for it.
    """
    if installed():
        return None
    built = folder / "python"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (folder / "built").exists():
            Package("control_msgs", DEFINITIONS, NEEDS, folder)
            (folder / "built").touch()
    import_from(built)
    return built
