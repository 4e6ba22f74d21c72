"""``closed-loop simulate``: the robot in motion, offline."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable

import numpy as np

from ...arrays import Array
from ...errors import ClosedLoopError
from ...motion.efforts import feedback_acceleration
from ...robot import Robot
from ...simulation.plant import Physics, Plant
from ..arguments import InputFile, add_vector, positive
from ..bags import STATES, read_recording, write_result
from ..mistakes import FileProblem, UsageError
from ..motion_file import MOTION_NOTE, add_rest, as_spline, check_rows, motion_of, rising_times
from ..output import add_output_arguments, check_output
from ..progress import Progress
from ..robot_argument import add_robot_arguments, load_robot
from ..states import check_table, coordinates, parse_vector, reference
from ..tables import EFFORT, POSITION, TIME, VELOCITY, Table, column

DESCRIPTION = f"""\
Simulate the robot by forward dynamics (Runge-Kutta in independent coordinates, so that the loops
stay closed by construction), as fast as the machine can. What acts on it is one of
  nothing (the default: it falls),
  --hold         the position at the start is held,
  --tau          constant forces of the actuators,
  --efforts      forces over time, from a file with columns time and ACTUATOR.effort,
  --follow       a motion from a file, by inverse dynamics (feedforward, and feedback if asked for).

Files for --follow: {MOTION_NOTE[0].lower()}{MOTION_NOTE[1:]}"""
EPILOG = """\
examples:
  closed-loop simulate crank_leg --duration 1 -o fall.csv
  closed-loop simulate crank_leg --y0 knee=0.8 --hold --duration 0.5
  closed-loop simulate crank_leg --follow squat.csv --feedback 20 -o squat.mcap
  closed-loop simulate crank_leg --y0 knee=0.8 --tau knee_cylinder=-40 --viscous knee=0.5

The result has the positions and velocities of all joints, the efforts of the actuators and the
energy; in a bag it is the topic /joint_states. A simulation that fails (a loop that cannot close)
writes what it has, says why it stopped, and ends with status 1.
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_robot_arguments(parser)
    acting = parser.add_argument_group("what acts").add_mutually_exclusive_group()
    acting.add_argument("--hold", action="store_true", help="hold the start")
    add_vector(acting, "--tau", "constant forces [N or N·m]")
    for option, what in (("--efforts", "forces over time"), ("--follow", "a motion to follow")):
        acting.add_argument(option, type=InputFile, metavar="FILE", help=f"{what}, CSV or bag")
    parser.add_argument("--topic", help="of a bag; default: the only one with joints")
    add_rest(parser)
    parser.add_argument(
        "--feedback",
        type=positive,
        metavar="RAD/S",
        help="with --follow: correct errors, critically damped with this frequency",
    )
    add_vector(parser, "--y0", "start, by name or as a list")
    zero = "default: zero, with --follow that of the motion"
    add_vector(parser, "--yd0", f"velocity at the start ({zero})")
    parser.add_argument(
        "--duration", type=positive, metavar="S", help="default: the length of the file, else 2 s"
    )
    parser.add_argument(
        "--step", type=positive, default=1e-3, metavar="S", help="of the integration (%(default)s)"
    )
    parser.add_argument(
        "--rate",
        type=positive,
        metavar="HZ",
        help="of the result, in whole steps (100, or one row per step)",
    )
    for kind, unit in (("viscous", "N·m·s/rad or N·s/m"), ("coulomb", "N·m or N")):
        add_vector(parser, f"--{kind}", f"{kind} friction [{unit}]", "JOINT=VALUE")
    parser.add_argument(
        "--no-stops", action="store_true", help="joints pass their limits instead of stopping"
    )
    add_output_arguments(parser, bags=True)


Force = Callable[[Plant, float], "Array | None"]


def run(options: argparse.Namespace) -> int:
    """Simulate, write; a motion that fails is written up to there."""
    check_output(options, bags=True)
    fastest = 1.0 / options.step
    rate = min(100.0, fastest) if options.rate is None else options.rate
    if rate > fastest * (1.0 + 1e-9):
        raise UsageError(f"--rate {rate:g}: a row needs a step; lower --rate or --step")
    robot = load_robot(options)
    force, start, speed, length = _acting(robot, options)
    if options.y0 is not None:
        names = coordinates(robot, robot.names.independent, POSITION)
        start = parse_vector(options.y0, names, reference(robot), "--y0")
    if options.yd0 is not None:
        names = coordinates(robot, robot.names.independent, VELOCITY)
        speed = parse_vector(options.yd0, names, np.zeros(robot.m), "--yd0")
    physics = Physics(
        step=options.step,
        viscous=_friction(robot, options.viscous, "--viscous"),
        coulomb=_friction(robot, options.coulomb, "--coulomb"),
        end_stops=not options.no_stops,
    )
    plant = Plant(robot, physics, start)
    plant.yd = speed
    duration = options.duration or length or 2.0
    if duration < options.step * (1.0 - 1e-9):
        raise UsageError(f"--step {options.step:g} is longer than the {duration:g} s of motion")
    check_rows(duration * rate)
    table, failure = simulate(plant, force, duration, rate)
    write_result(options, table, "/joint_states", STATES)
    if failure is not None:
        raise failure
    return 0


def simulate(
    plant: Plant, force: Force, duration: float, rate: float
) -> tuple[Table, ClosedLoopError | None]:
    """States every 1/rate seconds, and why it ended early if it did."""
    step = plant.physics.step
    rows, failure = [_row(plant, 0.0)], None
    steps = max(1, round(duration / step))
    every = max(1, round(1.0 / (rate * step)))
    began, before, hits = time.perf_counter(), _at_limits(plant), dict[str, list[float]]()
    with Progress("simulating", steps) as bar:
        for k in range(steps):
            try:
                plant.advance(force(plant, k * step), step)
            except ClosedLoopError as error:
                failure = FileProblem(f"at {k * step:.4g} s: {error}")
                break
            for hit in (now := _at_limits(plant)):
                if hit not in before:
                    hits.setdefault(hit, []).append((k + 1) * step)
            before = now
            if k == 0:
                rows[0][-2 - len(plant.tau) : -2] = plant.tau  # that act from there on
            if (k + 1) % every == 0 or k + 1 == steps:
                rows.append(_row(plant, (k + 1) * step))
            bar.at(k + 1, f"{(k + 1) * step:.2f} s")
    took = time.perf_counter() - began
    for hit, times in hits.items():
        more = f" ({len(times)} times)" * (len(times) > 1)
        print(f"note: {hit}, at {times[0]:.4g} s{more}", file=sys.stderr)
    if sys.stderr.isatty():
        speed = (rows[-1][0] / took) if took else float("inf")
        print(f"{rows[-1][0]:g} s in {took:.2g} s: {speed:.1f} × real time", file=sys.stderr)
    return Table(_columns(plant.robot), np.array(rows)), failure


def _at_limits(plant: Plant) -> list[str]:
    """The stops that joints are at, and the drives that can give no more, in words."""
    drives, most = plant.robot.names.actuator, plant.drives.limits.effort
    strained = np.flatnonzero((most > 0.0) & (np.abs(plant.tau) >= most))
    words = [f"{drives[k]} can give no more than its {most[k]:.4g}" for k in strained]
    if not plant.physics.end_stops:
        return words
    names, low, high = plant.limits.names, plant.limits.lower, plant.limits.upper
    y = plant.y[plant.robot.mechanism.flat[0]]
    ends = (("lower", low, y <= low), ("upper", high, y >= high))
    return words + [
        f"{names[j]} hits its {side} stop, {end[j]:.4g}"
        for side, end, there in ends
        for j in np.flatnonzero(there)
    ]


def _row(plant: Plant, now: float) -> list[float]:
    state = plant.robot.state(plant.y, plant.yd)
    assert state.qd is not None  # asked for
    return [now, *state.q, *state.qd, *plant.tau, *plant.energy()]


def _columns(robot: Robot) -> tuple[str, ...]:
    names = [(POSITION, j) for j in coordinates(robot, robot.names.spanning, POSITION)]
    names += [(VELOCITY, j) for j in coordinates(robot, robot.names.spanning, VELOCITY)]
    names += [(EFFORT, j) for j in robot.names.actuator]
    return TIME, *(column(j, kind) for kind, j in names), "energy.kinetic", "energy.potential"


# -- what acts ------------------------------------------------------------------------------------


#: The force as a function of time, position and velocity at the start, how long it lasts.
Acting = tuple[Force, Array, Array, "float | None"]


def _acting(robot: Robot, options: argparse.Namespace) -> Acting:
    start, rest = reference(robot), np.zeros(robot.m)
    if options.feedback is not None and options.follow is None:
        raise UsageError("--feedback goes with --follow")
    if options.rest and options.follow is None:
        raise UsageError("--rest goes with --follow")
    if options.hold:
        return lambda plant, now: None, start, rest, None
    if options.follow is not None:
        return _following(robot, options)
    if options.efforts is not None:
        return _recorded(robot, options)
    tau = parse_vector(options.tau or [], robot.names.actuator, np.zeros(robot.p), "--tau")
    return lambda plant, now: tau, start, rest, None


def _following(robot: Robot, options: argparse.Namespace) -> Acting:
    motion = motion_of(robot, read_recording(options.follow, options.topic).table, options.rest)
    spline, begin = as_spline(motion), float(motion.times[0])
    w = options.feedback or 0.0

    def force(plant: Plant, now: float) -> Array:
        # A force is held for one step: that of the step's middle has no first-order error.
        ahead = 0.0 if w else 0.5 * plant.physics.step
        goal = spline.sample(begin + now + ahead)
        if not w:
            return robot.inverse_dynamics(goal.y, goal.yd, goal.ydd)
        errors = goal.y - plant.y, goal.yd - plant.yd
        ydd = feedback_acceleration(w, goal.ydd, *errors)
        return robot.inverse_dynamics(plant.y, plant.yd, ydd)

    length = float(motion.times[-1]) - begin or None
    return force, motion.y[0].copy(), motion.yd[0].copy(), length


def _recorded(robot: Robot, options: argparse.Namespace) -> Acting:
    table = read_recording(options.efforts, options.topic).table
    check_table(robot, table)
    tau, times = table.need(robot.names.actuator, EFFORT), rising_times(table)
    times = times - times[0]

    def force(plant: Plant, now: float) -> Array:
        return tau[max(int(np.searchsorted(times, now + 1e-9, side="right")) - 1, 0)]

    return force, reference(robot), np.zeros(robot.m), float(times[-1]) or None


def _friction(robot: Robot, words: list[str] | None, option: str) -> dict[str, float]:
    if words is None:
        return {}
    if not all("=" in word for word in words):
        raise UsageError(f"{option}: write JOINT=VALUE, such as knee=0.5")
    names = robot.names.spanning
    values = parse_vector(words, names, np.zeros(len(names)), option)
    return {name: float(v) for name, v in zip(names, values, strict=True) if v}
