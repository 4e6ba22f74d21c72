"""States on the command line: one of them as words, or many as a file; results as a table.

Shared by ``state``, ``inverse-dynamics`` and ``forward-dynamics``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..arrays import MAX_ANGLE, Array
from ..errors import ClosedLoopError, ClosureNotFound, did_you_mean
from ..model.joint_limits import Limits
from ..quantities.coordinates import reference_independent
from ..robot import Robot
from .arguments import add_vector, real
from .bags import add_input_arguments, read_recording
from .mistakes import FileProblem, UsageError
from .output import add_output_arguments, check_output, write
from .progress import Progress
from .robot_argument import add_robot_arguments, load_robot
from .tables import ACCELERATION, EFFORT, POSITION, TIME, VELOCITY, Table, with_column

CHUNK = 4096
_OPTIONS = {POSITION: "y", VELOCITY: "yd", ACCELERATION: "ydd", EFFORT: "tau"}
_UNITS = {
    POSITION: "positions of the independent joints [rad or m]",
    VELOCITY: "their velocities [rad/s or m/s]",
    ACCELERATION: "their accelerations [rad/s² or m/s²]",
    EFFORT: "forces of the actuators [N or N·m]",
}
VECTOR_NOTE = """\
A state is given by name, as in `--y hip=-0.4 knee=0.8`, or as a list in the order that
`closed-loop info` shows, as in `--y -0.4 0.8 -0.4`. Positions that are not named stay at the
reference (zero, unless the submechanism file says otherwise); other numbers that are not given are
zero. A CSV file (or bag) has one state per row; its columns are called like the joints: knee,
knee.velocity, knee.acceleration, knee_cylinder.effort; time is optional.
"""


def coordinates(robot: Robot, joints: Sequence[str], kind: str) -> list[str]:
    """One name per number: a free flyer has seven positions and six velocities."""
    tree = robot.mechanism.tree
    of = [tree.bodies[tree.joint_index(name)].joint for name in joints]
    return [n for j in of for n in (j.position_names if kind == POSITION else j.velocity_names)]


def add_state_arguments(parser: argparse.ArgumentParser, kinds: Sequence[str]) -> None:
    """ROBOT, one option per vector, a file in their place, and where the result goes."""
    add_robot_arguments(parser)
    group = parser.add_argument_group("one state")
    for kind in kinds:
        add_vector(group, f"--{_OPTIONS[kind]}", _UNITS[kind])
    group = parser.add_argument_group("many states")
    add_input_arguments(group, required=False)
    add_output_arguments(parser)


@dataclass(frozen=True, eq=False)
class States:
    """What a command computes from.

    Attributes:
        vectors: kind -> (N, ...) numbers.
        table: the file they come from, or one made up for messages.
        single: it was one state, not a file.
    """

    vectors: dict[str, Array]
    table: Table
    single: bool

    def each(self, robot: Robot, compute: Callable[..., Table]) -> Table:
        """``compute(*vectors)`` in pieces; a failure names the row and the columns."""
        arrays = list(self.vectors.values())
        parts: list[Table] = []
        total = len(self.table.values)
        with Progress("computing", total) as bar:
            for start in range(0, max(total, 1), CHUNK):
                # One state needs no code for many at once, which would have to be compiled.
                piece = [a[0] if self.single else a[start : start + CHUNK] for a in arrays]
                try:
                    parts.append(compute(*piece))
                except ClosedLoopError as error:
                    raise self._named(robot, compute, piece, start, error) from error
                bar.at(start + CHUNK)
        result = Table(parts[0].columns, np.vstack([part.values for part in parts]))
        times = self.table.times
        return result if times is None else with_column(result, TIME, times, first=True)

    def _named(
        self,
        robot: Robot,
        compute: Callable[..., Table],
        piece: list[Array],
        start: int,
        error: ClosedLoopError,
    ) -> ClosedLoopError:
        """The same error with its row: the first one that fails alone."""
        if self.single:
            return error
        for k in range(len(piece[0])):
            try:
                compute(*(array[k : k + 1] for array in piece))
            except ClosedLoopError as alone:
                if isinstance(alone, ClosureNotFound):
                    alone.sample = None  # of one; the file's row says it
                place = self.table.place(start + k, columns_of(robot, alone))
                return FileProblem(f"{place}: {alone}")
        return error


def columns_of(robot: Robot, error: ClosedLoopError) -> list[str]:
    """Independent joints of the submechanism that an error is about."""
    name = getattr(error, "submechanism", "")
    for entry in robot.mechanism.entries:
        if entry.name == name:
            return list(entry.independent)
    return []


def read_states(robot: Robot, options: argparse.Namespace, kinds: Sequence[str]) -> States:
    """The states of a command line."""
    check_output(options)
    given = {kind: getattr(options, _OPTIONS[kind]) for kind in kinds}
    if options.input is not None:
        words = [f"--{_OPTIONS[kind]}" for kind, value in given.items() if value is not None]
        if words:
            raise UsageError(f"give {words[0]} or --input, not both")
        return _from_file(robot, read_recording(options.input, options.topic).table, kinds)
    vectors = {}
    for kind, words in given.items():
        names = coordinates(robot, _joints(robot, kind), kind)
        default = reference(robot) if kind == POSITION else np.zeros(len(names))
        option = f"--{_OPTIONS[kind]}"
        vectors[kind] = parse_vector(words or [], names, default, option)[None]
    warn_of_limits(robot, vectors[POSITION], None)
    return States(vectors, Table((), np.zeros((1, 0))), single=True)


def _joints(robot: Robot, kind: str) -> tuple[str, ...]:
    return robot.names.actuator if kind == EFFORT else robot.names.independent


def _from_file(robot: Robot, table: Table, kinds: Sequence[str]) -> States:
    check_table(robot, table)
    vectors = {}
    for kind in kinds:
        names = coordinates(robot, _joints(robot, kind), kind)
        found = table.need(names, kind) if kind == POSITION else table.get(names, kind)
        vectors[kind] = np.zeros((len(table.values), len(names))) if found is None else found
    warn_of_limits(robot, vectors[POSITION], table)
    return States(vectors, table, single=False)


def check_table(robot: Robot, table: Table) -> None:
    """Refuse unknown columns, empty files and numbers that are not finite or beyond all reason."""
    names = robot.names.spanning
    parts = [c for kind in (POSITION, VELOCITY) for c in coordinates(robot, names, kind)]
    table.check_columns(list(dict.fromkeys([*names, *parts])))
    if not len(table.values):
        raise FileProblem(f"{table.source}: no rows below the column names")
    table.check_numbers(MAX_ANGLE)


def warn_of_limits(robot: Robot, y: Array, table: Table | None) -> None:
    """Say on standard error which position is the first outside the joint limits."""
    mech = robot.mechanism
    joints = [mech.joint_name(b) for b in mech.scalar_joints(mech.independent)]
    found = Limits.of(mech.tree, joints).outside(y[:, mech.flat[0]])
    if found is not None:
        place = f"{table.place(found[0])}: " if table else ""
        print(f"warning: {place}{found[2]}, the limits of the URDF", file=sys.stderr)


def reference(robot: Robot) -> Array:
    """(n_y,) independent positions of the reference configuration."""
    return reference_independent(robot.mechanism, robot.branches)


def parse_vector(words: Sequence[str], names: Sequence[str], default: Array, what: str) -> Array:
    """Numbers from ``name=value`` words or from a list; commas separate as well as spaces.

    Raises:
        UsageError: unknown or repeated name, wrong count, not a number.
    """
    items = [item for word in words for item in word.replace(",", " ").split()]
    if not items:
        return default.copy()
    if not any("=" in item for item in items):
        if len(items) != len(names):
            raise UsageError(
                f"{what}: {len(items)} values for {len(names)} joints ({', '.join(names)})"
            )
        return np.array([_number(item, what) for item in items])
    result, seen = default.copy(), set()
    for item in items:
        name, equals, value = item.partition("=")
        if not equals:
            raise UsageError(f"{what}: '{item}' has no name; write all as name=value, or none")
        if name not in names:
            raise UsageError(f"{what}: no joint '{name}' here; {did_you_mean(name, names)}")
        if name in seen:
            raise UsageError(f"{what}: '{name}' is given twice")
        seen.add(name)
        result[names.index(name)] = _number(value, f"{what} {name}")
    return result


def _number(text: str, what: str) -> float:
    try:
        value = real(text)
    except ValueError:
        raise UsageError(f"{what}: '{text}' is not a number") from None
    if not np.isfinite(value):
        raise UsageError(f"{what}: '{text}' is not finite")
    if abs(value) > MAX_ANGLE:
        raise UsageError(f"{what}: {text} is beyond {MAX_ANGLE:g}; units are SI")
    return value


def answer(options: argparse.Namespace, kinds: Sequence[str], compute: Callable[..., Table]) -> int:
    """Load, read, write the result of ``compute(robot, *vectors)`` as the command line says."""
    robot = load_robot(options)
    states = read_states(robot, options, kinds)
    result = states.each(robot, partial(compute, robot))
    write(result, options.output, options.format, single=states.single)
    return 0
