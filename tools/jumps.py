"""``python -m tools.jumps [--count N] [ROBOT ...]``: does any call ever change the branch?

A robot is called at random positions in a row, half of them outside a limit of one joint by up to a
fifth of its range, so that every call starts from an unrelated solution. A second robot of the same
files whose loops are all numerical (where they are anyway: the same robot) answers the same
positions in batches, which know no history: wherever both answer they must say the same, and loops
must be closed. One position in a thousand is also reached by certified steps from the known
solutions. How far it is goes to stderr, once a minute.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass

import numpy as np

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.closure.continuation import Solution
from closed_loop_dynamics.shipped import shipped_robots

#: Two answers differ when they do by more, and a loop is open [rad or m]. Next to a singularity
#: both methods have half of the digits.
SAME, CLOSED = 1e-6, 1e-8
#: How far outside its limits a joint is, at most, as a share of its range.
OUTSIDE = 0.2
#: Positions of a batch; one of them is also reached by certified steps.
BLOCK = 1000
#: From one report of how far it is to the next [s].
REPORTED = 60.0


@dataclass
class Outcome:
    """Of one robot.

    Attributes:
        answered, refused: by the robot itself; one_sided: refused by one of the two.
        differ: positions at which two answers were given; open: residuals that are not small.
        certified: positions that were reached by certified steps; wrong: and turned out different.
    """

    answered: int = 0
    refused: int = 0
    one_sided: int = 0
    differ: int = 0
    open: int = 0
    certified: int = 0
    wrong: int = 0

    def __str__(self) -> str:
        return (
            f"{self.answered} answered, {self.refused} refused ({self.one_sided} by one method "
            f"only), {self.differ} differ, {self.open} open, {self.wrong} of {self.certified} "
            "certified ones wrong"
        )


def campaign(name: str, count: int, seed: int = 1) -> Outcome:
    """Call the shipped robot at ``count`` positions."""
    about = shipped_robots()[name]
    robot, other = (
        cld.load(
            about.urdf,
            about.submechanisms,
            floating_base=about.floating,
            solver=solver,
            prepare=("positions",),
        )
        for solver in (None, "numerical")
    )
    rng, outcome, began = np.random.default_rng(seed), Outcome(), time.perf_counter()
    reported = began
    for start in range(0, count, BLOCK):
        _compare(robot, other, _positions(robot, rng, min(BLOCK, count - start)), outcome)
        now, done = time.perf_counter(), min(start + BLOCK, count)
        if now - reported >= REPORTED:
            left = (now - began) * (count / done - 1)
            print(f"{name}: {done} of {count}, {outcome}; {left:.0f} s left", file=sys.stderr)
            reported = now
    return outcome


def _compare(robot: cld.Robot, other: cld.Robot, Y: Array, outcome: Outcome) -> None:
    """Adds what both say at the positions ``Y``, and certified steps at the first answered one."""
    here, residuals = _one_by_one(robot, Y)
    answered = ~np.isnan(residuals)
    there = np.full_like(here, np.nan)  # the same robot refuses the same positions: once is enough
    asked = answered | robot.programs.has_closed_forms
    there[asked] = _at_once(other, Y[asked])
    both = ~np.isnan(there[:, 0])
    outcome.answered += int(answered.sum())
    outcome.refused += int((~answered).sum())
    outcome.open += int((~(residuals[answered] <= CLOSED)).sum())
    outcome.one_sided += int((answered != both).sum())
    both &= answered
    outcome.differ += int((~(np.abs(here - there)[both] <= SAME)).any(axis=1).sum())
    for k in np.flatnonzero(answered)[:1]:
        known = _certified(robot, Y[k])
        if known is not None:
            at = [robot.mechanism.q.at[b] for b in known]
            outcome.certified += 1
            outcome.wrong += not np.allclose(here[k][at], list(known.values()), atol=SAME)


def _positions(robot: cld.Robot, rng: np.random.Generator, count: int) -> Array:
    """(count, n_y) within the limits, or with one joint outside of them."""
    mech = robot.mechanism
    scalar = mech.scalar_joints(mech.independent)
    joints, at = [mech.joint(b) for b in scalar], np.array(mech.y.slots(scalar))
    low = np.array([max(joint.lower, -np.pi) for joint in joints])
    high = np.array([min(joint.upper, np.pi) for joint in joints])
    Y = np.tile(robot.random_independent(rng), (count, 1))  # a free base moves no loop
    Y[:, at] = rng.uniform(low, high, (count, len(at)))
    j, rows = rng.integers(len(at), size=count), np.arange(count)
    beyond = OUTSIDE * rng.random(count) * (high - low)[j]
    outside = np.where(rng.random(count) < 0.5, high[j] + beyond, low[j] - beyond)
    Y[rows, at[j]] = np.where(rng.random(count) < 0.5, outside, Y[rows, at[j]])
    return Y


def _one_by_one(robot: cld.Robot, Y: Array) -> tuple[Array, Array]:
    """(N, n_q) and (N,): q and the residual at every position, NaN where it is refused."""
    q, residual = np.full((len(Y), robot.mechanism.n_q), np.nan), np.full(len(Y), np.nan)
    for k, y in enumerate(Y):
        try:
            found = robot.programs.named("positions", None, y)
        except cld.ClosureNotFound:
            continue
        q[k], residual[k] = found["q"], found["residual"]
    return q, residual


def _at_once(robot: cld.Robot, Y: Array) -> Array:
    """(N, n_q) by batches: as far as the next position that is refused, then beyond it."""
    q = np.full((len(Y), robot.mechanism.n_q), np.nan)
    rest = np.arange(len(Y))
    while len(rest):
        part, rest = rest, rest[:0]
        try:
            q[part] = robot.programs.named("positions", None, Y[part])["q"]
        except cld.ClosureNotFound as error:
            assert error.sample is not None
            part, rest = np.split(part, [error.sample])
            rest = rest[1:]
            q[part] = robot.programs.named("positions", None, Y[part])["q"]
    return q


def _certified(robot: cld.Robot, y: Array) -> dict[int, float] | None:
    """Body -> position of its joint, for all joints of loops; None: no certified way."""
    mech = robot.mechanism
    found: dict[int, float] = {}
    try:
        for c, branch in robot.branches.items():
            p = y[[mech.y.at[b] for b in mech.components[c].independent]]
            q = branch.local_q(Solution(p, branch.rescue(p), np.zeros((0, 0))))
            found.update(zip(mech.components[c].joints, q.tolist(), strict=True))
    except cld.ClosureNotFound:
        return None
    return found


def main() -> None:
    """Run the campaign, a line per robot; exit code 1 if a branch has changed or a loop is open."""
    parser = argparse.ArgumentParser(prog="python -m tools.jumps", description=__doc__)
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help="default: all shipped ones")
    parser.add_argument("--count", type=int, default=1_000_000, help="positions of each robot")
    options = parser.parse_args()
    bad = False
    for name in options.robots or shipped_robots():
        began = time.perf_counter()
        found = campaign(name, options.count)
        bad |= bool(found.differ or found.open or found.wrong)
        print(f"{name:22s} {found}; {time.perf_counter() - began:.0f} s", flush=True)
    sys.exit(bad)


if __name__ == "__main__":
    main()
