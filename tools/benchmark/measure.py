"""All measurements of one robot: check, time in turns, compare."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.robot import Robot

from ..oracles.pinocchio_tree import build_model
from .cases import CLOSED_FORM, HYBRID, Bar, Case
from .checks import Check, cross_checks, variant_checks
from .derivatives import (
    FORWARD,
    INVERSE,
    OF_ABA,
    OF_CONSTRAINED,
    OF_RNEA,
    derivative_check,
    derivative_contenders,
    derivative_instructions,
)
from .loading import load_times
from .osim import (
    BARE_TREE,
    BY_PROJECTION,
    OSIM,
    OSIM_BARE,
    osim_check,
    osim_contenders,
    osim_instructions,
)
from .pinocchio_side import MANY_OF_ABA, MANY_OF_RNEA, PinocchioSide
from .states import PATTERNS, States, make_states
from .timing import (
    MANY,
    TWO_THREADS,
    Contender,
    at_once,
    many,
    numbers_of_threads,
    row_by_row,
    take_turns,
)

BATCHES = tuple(
    f"{what} dynamics, batch of {count}"
    for count in (1000, MANY)
    for what in ("inverse", "forward")
)
#: Rows of the table: our contender, and whom it is compared with: Pinocchio, or us on one thread.
PAIRS = (
    ("positions: state(y)", "forwardKinematics(q)"),
    ("positions: bare program", "forwardKinematics(q)"),
    ("state(y, yd, ydd)", "forwardKinematics(q, v, a)"),
    ("inverse dynamics", "rnea"),
    ("forward dynamics", "constraintDynamics"),
    ("forward dynamics", "lcaba, 1 iteration"),
    ("forward dynamics", "lcaba, converged"),
    ("forward dynamics", "aba"),
    ("forward dynamics, projection", "constraintDynamics"),
    ("forward dynamics, lagrange", "constraintDynamics"),
    (INVERSE, OF_RNEA),
    (FORWARD, OF_CONSTRAINED),
    (FORWARD, OF_ABA),
    (OSIM_BARE, BY_PROJECTION),
    (OSIM, BARE_TREE),
    ("inverse dynamics, batch of 1000", "rneaInParallel"),
    ("forward dynamics, batch of 1000", "abaInParallel"),
    *((f"{each}, {TWO_THREADS}", each) for each in (*BATCHES, MANY_OF_RNEA, MANY_OF_ABA)),
    *(
        (f"{ours}, {variant}", theirs)
        for variant in (CLOSED_FORM, HYBRID)
        for ours, theirs in (
            ("state(y, yd, ydd)", "forwardKinematics(q, v, a)"),
            ("inverse dynamics", "rnea"),
            ("forward dynamics", "constraintDynamics"),
        )
    ),
    (f"inverse dynamics, batch of 1000, {CLOSED_FORM}", "rneaInParallel"),
    (f"forward dynamics, batch of 1000, {CLOSED_FORM}", "abaInParallel"),
)
EMPTY = "an empty Python function"


@dataclass(frozen=True)
class Row:
    """One line of the table: ratio = Pinocchio's time / ours; times in seconds per evaluation."""

    what: str
    pattern: str
    seconds: float
    against: str | None = None
    pinocchio: float | None = None
    bar: Bar | None = None

    @property
    def ratio(self) -> float | None:
        """How many times faster ours is."""
        return None if self.pinocchio is None else self.pinocchio / self.seconds

    @property
    def met(self) -> bool | None:
        """The bar is reached; None without one."""
        return None if self.bar is None else self.bar.met(self.ratio, self.seconds)


@dataclass
class Result:
    """All of one robot."""

    case: Case
    size: str
    rows: list[Row] = field(default_factory=list)
    checks: dict[str, list[Check]] = field(default_factory=dict)
    iterations: dict[str, float] = field(default_factory=dict)


def progress(text: str) -> None:
    """A line for the impatient."""
    print(text, file=sys.stderr, flush=True)


def measure(case: Case, quick: bool, sweeps: int) -> Result:
    """Check and time one robot."""
    progress(f"{case.title}: loading")
    robot = case.load()
    variants = case.variants()
    other = PinocchioSide(case.urdf, robot)
    size = f"n = {robot.n}, m = {robot.m}, {len(other.cuts)} cuts, loops {case.solver}"
    size += f"; {osim_instructions(robot)}; {derivative_instructions(robot)}"
    result = Result(case, size)
    for pattern in PATTERNS:
        progress(f"{case.title}: {pattern} states, checking")
        states = make_states(robot, pattern)
        tree_forces = other.inverse(states)
        tau = other.forces(states, tree_forces)
        result.iterations[pattern] = states.iterations
        result.checks[pattern] = cross_checks(robot, other, states, tree_forces, tau)
        result.checks[pattern] += variant_checks(variants, states)
        result.checks[pattern] += [osim_check(robot, states), derivative_check(robot, states)]
        progress(f"{case.title}: {pattern} states, {sweeps} sweeps over {len(states.y)} states")
        contenders = [*_ours(robot, states), *other.contenders(states, tau)]
        contenders += osim_contenders(robot, other, states)
        contenders += derivative_contenders(robot, other, states, tau)
        for name, variant in variants.items():
            contenders += _ours_with(variant, name, states)
        take_turns(contenders, sweeps)
        # The aims speak of the warm-started case.
        bars = case.bars if pattern == PATTERNS[0] else ()
        times = {contender.name: contender.seconds for contender in contenders}
        result.rows += _compare(times, pattern, bars)
    progress(f"{case.title}: loading in fresh processes")
    result.rows += _load_rows(case, quick)
    return result


def _ours_with(robot: Robot, name: str, states: States) -> list[Contender]:
    """The calls that the papers compare, of a robot whose loops are solved otherwise."""
    compared = {ours for ours, _ in PAIRS}
    chosen = []
    for contender in _ours(robot, states):
        label = f"{contender.name}, {name}"
        if label in compared:
            chosen.append(replace(contender, name=label))
    return chosen


def _ours(robot: Robot, states: States) -> list[Contender]:
    y, yd, ydd, tau_u = states.y, states.yd, states.ydd, states.tau_u
    slow = 10

    def by(method: str) -> Callable[..., Array]:
        return lambda y, yd, tau: robot.forward_dynamics(y, yd, tau, method=method)

    found = [
        row_by_row(EMPTY, lambda y, yd, ydd: None, y, yd, ydd),
        row_by_row("positions: state(y)", robot.state, y),
        row_by_row("positions: bare program", robot.programs.program("positions"), y),
        row_by_row("state(y, yd, ydd)", robot.state, y, yd, ydd),
        row_by_row("inverse dynamics", robot.inverse_dynamics, y, yd, ydd),
        row_by_row("forward dynamics", robot.forward_dynamics, y, yd, tau_u),
        row_by_row("forward dynamics, projection", by("projection"), y, yd, tau_u, every=slow),
        row_by_row("forward dynamics, lagrange", by("lagrange"), y, yd, tau_u, every=slow),
    ]
    for words, threads in numbers_of_threads().items():
        inverse = partial(robot.inverse_dynamics, threads=threads)
        forward = partial(robot.forward_dynamics, threads=threads)
        for k, rows in enumerate(((y, yd, ydd), (y, yd, tau_u))):
            function = (inverse, forward)[k]
            found.append(at_once(f"{BATCHES[k]}{words}", function, *rows))
            found.append(at_once(f"{BATCHES[2 + k]}{words}", function, *many(*rows), calls=1))
    return found


def _compare(times: dict[str, float], pattern: str, bars: Sequence[Bar]) -> list[Row]:
    rows, open_bars = [Row(EMPTY, pattern, times[EMPTY])], {bar.what: bar for bar in bars}
    for ours, theirs in PAIRS:
        if ours in times and theirs in times:
            bar = open_bars.pop(ours, None)  # of the first pair
            rows.append(Row(ours, pattern, times[ours], theirs, times[theirs], bar))
    return rows


def _load_rows(case: Case, quick: bool) -> list[Row]:
    times = load_times(case, cold=1 if quick else 2, warm=1 if quick else 3)
    best = float("inf")
    for _ in range(3):
        start = perf_counter()
        build_model(case.urdf, case.floating)
        best = min(best, perf_counter() - start)
    bars = {bar.what: bar for bar in case.bars}
    compared = {"load, cold", "load, warm"}
    return [
        Row(what, "load", seconds, "buildModelFromUrdf", best, bars.get(what))
        if what in compared
        else Row(what, "load", seconds, bar=bars.get(what))
        for what, seconds in times.items()
    ]
