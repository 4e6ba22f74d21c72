"""``closed-loop workspace``: reach, singularities and actuator forces of one mechanism."""

from __future__ import annotations

import argparse

from ...errors import did_you_mean
from ...inspection.loop_names import loop_names
from ...robot import Robot
from ..arguments import add_vector, positive, whole
from ..link_reach import draw_reach, reach_in_task_space, reach_of_link
from ..mistakes import FileProblem, UsageError
from ..pictures import check_picture, save_figure
from ..robot_argument import add_robot_arguments, check_fixed, load_robot
from ..states import parse_vector, reference
from ..workspace_drawing import draw
from ..workspace_maps import sample

DESCRIPTION = """\
Draw what one closed mechanism can do: which positions of its independent joints are reachable
within the limits of joints and actuators; how far its singularities are, as smallest singular
values (0 for the loop: its branches meet; 0 for the drive: a dead point); how it transmits, with
what force its actuators can act at the joint, and the forces with which they hold the robot against
gravity. One independent joint gives curves, two give maps; of more, two are varied. All other
joints stand at --y. What does not vary is told in the title.
With --link it is the reach of a link in the root frame, with --x that of the platform of a parallel
manipulator in its own coordinates: random positions within the limits of joints and actuators.
With --scheduler the workers of a Dask cluster do the work (extra `dask`).
"""
EPILOG = """\
examples:
  closed-loop workspace crank_leg -s knee
  closed-loop workspace rh5_leg -s ankle --grid 41 -o ankle.png
  closed-loop workspace ups6 --joints x y
  closed-loop workspace rh5_leg -s knee --y hip_pitch=-0.5
  closed-loop workspace rh5_leg --link foot
  closed-loop workspace delta --x
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    parser.add_argument(
        "-s", "--submechanism", metavar="NAME", help="default: the only one with loops"
    )
    others = parser.add_mutually_exclusive_group()
    others.add_argument("--link", metavar="LINK", help="where this link gets to, in place of that")
    others.add_argument("--x", action="store_true", help="where the platform gets to")
    parser.add_argument(
        "--samples", type=whole, default=4000, metavar="N", help="of --link and --x (4000)"
    )
    parser.add_argument(
        "--joints", nargs="+", metavar="JOINT", help="one or two independent joints to vary"
    )
    add_vector(parser, "--y", "where the other joints stand")
    parser.add_argument(
        "--grid", type=whole, metavar="N", help="points per joint (default: 201 or 31 × 31)"
    )
    parser.add_argument(
        "--margin",
        type=positive,
        default=0.0,
        metavar="RAD_OR_M",
        help="look beyond the limits of the joints by this much",
    )
    parser.add_argument("--scheduler", default="", metavar="ADDRESS", help="of a Dask cluster")
    parser.add_argument(
        "-o", "--output", metavar="PNG", help="default: workspace_NAME.png, in the current folder"
    )


def run(options: argparse.Namespace) -> int:
    """Sample and draw."""
    if options.output is not None:
        check_picture(options.output, options)
    robot = load_robot(options)
    check_fixed(robot, "workspace is")
    if options.link or options.x:
        return _cartesian(robot, options)
    name = _submechanism(robot, options.submechanism)
    output = options.output or f"workspace_{name}.png"
    check_picture(output, options)
    y = parse_vector(options.y or [], robot.names.independent, reference(robot), "--y")
    joints = _joints(robot, name, options.joints)
    count = options.grid or (201 if len(joints) == 1 else 31)
    samples = sample(robot, name, joints, y, count, options.margin, options.scheduler)
    save_figure(draw(samples), output)
    print(samples.summary())
    return 0


def _cartesian(robot: Robot, options: argparse.Namespace) -> int:
    """The reach of a link or of the platform."""
    if options.submechanism or options.joints or options.y:
        raise UsageError("--link and --x move all joints; leave out -s, --joints and --y")
    links = robot.mechanism.tree.frames
    if options.link and options.link not in links:
        raise UsageError(f"--link: no link '{options.link}'; {did_you_mean(options.link, links)}")
    what = options.link or robot.task_space().platform
    output = options.output or f"workspace_{what}.png"
    check_picture(output, options)
    reached = (
        reach_of_link(robot, what, options.samples)
        if options.link
        else reach_in_task_space(robot, options.samples)
    )
    if not len(reached.points):
        raise FileProblem("no random position is within the limits of joints and actuators")
    save_figure(draw_reach(reached, f"{robot.mechanism.tree.name}: {what}"), output)
    print(reached.summary(what))
    return 0


def _submechanism(robot: Robot, wanted: str | None) -> str:
    names = list(loop_names(robot.branches).values())
    if wanted is None:
        if len(names) == 1:
            return names[0]
        listed = ", ".join(names) or "none"
        raise UsageError(f"which mechanism? give --submechanism; with loops: {listed}")
    if wanted not in names:
        raise UsageError(f"no submechanism with loops '{wanted}'; {did_you_mean(wanted, names)}")
    return wanted


def _joints(robot: Robot, name: str, wanted: list[str] | None) -> list[str]:
    independent = list(robot.submechanism(name).independent)
    if wanted is None:
        return independent[:2]
    for joint in wanted:
        if joint not in independent:
            raise UsageError(
                f"--joints: '{joint}' is no independent joint of '{name}'; "
                f"{did_you_mean(joint, independent)}"
            )
    if len(wanted) > 2 or len(set(wanted)) < len(wanted):
        raise UsageError("--joints: give one or two different joints")
    return wanted
