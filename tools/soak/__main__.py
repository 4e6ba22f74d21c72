"""``python -m tools.soak``: random faults on real nodes; the rules are in docs/soak.md.

Ends with 1 if a rule was broken. Several campaigns may run at once, in different ROS domains.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from closed_loop_dynamics.ros.domains import reserve_domain

from .faults import FOLLOWED, KINDS, REAL, SIMULATED, Fault, draw, one, possible
from .report import Finding, keep, kept, page, tables

ROBOTS = "rh5_leg rh5_manus six_ups"
#: The robot of config/ros2_control_jtc.yaml. For the others feedback of each actuator by itself,
#: with the delay of a network, is no controller: their actuators move each other too easily.
RECIPE = "rh5_leg"
WIRINGS: dict[str, tuple[str, ...]] = {
    "real": (REAL,),
    "simulated": (SIMULATED,),
    "jtc": (FOLLOWED,),
    "all": (REAL, SIMULATED, FOLLOWED),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a campaign; returns the exit status."""
    options = _parser().parse_args(arguments)
    if options.page:
        print(page(kept(options.page)), end="")
        return 0
    if importlib.util.find_spec("rclpy") is None:
        print("rclpy is not installed (extra `ros`)", file=sys.stderr)
        return 2
    folder = options.folder or Path(tempfile.mkdtemp(prefix="closed_loop_soak_"))
    print(f"Logs, verdicts and recordings of failures: {folder}", flush=True)
    wirings = WIRINGS[options.wiring]
    blocks = [
        (name, wiring)
        for name in options.robots.split()
        for wiring in wirings
        if wiring != FOLLOWED or name == RECIPE
    ]
    share = -(-options.faults // len(blocks))
    findings: list[Finding] = []
    if options.domain is None:
        options.domain, _reserved = reserve_domain()
    for k, (robot, wiring) in enumerate(blocks):
        wanted = [kind for kind in possible(wiring) if kind in (options.kinds or KINDS)]
        random = np.random.default_rng([options.seed, k])
        if not wanted:
            continue
        place = folder / f"{robot} {wiring}".replace(" ", "_")
        place.mkdir(parents=True, exist_ok=True)
        findings += _block(robot, wiring, place, random, tuple(wanted), share, options)
    print("\n".join(tables(findings)))
    return 1 if any(finding.failures for finding in findings) else 0


def _block(
    robot: str,
    wiring: str,
    folder: Path,
    random: np.random.Generator,
    kinds: tuple[str, ...],
    count: int,
    options: argparse.Namespace,
) -> Iterator[Finding]:
    """Faults on one robot; where nothing goes on, the nodes are started anew."""
    from .campaign import Campaign, Verdict
    from .rig import Rig, RigError

    began, number = time.monotonic(), 0
    while number < count:
        try:
            with Rig(robot, wiring, folder, options.domain) as rig:
                campaign = Campaign(rig, folder)
                while number < count:
                    fault = _next(random, kinds, number, rig.motion, options.each)
                    number += 1
                    verdict = campaign.suffer(number, fault)
                    yield _told(Finding.of(robot, wiring, verdict), folder, began)
        except RigError as error:
            if not error.args or not isinstance(error.args[0], Verdict):
                raise
            yield _told(Finding.of(robot, wiring, error.args[0]), folder, began)


def _next(
    random: np.random.Generator, kinds: tuple[str, ...], number: int, motion: float, each: bool
) -> Fault:
    if each:
        return one(random, kinds[number % len(kinds)], motion)
    return draw(random, kinds, motion)


def _told(finding: Finding, folder: Path, began: float) -> Finding:
    keep(finding, folder)
    print(f"{time.monotonic() - began:7.1f} s  {finding.line}", flush=True)
    return finding


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tools.soak", description=__doc__)
    parser.add_argument("--faults", type=int, default=60, help="in all (default 60)")
    parser.add_argument("--robots", default=ROBOTS, help=f"by name (default '{ROBOTS}')")
    parser.add_argument(
        "--wiring",
        choices=tuple(WIRINGS),
        default="all",
        help="efforts in real or simulated time, or a joint_trajectory_controller (default all)",
    )
    parser.add_argument("--seed", type=int, default=1, help="of the faults (default 1)")
    parser.add_argument(
        "--kinds", action="append", choices=tuple(KINDS), help="only this (repeat for several)"
    )
    parser.add_argument("--each", action="store_true", help="the kinds in turns, not by lot")
    parser.add_argument("--folder", type=Path, help="for logs, verdicts and recordings")
    parser.add_argument("--domain", type=int, help="of ROS (default: one that is free)")
    parser.add_argument(
        "--page", type=Path, nargs="+", metavar="FOLDER", help="print docs/soak.md of these instead"
    )
    return parser


if __name__ == "__main__":
    raise SystemExit(main())
