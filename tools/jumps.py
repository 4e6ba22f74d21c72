"""``python -m tools.jumps [--count N] [ROBOT ...]``: does any call ever change the branch?

A robot is called at random positions in a row, half of them outside a limit of one joint by up to a
fifth of its range, so that every call starts from an unrelated solution. A second robot of the same
files whose loops are all numerical, or where they are anyway the same robot with a history of its
own, is called at the same positions: wherever both answer they must say the same, and loops must be
closed. One position in a thousand is also reached by certified steps from the known solutions.
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
#: One in so many is also reached by certified steps.
CERTIFIED = 1000


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


def campaign(name: str, count: int, seed: int = 1) -> Outcome:
    """Call the shipped robot at ``count`` positions."""
    about = shipped_robots()[name]
    robot, other = (
        cld.load(
            about.urdf,
            about.submechanisms,
            floating_base=about.floating,
            solver=solver,
            prepare=("state",),
        )
        for solver in (None, "numerical")
    )
    rng, outcome = np.random.default_rng(seed), Outcome()
    for k in range(count):
        y = _position(robot, rng)
        here, there = _answer(robot, y), _answer(other, y)
        if here is None:
            outcome.refused += 1
        else:
            outcome.answered += 1
            outcome.open += not here.residual <= CLOSED
        if (here is None) != (there is None):
            outcome.one_sided += 1
        elif here is not None and there is not None:
            outcome.differ += not np.allclose(here.q, there.q, rtol=0.0, atol=SAME)
        if k % CERTIFIED == 0 and here is not None:
            known = _certified(robot, y)
            outcome.certified += known is not None
            if known is not None:
                at = [robot.mechanism.q.at[b] for b in known]
                outcome.wrong += not np.allclose(here.q[at], list(known.values()), atol=SAME)
    return outcome


def _position(robot: cld.Robot, rng: np.random.Generator) -> Array:
    """(n_y,) within the limits, or with one joint outside of them."""
    mech = robot.mechanism
    scalar = mech.scalar_joints(mech.independent)
    joints, at = [mech.joint(b) for b in scalar], mech.y.slots(scalar)
    low = np.array([max(joint.lower, -np.pi) for joint in joints])
    high = np.array([min(joint.upper, np.pi) for joint in joints])
    y = robot.random_independent(rng)
    y[at] = rng.uniform(low, high)
    if rng.random() < 0.5:
        j = int(rng.integers(len(at)))
        beyond = OUTSIDE * rng.random() * (high[j] - low[j])
        y[at[j]] = high[j] + beyond if rng.random() < 0.5 else low[j] - beyond
    return y


def _answer(robot: cld.Robot, y: Array) -> cld.State | None:
    try:
        return robot.state(y)
    except cld.ClosureNotFound:
        return None


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
        print(
            f"{name:22s} {found.answered} answered, {found.refused} refused "
            f"({found.one_sided} by one method only), {found.differ} differ, {found.open} open, "
            f"{found.wrong} of {found.certified} certified ones wrong; "
            f"{time.perf_counter() - began:.0f} s",
            flush=True,
        )
    sys.exit(bad)


if __name__ == "__main__":
    main()
