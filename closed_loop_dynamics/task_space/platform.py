"""The platform's pose as a function of the task coordinates, and its twist.

The free coordinates are some of x, y, z, roll, pitch, yaw of the platform frame in the root frame;
the others keep their value at the reference. V_p = P_p(x) xd is the body-fixed twist [angular;
linear] (Mueller 2022, Eq. 11, with P_p from differentiation).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, Vec, as_finite_vectors
from ..engine.symbolic import ca
from ..errors import InvalidInput
from ..model.words import AXES
from ..se3 import origin_pose
from ..spatial import SX, rotation

#: cos(pitch) below this: roll and yaw turn about (nearly) the same axis.
UPRIGHT = 1e-3


@dataclass(frozen=True, eq=False)
class Platform:
    """Task coordinates x of one platform.

    Attributes:
        axes: names of the coordinates, the order of x.
        reference: (4, 4) pose at the reference configuration.
    """

    axes: tuple[str, ...]
    reference: Array

    @cached_property
    def _all_reference(self) -> Array:
        """The six coordinates at the reference."""
        return _coordinates(self.reference)

    @property
    def places(self) -> list[int]:
        """Places of x among the six coordinates."""
        return [AXES.index(axis) for axis in self.axes]

    @property
    def x_ref(self) -> Array:
        """x at the reference."""
        return self._all_reference[self.places]

    @property
    def uses_pitch(self) -> bool:
        """Pitch is free: then its singularity matters."""
        return "pitch" in self.axes

    def pose(self, x: Array) -> Array:
        """(4, 4) pose at x."""
        six = self._all_reference.copy()
        six[self.places] = x
        return origin_pose(list(six[:3]), list(six[3:]))

    def coordinates(self, poses: Vec, tolerance: float) -> Array:
        """x of a (4, 4) pose; the coordinates that are not free must have their value."""
        try:
            T = np.asarray(poses, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidInput("a platform pose is a (4, 4) matrix of numbers") from None
        if T.shape != (4, 4) or not np.all(np.isfinite(T)):
            raise InvalidInput(f"a platform pose is a finite (4, 4) matrix, not of shape {T.shape}")
        if np.max(np.abs(T[:3, :3] @ T[:3, :3].T - np.eye(3))) > 1e-6 or T[3, 3] != 1.0:
            raise InvalidInput("the platform pose is not a rigid pose: its rotation is not one")
        x = as_finite_vectors(_coordinates(T)[self.places], "x", len(self.axes))
        off = T - self.pose(x)
        if np.max(np.abs(off)) > tolerance:
            held = [axis for axis in AXES if axis not in self.axes]
            raise InvalidInput(
                f"the platform cannot take this pose: {', '.join(held)} must stay at "
                f"{_coordinates(self.reference)[[AXES.index(a) for a in held]]}"
            )
        return x

    def traced_pose(self, x: SX) -> tuple[SX, SX]:
        """(R, p) of the platform."""
        six = [ca.SX(float(v)) for v in self._all_reference]
        for k, place in enumerate(self.places):
            six[place] = x[k]
        R = ca.SX(self.reference[:3, :3])
        if any(axis in self.axes for axis in AXES[3:]):
            about_x, about_y, about_z = map(rotation, np.eye(3), six[3:])
            R = about_z @ about_y @ about_x
        return R, ca.vertcat(*six[:3])

    def traced_twist(self, x: SX, xd: SX, xdd: SX) -> tuple[SX, SX, SX]:
        """P_p (6, m), V_p (6, 1) and its derivative."""
        xs, xds = ca.SX.sym("x", len(self.axes)), ca.SX.sym("xd", len(self.axes))
        R, p = self.traced_pose(xs)
        Rd = ca.reshape(ca.jtimes(ca.vec(R), xs, xds), 3, 3)
        W = R.T @ Rd
        twist = ca.vertcat(W[2, 1], W[0, 2], W[1, 0], R.T @ ca.jtimes(p, xs, xds))
        change = ca.jtimes(twist, xs, xds)  # the part of the derivative that xdd does not make
        P = ca.jacobian(twist, xds)
        f = ca.Function("twist", [xs, xds], [ca.densify(P), ca.densify(change)])
        P_x, change_x = f(x, xd)
        return P_x, P_x @ xd, P_x @ xdd + change_x


def _coordinates(T: Array) -> Array:
    R = T[:3, :3]
    pitch = math.atan2(-R[2, 0], math.hypot(R[0, 0], R[1, 0]))
    roll, yaw = math.atan2(R[2, 1], R[2, 2]), math.atan2(R[1, 0], R[0, 0])
    return np.array([*T[:3, 3], roll, pitch, yaw])
