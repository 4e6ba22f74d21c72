"""The shipped parallel manipulators, each loaded once, and motions of their platforms."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import closed_loop_dynamics as cld
from closed_loop_dynamics.task_space import TaskSpace
from tools.oracles.oracle import Oracle

Array = NDArray[np.float64]
ROOT = Path(__file__).resolve().parents[2]
NAMES = ("irsbot2", "delta", "six_ups")
#: How far from the reference the platform is sent: x, y, z [m], angles [rad].
RANGES = {
    "irsbot2": (0.12, 0.08),
    "delta": (0.08, 0.08, 0.06),
    "six_ups": (0.03, 0.03, 0.03, 0.2, 0.2, 0.2),
}


def files(name: str) -> tuple[Path, Path]:
    """URDF and submechanism file."""
    return ROOT / "urdf" / f"{name}.urdf", ROOT / "config" / f"{name}.yaml"


@cache
def robot_of(name: str) -> cld.Robot:
    """The robot as one numerical submechanism."""
    return cld.load(*files(name), solver="numerical")


@cache
def task_of(name: str, scheme: str = "nested") -> TaskSpace:
    """The robot in task space."""
    return robot_of(name).task_space(scheme)


@cache
def oracle_of(name: str) -> Oracle:
    """The robot in Pinocchio: spanning tree and loops, independent of this package."""
    loops = []
    if name == "six_ups":  # its file leaves the loops to the type
        for k in range(6):
            leg = {"cut_joint": f"leg_{k}", "predecessor_body": f"leg_{k}_rod"}
            loops.append({**leg, "successor_body": "platform", "cut": "spherical"})
    return Oracle(*files(name), names=robot_of(name).names.spanning, loops=loops)


@dataclass(frozen=True)
class PlatformMotions:
    """Random motions of a platform, (N, m) each."""

    x: Array
    xd: Array
    xdd: Array


@cache
def motions_of(name: str, count: int = 12) -> PlatformMotions:
    """Random motions around the reference, all moving and accelerating."""
    rng = np.random.default_rng(5)
    m = len(RANGES[name])
    x = task_of(name).reference + rng.uniform(-1.0, 1.0, (count, m)) * RANGES[name]
    return PlatformMotions(x, rng.normal(size=(count, m)), 5.0 * rng.normal(size=(count, m)))
