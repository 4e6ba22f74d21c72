"""The shipped robots, each loaded once, with an oracle that knows all of their loops."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np
import yaml
from scipy.spatial.transform import Rotation

import closed_loop_dynamics as cld
from tools.oracles.files import Array
from tools.oracles.oracle import Oracle
from tools.robots import SHIPPED

from .figures import Motions

#: Joints above which a robot is tested on few motions only.
LARGE = 40


@dataclass(frozen=True, eq=False)
class FrugalMotions(Motions):
    """Motions that need no more than three programs: state, inverse and forward dynamics."""

    @cached_property
    def G(self) -> Array:
        """(N, n, m) loop Jacobians: velocities of the tree for unit velocities."""
        rest, unit = np.zeros(self.robot.m), np.eye(self.robot.m)
        columns = [[self.robot.state(y, axis, rest).qd for axis in unit] for y in self.y]
        return np.swapaxes(np.array(columns), 1, 2)

    @cached_property
    def g(self) -> Array:
        """(N, n) loop biases: accelerations of the tree without those of the independent joints."""
        rest = np.zeros(self.robot.m)
        samples = zip(self.y, self.yd, strict=True)
        return np.array([self.robot.state(y, yd, rest).qdd for y, yd in samples])


def shipped_files(name: str) -> tuple[Path, Path]:
    """Its URDF and its submechanism file."""
    robot = SHIPPED[name]
    return robot.urdf, robot.submechanisms


@cache
def shipped(name: str) -> cld.Robot:
    """The robot as its description says."""
    return cld.load(*SHIPPED[name].generate(), floating_base=SHIPPED[name].floating)


@cache
def shipped_motions(name: str) -> Motions:
    """Random motions within its limits, all joints moving."""
    robot, floating = shipped(name), SHIPPED[name].floating
    urdf, submechanisms = SHIPPED[name].generate()
    oracle = Oracle(
        urdf,
        submechanisms,
        floating,
        names=robot.names.spanning[floating:],
        loops=derived_loops(robot, submechanisms),
    )
    count = 3 if robot.n > LARGE else 20
    return FrugalMotions.random(robot, oracle, count, seed=7, batch=False)


def derived_loops(robot: cld.Robot, submechanisms: str) -> list[dict[str, Any]]:
    """Cuts that the file leaves to the package, in the words of the file."""
    written = {
        loop["predecessor_body"]
        for entry in yaml.safe_load(submechanisms)["submechanisms"]
        for loop in entry.get("loop_constraints", ())
    }
    entries = {id(c.entry): c.entry for c in robot.mechanism.components}.values()
    return [
        _item(loop) for entry in entries for loop in entry.loops if loop.predecessor not in written
    ]


def _item(loop: Any) -> dict[str, Any]:
    item: dict[str, Any] = {
        "predecessor_body": loop.predecessor,
        "successor_body": loop.successor,
        "constraint_axes": [{"name": axis.name, "axis": list(axis.axis)} for axis in loop.axes],
    }
    if loop.cut_joint is not None:
        return {**item, "cut_joint": loop.cut_joint}
    for side in ("predecessor", "successor"):
        frame = getattr(loop, f"{side}_frame")
        rpy = Rotation.from_matrix(frame[:3, :3]).as_euler("xyz")
        item[f"{side}_frame"] = {"xyz": frame[:3, 3].tolist(), "rpy": rpy.tolist()}
    return item
