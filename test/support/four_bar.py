"""Planar mechanisms with a known solution: four-bars and lambdas, as files and as exact positions.

``exact(y)`` follows the closed-form root in steps of a milliradian from q = 0, so it knows the
assembly mode and how often each joint has turned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import yaml

from tools.oracles.files import Array
from tools.oracles.oracle import Oracle

STEP = 1e-3
IN_PLANE = [{"name": n, "axis": [0, 0, 0, int(n == "x"), int(n == "y"), 0]} for n in ("x", "y")]


class Unreachable(Exception):
    """The sides do not meet."""


def link(name: str, com: Sequence[float] = (0.0, 0.0), mass: float = 1.0) -> str:
    """URDF text of a link in the xy plane."""
    inertia = f'ixx="{0.01 * mass}" ixy="0" ixz="0" iyy="{0.01 * mass}" iyz="0" izz="{0.01 * mass}"'
    return (
        f'<link name="{name}"><inertial><origin xyz="{com[0]!r} {com[1]!r} 0"/>'
        f'<mass value="{mass}"/><inertia {inertia}/></inertial></link>'
    )


def joint(
    name: str,
    kind: str,
    parent: str,
    at: Sequence[float] | Array,
    axis: Sequence[float] | Array = (0, 0, 1),
    limits: tuple[float, float] | None = None,
) -> str:
    """URDF text of a joint to link ``<name>_link``; without limits a revolute one is continuous."""
    kind = "continuous" if kind == "revolute" and limits is None else kind
    lower, upper = limits or (-10.0, 10.0)
    xyz = " ".join(repr(float(v)) for v in (*at, 0.0))
    direction = " ".join(repr(float(v)) for v in axis)
    limit = f'<limit lower="{lower}" upper="{upper}" effort="1e3" velocity="1e3"/>'
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{xyz}"/><parent link="{parent}"/>'
        f'<child link="{name}_link"/><axis xyz="{direction}"/>'
        f"{limit if kind in ('revolute', 'prismatic') else ''}</joint>"
    )


def submechanism(
    independent: Sequence[str],
    spanning: Sequence[str],
    active: Sequence[str],
    loop: Mapping[str, object],
    reference: Mapping[str, float] | None = None,
    solver: str = "auto",
) -> str:
    """YAML text of a robot with one loop."""
    entry: dict[str, object] = {
        "name": "loop",
        "type": "NUMERICAL",
        "solver": solver,
        "jointnames_independent": list(independent),
        "jointnames_spanningtree": list(spanning),
        "jointnames_active": list(active),
        "loop_constraints": [{"constraint_axes": IN_PLANE, **loop}],
    }
    if reference is not None:
        entry["reference"] = {key: float(value) for key, value in reference.items()}
    return yaml.safe_dump({"submechanisms": [entry]}, sort_keys=False)


def follow(root: Array) -> Array:
    """The last row of a path (k, n) of angles, whole turns restored."""
    return np.asarray(np.unwrap(root, axis=0)[-1])


@dataclass(frozen=True)
class FourBar:
    """Ground A-D, crank A-B, coupler B-C, rocker D-C; q = 0 at crank angle ``start``.

    ``elbow`` is the side of the line B-D on which C lies: the assembly mode.
    """

    ground: float
    crank: float
    coupler: float
    rocker: float
    start: float = 1.0
    elbow: int = 1
    limits: tuple[float, float] | None = None
    solver: str = "auto"

    names = ("crank", "coupler", "rocker")

    def _points(self, angle: float) -> tuple[Array, Array, Array]:
        B = self.crank * np.array([np.cos(angle), np.sin(angle)])
        D = np.array([self.ground, 0.0])
        length = float(np.linalg.norm(D - B))
        along = (self.coupler**2 - self.rocker**2 + length**2) / (2.0 * length)
        square = (self.coupler - along) * (self.coupler + along)
        if square < -1e-15:
            raise Unreachable(f"crank angle {angle}")
        direction = (D - B) / length
        across = np.array([-direction[1], direction[0]])
        C = B + along * direction + self.elbow * np.sqrt(max(square, 0.0)) * across
        return B, C, D

    def _angles(self, y: float) -> Array:
        B, C, D = self._points(self.start + y)
        u, w = C - B, C - D
        return np.array([np.arctan2(u[1], u[0]), np.arctan2(w[1], w[0])])

    def exact(self, y: float) -> Array:
        """(3,) crank, coupler and rocker joint positions."""
        count = max(2, int(np.ceil(abs(y) / STEP)) + 1)
        path = follow(np.array([self._angles(s) for s in np.linspace(0.0, y, count)]))
        coupler, rocker = path - self._angles(0.0)
        return np.array([y, coupler - y, rocker])

    def rocker_curve(self, ys: Array) -> Array:
        """(k,) positions of a rocker that swings by less than half a turn, over ``ys``."""
        angles = np.unwrap([self._angles(float(y))[1] for y in (0.0, *ys)])
        return np.asarray(angles[1:] - angles[0])

    def toggles(self) -> tuple[float, float]:
        """Crank positions (lower, upper) at which coupler and rocker are in one line."""
        reach = self.coupler + self.rocker
        cosine = (self.ground**2 + self.crank**2 - reach**2) / (2.0 * self.ground * self.crank)
        angle = float(np.arccos(cosine))
        return -angle - self.start, angle - self.start

    def urdf(self) -> str:
        """All link frames are parallel at q = 0."""
        B, C, D = self._points(self.start)
        limits = self.limits
        parts = [
            link("base"),
            link("crank_link", tuple(map(float, 0.5 * B))),
            link("coupler_link", tuple(map(float, 0.5 * (C - B)))),
            link("end_link", mass=0.1),
            link("rocker_link", tuple(map(float, 0.5 * (C - D)))),
            joint("crank", "revolute", "base", (0.0, 0.0), limits=limits),
            joint("coupler", "revolute", "crank_link", B),
            joint("end", "fixed", "coupler_link", C - B),
            joint("rocker", "revolute", "base", D),
        ]
        return f'<robot name="four_bar">{"".join(parts)}</robot>'

    def yaml(
        self, reference: Mapping[str, float] | None = None, active: Sequence[str] = ("crank",)
    ) -> str:
        """One loop, cut between coupler and rocker with the two translations of the plane."""
        loop = {
            "cut_joint": "end",
            "predecessor_body": "coupler_link",
            "successor_body": "rocker_link",
        }
        return submechanism(["crank"], self.names, active, loop, reference, self.solver)

    def oracle(self) -> Oracle:
        """Vectors in the order of ``names``."""
        return Oracle(self.urdf(), self.yaml(), names=self.names)


@dataclass(frozen=True)
class Lambda:
    """A linear actuator from ``foot`` to ``pin`` across a hinge at the origin (1-RRPR).

    Attributes:
        independent: ``"hinge"`` (as in RH5) or ``"piston"``, which has toggles.
    """

    foot: tuple[float, float] = (0.06, -0.3)
    pin: tuple[float, float] = (0.1, 0.08)
    independent: str = "hinge"
    solver: str = "auto"

    names = ("hinge", "rod", "piston")

    def _leg(self, hinge: float) -> Array:
        c, s = np.cos(hinge), np.sin(hinge)
        x, y = self.pin
        return np.array([c * x - s * y, s * x + c * y]) - np.array(self.foot)

    def at_hinge(self, hinge: float) -> Array:
        """(3,) positions at a hinge position."""
        count = max(2, int(np.ceil(abs(hinge) / STEP)) + 1)
        legs = np.array([self._leg(s) for s in np.linspace(0.0, hinge, count)])
        rod = follow(np.arctan2(legs[:, 1], legs[:, 0])) - np.arctan2(legs[0, 1], legs[0, 0])
        return np.array([hinge, rod, np.linalg.norm(legs[-1]) - np.linalg.norm(legs[0])])

    def exact(self, y: float) -> Array:
        """(3,) positions; for the piston by the law of cosines on the side of q = 0."""
        if self.independent == "hinge":
            return self.at_hinge(y)
        a, b = np.hypot(*self.pin), np.hypot(*self.foot)
        length = float(np.linalg.norm(self._leg(0.0))) + y
        cosine = (a * a + b * b - length**2) / (2.0 * a * b)
        if abs(cosine) > 1.0:
            raise Unreachable(f"piston {y}")
        between = np.arctan2(self.pin[1], self.pin[0]) - np.arctan2(self.foot[1], self.foot[0])
        result = self.at_hinge(float(np.arccos(cosine) - between))
        result[2] = y
        return result

    def toggles(self) -> tuple[float, float]:
        """Piston positions at which hinge, pin and foot are in one line."""
        a, b, c = np.hypot(*self.pin), np.hypot(*self.foot), np.linalg.norm(self._leg(0.0))
        return float(abs(a - b) - c), float(a + b - c)

    def singular_hinge(self) -> float:
        """Hinge position at which the actuator points at the hinge: it cannot drive it there."""
        return float(self.with_piston().exact(self.toggles()[1] - 1e-15)[0])

    def with_piston(self) -> Lambda:
        """The same mechanism with the piston independent."""
        return replace(self, independent="piston")

    def urdf(self) -> str:
        """All link frames are parallel at q = 0."""
        leg = self._leg(0.0)
        stroke = [*(leg / np.linalg.norm(leg)), 0.0]
        parts = [
            link("base"),
            link("hinge_link", (0.1, 0.0), mass=3.0),
            link("rod_link"),
            link("piston_link", mass=0.3),
            joint("hinge", "revolute", "base", (0.0, 0.0)),
            joint("rod", "revolute", "base", self.foot),
            joint("piston", "prismatic", "rod_link", leg, stroke),
        ]
        return f'<robot name="lambda">{"".join(parts)}</robot>'

    def yaml(self) -> str:
        """One loop, cut at the end of the piston with the two translations of the plane."""
        loop = {
            "cut_joint": "piston",
            "predecessor_body": "piston_link",
            "successor_body": "hinge_link",
        }
        return submechanism([self.independent], self.names, ["piston"], loop, solver=self.solver)

    def oracle(self) -> Oracle:
        """Vectors in the order of ``names``."""
        return Oracle(self.urdf(), self.yaml(), names=self.names)
