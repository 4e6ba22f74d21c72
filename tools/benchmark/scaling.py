"""How costs grow with the length of a chain, or with the number of loops.

Chains with rotors are those of Chignoli et al., Figs. 11 and 13; loops are lambda mechanisms.

Every method is traced and compiled alike (see ``dense.py``), so the number of instructions tells
the cost without noise; times are given beside it. The exponent is the slope of cost over length on
logarithmic axes, fitted over the longer half of the chains.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.quantities.operational_space import osim_program
from closed_loop_dynamics.robot import Robot, load

from ..robots.chains import belt_chain, geared_chain
from ..robots.loop_family import loops_in_series, loops_side_by_side
from . import dense
from .checks import Check
from .timing import Contender, row_by_row, take_turns

CHAINS: dict[str, Callable[[int], tuple[str, str]]] = {
    "geared rotors": geared_chain,
    "belt pairs": belt_chain,
}
LENGTHS = (2, 4, 6, 8, 12, 16, 20, 24)
LOOPS: dict[str, Callable[[int], tuple[str, str]]] = {
    "loops in series": loops_in_series,
    "loops side by side": loops_side_by_side,
}
LOOP_COUNTS = (1, 2, 3, 4, 6, 8, 12)
FORWARD = {
    "cluster ABA": "forward_dynamics",
    "projection": dense.PROJECTION,
    "Lagrange": dense.LAGRANGE,
}
OSIM = ("cluster EFPA", "projection")
OURS = {"forward dynamics": "cluster ABA", "inverse OSIM": "cluster EFPA"}
STATES = 100


@dataclass(frozen=True, eq=False)
class Growth:
    """Costs of one method over the lengths.

    Attributes:
        instructions: none for other libraries.
        seconds: None where nothing was timed.
    """

    chain: str
    what: str
    method: str
    lengths: tuple[int, ...]
    instructions: tuple[int, ...]
    seconds: tuple[float, ...] | None = None

    @property
    def exponent(self) -> float:
        """Of the number of instructions (where there are some)."""
        return fitted_exponent(self.lengths, self.instructions)

    @property
    def time_exponent(self) -> float | None:
        """Of the time."""
        return None if self.seconds is None else fitted_exponent(self.lengths, self.seconds)


def fitted_exponent(lengths: Sequence[int], costs: Sequence[float]) -> float:
    """Slope of log cost over log length, least squares over the longer half."""
    half = len(lengths) // 2
    x, y = np.log(np.asarray(lengths[half:], dtype=float)), np.log(np.asarray(costs[half:]))
    return float(np.polyfit(x, y, 1)[0])


def programs(robot: Robot) -> dict[tuple[str, str], str]:
    """(what, method) -> program: forward dynamics, and the inverse OSIM of the last link."""
    dense.add_forward_dynamics(robot)
    tip = [robot.mechanism.tree.bodies[robot.mechanism.independent[-1]].link]
    named = {("forward dynamics", method): name for method, name in FORWARD.items()}
    by_efpa, by_projection = osim_program(robot.programs, tip), dense.add_osim(robot, tip)
    osim = zip(OSIM, (by_efpa, by_projection), strict=True)
    return named | {("inverse OSIM", method): name for method, name in osim}


def grow(
    chain: str, lengths: Sequence[int] = LENGTHS, sweeps: int = 0
) -> tuple[list[Growth], list[Check]]:
    """Costs of all methods on one kind of chain, and how far their results differ.

    Without ``sweeps`` nothing is run: instructions only, no checks.
    """
    counts: dict[tuple[str, str], list[int]] = {}
    seconds: dict[tuple[str, str], list[float]] = {}
    checks: list[Check] = []
    for length in lengths:
        files = (CHAINS | LOOPS)[chain](length)
        robot = load(*files)
        named = programs(robot)
        for key, name in named.items():
            counts.setdefault(key, []).append(dense.instruction_count(robot, name))
        if sweeps:
            others: dict[tuple[str, str], Contender] = {}
            if chain in LOOPS:
                others, found = _others(files, robot)
                checks += found
            times, error = _timed(robot, named, sweeps, others)
            checks.append(Check(f"{chain}, {length}: methods agree", error, 1e-8))
            for key, value in times.items():
                seconds.setdefault(key, []).append(value)
    growths = [
        Growth(
            chain,
            *key,
            tuple(lengths),
            tuple(counts.get(key, ())),
            tuple(seconds[key]) if sweeps else None,
        )
        for key in dict.fromkeys([*counts, *seconds])
    ]
    return growths, checks


def _others(
    files: tuple[str, str], robot: Robot
) -> tuple[dict[tuple[str, str], Contender], list[Check]]:
    """Other libraries that know loops."""
    from .outsiders import outsiders

    found, checks = outsiders(files, robot, STATES)
    return {("forward dynamics", name): contender for name, contender in found.items()}, checks


def _timed(
    robot: Robot,
    named: dict[tuple[str, str], str],
    sweeps: int,
    others: dict[tuple[str, str], Contender],
) -> tuple[dict[tuple[str, str], float], float]:
    rng = np.random.default_rng(1)
    y, yd = robot.random_independent(rng, STATES), rng.normal(size=(STATES, robot.m))
    tau = robot.inverse_dynamics(y, yd, rng.normal(size=(STATES, robot.m)))
    inputs: dict[str, tuple[Array, ...]] = {"forward dynamics": (y, yd, tau), "inverse OSIM": (y,)}
    contenders, results = dict(others), {}
    for key, name in named.items():
        program = robot.programs.program(name)
        contenders[key] = row_by_row(name, program, *inputs[key[0]])
        results[key] = np.array([program(*call) for call in contenders[key].chunks[0][:5]])
    take_turns(list(contenders.values()), sweeps)
    error = 0.0
    for (what, _), values in results.items():
        reference = results[what, OURS[what]]
        error = max(error, float(np.abs(values - reference).max() / np.abs(reference).max()))
    return {key: contender.seconds for key, contender in contenders.items()}, error
