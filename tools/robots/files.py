"""The files of a shipped robot, as text: model, submechanisms, node parameters, launch file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import yaml

from .shipped import ShippedRobot

_NODES = """\
{header}
/**/feedforward:
  ros__parameters:
    control_rate: 500.0           # [Hz]
    mode: measured                # feedforward: forces for the commanded state, no feedback
    feedback_frequency: 15.0      # [rad/s]

/**/simulator:
  ros__parameters:
    control_rate: 500.0           # [Hz]
    step: 0.001                   # [s]
    initial_position: {start}
    publish_markers: true         # cut points, loop residuals and forces for RViz

{what}
/**/trajectory_publisher:
  ros__parameters:
    joints: {joints}
    start: {start_again}
    goal: {goal}
    duration: {duration}                 # one way [s]
    repeat: true
"""

_LAUNCH = '''\
{opening}

ros2 launch closed_loop_dynamics {name}.launch.py

All arguments of closed_loop.launch.py can be given as well, for example ``rviz:=false``.
"""

from closed_loop_dynamics.ros.shipped_launch import describe
from launch import LaunchDescription


def generate_launch_description() -> LaunchDescription:
    """The general launch file with this robot's files."""
    return describe("{name}")
'''


def files_of(robot: ShippedRobot) -> dict[str, str]:
    """Path below the repository -> text."""
    urdf, submechanisms = robot.generate()
    return {
        robot.urdf_file: urdf,
        robot.submechanism_file: submechanisms,
        robot.nodes_file: nodes_text(robot, submechanisms),
        robot.launch_file: launch_text(robot),
    }


def independent_joints(submechanisms: str) -> list[str]:
    """The commanded joints in the order of the file, which is the order of y."""
    entries = yaml.safe_load(submechanisms)["submechanisms"]
    return [joint for entry in entries for joint in entry["jointnames_independent"]]


def nodes_text(robot: ShippedRobot, submechanisms: str) -> str:
    """Parameters of the ROS nodes, with the sample motion."""
    joints = independent_joints(submechanisms)
    sample = robot.sample
    unknown = sorted({*sample.start, *sample.goal} - set(joints))
    if unknown:
        raise ValueError(f"sample motion of {robot.name}: {unknown} are not among {joints}")
    start, goal = ([of.get(joint, 0.0) for joint in joints] for of in (sample.start, sample.goal))
    header = (
        f"Parameters of the nodes that {robot.name}.launch.py starts; see docs/nodes.md. The order "
        "of positions is that of the joints of the sample motion below."
    )
    if robot.floating:
        header += " The base is held still: the nodes know no contact with the ground."
    return _NODES.format(
        header=_comment(header),
        what=_comment(sample.what),
        joints=_flow(joints, 12),
        start=_flow(start, 22),
        start_again=_flow(start, 11),
        goal=_flow(goal, 10),
        duration=sample.duration,
    )


def launch_text(robot: ShippedRobot) -> str:
    """The launch file."""
    opening = textwrap.fill(f'"""{robot.title}. {robot.description}', 100, break_on_hyphens=False)
    return _LAUNCH.format(name=robot.name, opening=opening)


def _comment(text: str) -> str:
    lines = textwrap.wrap(text, 98, break_on_hyphens=False)
    return "\n".join(f"# {line}" for line in lines)


def _flow(values: Sequence[object], indent: int) -> str:
    """A flow list, folded at 100 columns."""
    lines = textwrap.wrap(
        "[" + ", ".join(map(str, values)) + "]", 99 - indent, break_on_hyphens=False
    )
    return ("\n" + " " * (indent + 1)).join(lines)
