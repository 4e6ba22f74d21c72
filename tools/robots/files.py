"""The files of shipped robots and mechanisms, as text: model, submechanisms, node parameters."""

from __future__ import annotations

import textwrap

import yaml

from .mechanisms import Example
from .mechanisms.loop_file import flow_list, word
from .shipped import GeneratedRobot

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


def files_of(robot: GeneratedRobot) -> dict[str, str]:
    """Path below the repository -> text."""
    urdf, submechanisms = robot.generate()
    return {
        f"urdf/{robot.name}.urdf": urdf,
        f"config/{robot.name}.yaml": submechanisms,
        f"config/{robot.name}_nodes.yaml": nodes_text(robot, submechanisms),
    }


def files_of_mechanism(example: Example) -> dict[str, str]:
    """Path below the repository -> text, of a mechanism with its own dimensions."""
    urdf, submechanisms = example.build()
    return {
        f"urdf/mechanisms/{example.name}.urdf": urdf,
        f"config/mechanisms/{example.name}.yaml": submechanisms,
    }


def independent_joints(submechanisms: str) -> list[str]:
    """The commanded joints in the order of the file, which is the order of y."""
    entries = yaml.safe_load(submechanisms)["submechanisms"]
    return [joint for entry in entries for joint in entry["jointnames_independent"]]


def nodes_text(robot: GeneratedRobot, submechanisms: str) -> str:
    """Parameters of the ROS nodes, with the sample motion."""
    joints = independent_joints(submechanisms)
    sample = robot.sample
    unknown = sorted({*sample.start, *sample.goal} - set(joints))
    if unknown:
        raise ValueError(f"sample motion of {robot.name}: {unknown} are not among {joints}")
    start, goal = (
        [float(of.get(joint, 0.0)) for joint in joints] for of in (sample.start, sample.goal)
    )
    header = (
        f"Parameters of the nodes that closed_loop.launch.py starts with robot:={robot.name}; see "
        "docs/nodes.md. The order of positions is that of the joints of the sample motion below."
    )
    if robot.floating:
        header += " The base is held still: the nodes know no contact with the ground."
    return _NODES.format(
        header=_comment(header),
        what=_comment(sample.what),
        joints=flow_list(map(word, joints), 13),
        start=flow_list(start, 23),
        start_again=flow_list(start, 12),
        goal=flow_list(goal, 11),
        duration=sample.duration,
    )


def _comment(text: str) -> str:
    lines = textwrap.wrap(text, 98, break_on_hyphens=False)
    return "\n".join(f"# {line}" for line in lines)
