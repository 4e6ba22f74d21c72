"""``closed-loop map``: a motion of the independent joints as a motion of the actuators."""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

import numpy as np

from ...arrays import Array
from ...model.joint_limits import Limits
from ...robot import Robot
from ..arguments import positive
from ..bags import STATES, TRAJECTORY, add_input_arguments, read_recording, ros_topic, write_result
from ..mistakes import FileProblem, UsageError
from ..motion_file import MOTION_NOTE, MotionTable, add_rest, motion_of, resampled
from ..output import add_output_arguments, check_output, is_bag
from ..robot_argument import add_robot_arguments, load_robot
from ..states import States, check_table, coordinates
from ..tables import EFFORT, KINDS, POSITION, TIME, VELOCITY, Table, joined, with_column

DESCRIPTION = f"""\
Map a trajectory of the independent joints to positions, velocities, accelerations and forces of the
actuators, as the node `feedforward` does online. With --reverse: positions of the actuators, a log
of their encoders say, to all joints of the robot, as the node `joint_state_completer` does.

{MOTION_NOTE}
With --reverse the file has the actuators' positions, one column each; velocities are completed, and
efforts turned into those of the independent joints, where they are given.
"""
EPILOG = """\
examples:
  closed-loop map crank_leg -i squat.csv -o actuators.csv
  closed-loop map crank_leg -i points.csv --rate 500 -o actuators.mcap
  closed-loop map robot.urdf loops.yaml -i bag_folder --topic /joint_trajectory -o mapped.mcap
  closed-loop map crank_leg -i encoders.csv --reverse -o joints.csv
  closed-loop map crank_leg -i squat.csv | closed-loop plot - -o squat.png

A bag gets the same message type that came in (a CSV file becomes JointState messages): topic
/actuator_trajectory for a JointTrajectory, /actuator_command for JointState, /joint_states for what
--reverse completes.
"""
TOPICS = {TRAJECTORY: "/actuator_trajectory", STATES: "/actuator_command"}
MESSAGES = {"trajectory": TRAJECTORY, "states": STATES}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    add_input_arguments(parser.add_argument_group("input"), required=True)
    parser.add_argument(
        "--rate",
        type=positive,
        metavar="HZ",
        help="sample in between, by the rules of joint_trajectory_controller (default: the rows "
        "of the file)",
    )
    add_rest(parser)
    parser.add_argument("--reverse", action="store_true", help="from the actuators to all joints")
    parser.add_argument(
        "--limits",
        choices=("warn", "error", "ignore"),
        default="warn",
        help="what to do about positions, speeds and forces past the URDF's limits "
        "(default: %(default)s)",
    )
    add_output_arguments(parser, bags=True)
    parser.add_argument("--output-topic", metavar="TOPIC", help="of a bag")
    parser.add_argument("--message", choices=tuple(MESSAGES), help="of a bag")


def run(options: argparse.Namespace) -> int:
    """Read, map, write."""
    check_output(options, bags=True)
    if not is_bag(options.output) and (options.output_topic or options.message):
        raise UsageError("--output-topic and --message are for bags; name the --output .mcap")
    topic = options.output_topic and ros_topic(options.output_topic)
    if options.reverse:
        if options.rate is not None or options.rest:
            raise UsageError("--rate and --rest are not for --reverse: a log has its own times")
        robot = load_robot(options, "positions")
        recording = read_recording(options.input, options.topic)
        result = replace(completed(robot, recording.table), start=recording.table.start)
        message = MESSAGES[options.message] if options.message else STATES
        write_result(options, result, topic or "/joint_states", message)
        return 0
    robot = load_robot(options, "state", "inverse_dynamics")
    recording = read_recording(options.input, options.topic)
    motion = motion_of(robot, recording.table, options.rest)
    if options.rate is not None:
        motion = resampled(motion, options.rate)
    mapped = map_motion(robot, motion)
    _mind_limits(robot, motion, mapped, options.limits)
    result = with_column(mapped, TIME, motion.times, first=True)
    result = replace(result, start=recording.table.start)
    message = MESSAGES[options.message] if options.message else recording.message_type
    write_result(options, result, topic or TOPICS[message], message)
    return 0


def map_motion(robot: Robot, motion: MotionTable) -> Table:
    """Columns u, u.velocity, u.acceleration, u.effort, one row per time."""
    names = robot.names.actuator

    def mapped(y: Array, yd: Array, ydd: Array) -> Table:
        state = robot.state(y, yd, ydd)
        tau = robot.inverse_dynamics(y, yd, ydd)
        numbers = zip(KINDS, (state.u, state.ud, state.udd, tau), strict=True)
        return joined((kind, names, values) for kind, values in numbers)

    vectors = dict(zip(KINDS, (motion.y, motion.yd, motion.ydd), strict=False))
    places = replace(motion.table, columns=(), values=np.zeros((len(motion.y), 0)))
    return States(vectors, places, single=False).each(robot, mapped)


def completed(robot: Robot, table: Table) -> Table:
    """All joints of the rows of a log of the actuators, on the branch of the reference."""
    check_table(robot, table)
    names = robot.names
    u = table.need(names.actuator, POSITION)
    given = {kind: table.get(names.actuator, kind) for kind in (VELOCITY, EFFORT)}
    vectors = {POSITION: u, **{kind: v for kind, v in given.items() if v is not None}}

    def complete(u: Array, *others: Array) -> Table:
        here = dict(zip(vectors, (u, *others), strict=True))
        y = robot.independent_from_actuator(u)
        parts = [(POSITION, coordinates(robot, names.spanning, POSITION), robot.state(y).q)]
        if VELOCITY in here:
            yd = robot.actuation.velocity_from_actuator(y, here[VELOCITY])
            joints = coordinates(robot, names.spanning, VELOCITY)
            parts.append((VELOCITY, joints, np.asarray(robot.state(y, yd).qd)))
        if EFFORT in here:
            joints = coordinates(robot, names.independent, EFFORT)
            tau_y = robot.actuation.force_to_independent(y, here[EFFORT])
            parts.append((EFFORT, joints, tau_y))
        return joined(parts)

    return States(vectors, table, single=False).each(robot, complete)


def _mind_limits(robot: Robot, motion: MotionTable, mapped: Table, how: str) -> None:
    """Warn about, or refuse, the first value of each kind that is past a limit."""
    if how == "ignore":
        return
    independent = Limits.of(robot.mechanism.tree, robot.names.independent)
    actuator = Limits.of(robot.mechanism.tree, robot.names.actuator)
    u, ud, tau = (mapped.need(robot.names.actuator, kind) for kind in (POSITION, VELOCITY, EFFORT))
    for found in (
        independent.outside(motion.y),
        independent.too_fast(motion.yd),
        actuator.outside(u),
        actuator.too_fast(ud),
        actuator.too_strong(tau),
    ):
        if found is None:
            continue
        text = f"{motion.table.place(found[0])}, {motion.times[found[0]]:g} s: {found[2]}"
        if how == "error":
            raise FileProblem(text)
        print(f"warning: {text}", file=sys.stderr)
