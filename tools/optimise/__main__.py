"""Solve both motions; write their tables and pictures for docs/optimisation.md."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from closed_loop_dynamics.cli.tables import csv_text
from closed_loop_dynamics.robot import load

from .motions import point_to_point, squat
from .pictures import draw_plan

MOTIONS = {"squat": ("rh5_leg", squat), "point_to_point": ("crank_leg", point_to_point)}


def main(arguments: list[str] | None = None) -> int:
    """Into docs/optimisation, or another folder."""
    parser = argparse.ArgumentParser(prog="python -m tools.optimise", description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("docs/optimisation"))
    out = parser.parse_args(arguments).out
    out.mkdir(parents=True, exist_ok=True)
    for name, (robot_name, solve) in MOTIONS.items():
        robot, began = load(robot_name), time.perf_counter()
        plan = solve(robot)
        took = time.perf_counter() - began
        (out / f"{name}.csv").write_text(csv_text(plan.table(robot)), encoding="utf-8")
        draw_plan(robot, plan, out / f"{name}.png")
        print(
            f"{name}: {plan.times[-1]:.3f} s of motion, cost {plan.cost:.4g}, "
            f"{plan.iterations} iterations, {took:.1f} s"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
