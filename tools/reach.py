"""``python -m tools.reach [--count N] [--seed N] [ROBOT ...]``: how many reachable poses are found.

Targets are poses of the robot's end links at random positions within all limits, wherever the loops
close, of one of them or of all at once; every search starts from the reference configuration and
knows nothing of them. Campaigns of several seeds add up.
The first positions whose poses were missed are printed; exit code 1 where too many were.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field

import numpy as np

import closed_loop_dynamics as cld
from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.model.joint_limits import Limits
from closed_loop_dynamics.shipped import shipped_robots

#: A link is at its target when it misses by no more [m, rad].
AT_TARGET = 1e-7
#: The least share of poses to be found, and how many of the missed ones are printed.
ENOUGH, TOLD = 0.995, 5


@dataclass
class Reached:
    """What came of a campaign.

    Attributes:
        tried, found: targets; beyond: solutions outside the limits; off: links not at their target.
        missed: the positions whose poses were not found.
        seconds: of CPU for all searches.
    """

    tried: int = 0
    found: int = 0
    beyond: int = 0
    off: int = 0
    missed: list[Array] = field(default_factory=list)
    seconds: float = 0.0


def end_links(robot: cld.Robot) -> list[str]:
    """The platform of a parallel manipulator; else the links after the last independent joints."""
    mech = robot.mechanism
    platforms = [entry.task_space.platform for entry in mech.entries if entry.task_space]
    if platforms:
        return platforms
    inner = {b for i in mech.independent for b in mech.tree.path_to_root(i)[1:]}
    return [mech.tree.bodies[b].link for b in mech.independent if b not in inner]


def within_limits(robot: cld.Robot, y: Array, u: Array) -> bool:
    """Of the independent joints and of the actuators."""
    tree, floating = robot.mechanism.tree, robot.mechanism.floating
    own = Limits.of(tree, robot.names.independent[floating:])
    driven = Limits.of(tree, robot.names.actuator)
    joints = y[7:] if floating else y
    return own.outside(joints[None]) is None and driven.outside(u[None]) is None


def campaign(robot: cld.Robot, count: int, seed: int = 1) -> Reached:
    """Look for ``count`` poses that can be reached."""
    rng, links, result = np.random.default_rng(seed), end_links(robot), Reached()
    while result.tried < count:
        y = robot.random_independent(rng, everywhere=True)
        try:
            if not within_limits(robot, y, robot.state(y).u):
                continue
        except cld.ClosureNotFound:
            continue
        wanted = links if result.tried % 2 else [links[int(rng.integers(len(links)))]]
        targets = {link: robot.pose(link, y) for link in wanted}
        result.tried += 1
        start = time.process_time()
        try:
            found = robot.inverse_kinematics(targets)
        except cld.TargetNotReached:
            result.missed.append(y)
            continue
        finally:
            result.seconds += time.process_time() - start
        result.found += 1
        result.beyond += not within_limits(robot, found, robot.state(found).u)
        off = [np.max(np.abs(robot.pose(link, found) - T)) for link, T in targets.items()]
        result.off += bool(max(off) > AT_TARGET)
    return result


def main() -> None:
    """Run the campaign and print one line per robot."""
    parser = argparse.ArgumentParser(prog="python -m tools.reach", description=__doc__)
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help="default: all shipped ones")
    parser.add_argument("--count", type=int, default=10_000, help="poses (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the poses (default: %(default)s)")
    options = parser.parse_args()
    robots, bad = shipped_robots(), False
    for name in options.robots or robots:
        about = robots[name]
        robot = cld.load(about.urdf, about.submechanisms, floating_base=about.floating, prepare=())
        found = campaign(robot, options.count, options.seed)
        print(
            f"{name:22s} {100.0 * found.found / found.tried:7.2f} % of {found.tried} found, "
            f"{found.beyond} beyond limits, {found.off} off, "
            f"{1e3 * found.seconds / found.tried:.2f} ms of CPU each; "
            f"{', '.join(end_links(robot)[:4])}",
            flush=True,
        )
        for y in found.missed[:TOLD]:
            print("    missed:", " ".join(f"{value:.6g}" for value in y), flush=True)
        bad |= bool(found.beyond or found.off or found.found < ENOUGH * found.tried)
    sys.exit(bad)


if __name__ == "__main__":
    main()
