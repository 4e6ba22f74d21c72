"""Where a module of a random robot is built: its own axes and origin, and how cuts are written."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tools.oracles.files import Array

from .sketch import DrawnJoint, Sketch, cleaned, random_direction, random_rotation, rpy_of

X, Y, Z = np.eye(3)


class BadDraw(Exception):
    """Random geometry that is degenerate; draw again."""


@dataclass
class Module:
    """One module of a robot, before and after its joint limits are known.

    Attributes:
        kind: name of the ingredient.
        independent: names of the independent joints.
        active: names of the driven joints (as many as independent ones).
        loops, couplings: items of the submechanism entry.
        type: submechanism type.
        in_file: False: no submechanism entry (serial joints, URDF mimic).
        reach: joint -> half-width of the largest box to try [rad or m].
        notes: particularities, for the description.
    """

    kind: str
    independent: list[str]
    active: list[str]
    loops: list[dict[str, Any]] = field(default_factory=list)
    couplings: list[dict[str, Any]] = field(default_factory=list)
    type: str = "NUMERICAL"
    in_file: bool = True
    reach: dict[str, float] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    joints: list[DrawnJoint] = field(default_factory=list)

    @property
    def spanning(self) -> list[str]:
        """Names of the moving joints, in the order they were drawn."""
        return [joint.name for joint in self.joints if joint.kind != "fixed"]


@dataclass
class Site:
    """A module's place: points and directions below are in the module's own axes.

    Attributes:
        prefix: put in front of joint names.
        parent: link the module stands on.
        aligned: all joint frames are parallel to the module's axes; else random orientations.
    """

    sketch: Sketch
    rng: np.random.Generator
    prefix: str
    parent: str
    rotation: Array
    origin: Array
    aligned: bool

    @staticmethod
    def on(sketch: Sketch, rng: np.random.Generator, prefix: str, parent: str) -> Site:
        """A site near ``parent`` with random axes."""
        origin = sketch.poses[parent][:3, 3] + random_direction(rng) * rng.uniform(0.05, 0.3)
        rotation, aligned = random_rotation(rng), bool(rng.random() < 0.4)
        return Site(sketch, rng, prefix, parent, rotation, origin, aligned)

    def joint(
        self,
        name: str,
        parent: str,
        point: Sequence[float] | Array,
        axis: Sequence[float] | Array,
        kind: str = "revolute",
        mass: float = 1.0,
    ) -> str:
        """Add joint ``prefix + name``; return its child link."""
        pose = np.eye(4)
        pose[:3, :3] = self.rotation if self.aligned else random_rotation(self.rng)
        pose[:3, 3] = self.origin + self.rotation @ np.asarray(point, dtype=float)
        direction = self.rotation @ np.asarray(axis, dtype=float)
        return self.sketch.add(self.prefix + name, kind, parent, pose, direction, mass)

    def tip(self, name: str, parent: str, point: Sequence[float] | Array) -> str:
        """Add a link fixed to ``parent`` at ``point``, for example a rod end."""
        return self.joint(name, parent, point, X, kind="fixed", mass=0.2)

    def name(self, link: str) -> str:
        """Joint whose child is ``link``."""
        return link.removesuffix("_link")

    def in_frame(self, link: str, direction: Array) -> list[float]:
        """A module direction in the axes of ``link`` at q = 0."""
        world = self.rotation @ np.asarray(direction, dtype=float)
        return [float(v) for v in cleaned(self.sketch.poses[link][:3, :3].T @ world)]

    def cut(
        self,
        at: str,
        other: str,
        body: str | None = None,
        *,
        rotations: Sequence[Array] = (),
        translations: Sequence[Array] = (),
    ) -> dict[str, Any]:
        """A loop constraint in the frame of link ``at``, between it (or ``body``) and ``other``."""
        node = self._bodies(at, body or at, other)
        axes = [[*self.in_frame(at, a), 0.0, 0.0, 0.0] for a in rotations]
        axes += [[0.0, 0.0, 0.0, *self.in_frame(at, a)] for a in translations]
        node["constraint_axes"] = [{"name": f"a{i}", "axis": a} for i, a in enumerate(axes)]
        return node

    def technical_cut(self, at: str, other: str, kind: str, free: Array) -> dict[str, Any]:
        """A loop constraint in the ``cut:`` shorthand; ``free`` is the free axis."""
        node = self._bodies(at, at, other)
        return node | {"cut": kind, "axis": self.in_frame(at, free)}

    def _bodies(self, at: str, body: str, other: str) -> dict[str, Any]:
        """Predecessor, successor (either order) and the cut frame (named or explicit)."""
        first, second = (body, other) if self.rng.random() < 0.5 else (other, body)
        node: dict[str, Any] = {"predecessor_body": first, "successor_body": second}
        if self.rng.random() < 0.7:
            return node | {"cut_joint": self.name(at)}
        frames = {"predecessor_frame": first, "successor_frame": second}
        return node | {key: self._relative_frame(link, at) for key, link in frames.items()}

    def _relative_frame(self, link: str, at: str) -> dict[str, list[float]]:
        relative = np.linalg.inv(self.sketch.poses[link]) @ self.sketch.poses[at]
        rpy = rpy_of(relative[:3, :3])
        return {"xyz": [float(v) for v in relative[:3, 3]], "rpy": [float(v) for v in rpy]}

    def off_plane(self, x: float, y: float) -> Array:
        """(3,) a point of the xy plane moved a little along z: planar loops need no flat links."""
        return np.array([x, y, self.rng.uniform(-0.05, 0.05)])
