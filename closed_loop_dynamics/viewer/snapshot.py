"""All that a picture needs of one configuration: poses, forces, cuts, residuals, branches."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..errors import ActuationSingular, Underactuated
from ..inspection.loop_names import loop_names
from ..quantities.links import body_poses, cut_points
from ..robot import Robot

HOLDING = "gravity compensation"


@dataclass(frozen=True)
class Loop:
    """One closed submechanism at one configuration.

    Attributes:
        residual: max|phi| [m, rad].
        singular_value: smallest one of the scaled K_d; 0 at a singularity.
        on_branch: it is on the assembly mode of its reference.
    """

    residual: float
    singular_value: float
    on_branch: bool


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One configuration.

    Attributes:
        y, q: (n_y,), (n_q,) positions.
        poses: (bodies, 4, 4).
        cuts: both sides of every cut [m].
        loops: submechanism -> its state.
        tau: (p,) forces of the actuators [N or N·m], or None with the reason in ``note``.
        source: what the forces are, for people.
        rates: (m,) velocities and accelerations; None: at rest.
    """

    y: Array
    q: Array
    poses: Array
    cuts: list[tuple[Array, Array]]
    loops: dict[str, Loop]
    tau: Array | None
    source: str
    note: str = ""
    rates: tuple[Array, Array] | None = None

    @property
    def residual(self) -> float:
        """The largest one of all loops."""
        return max((loop.residual for loop in self.loops.values()), default=0.0)


class Camera:
    """Takes snapshots of a robot."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._signs = {
            c: branch.assembly_signs(np.array(branch.closure.plan.q_ref))
            for c, branch in robot.branches.items()
        }

    def standing(self, y: Array) -> Snapshot:
        """At rest: the forces hold the robot against gravity.

        Raises:
            ClosureNotFound: ``y`` is not reachable.
        """
        q = self.robot.state(y).q
        return self.at(q, *self.holding_forces(y), y)

    def holding_forces(self, y: Array) -> tuple[Array | None, str, str]:
        """Against gravity, or None; what they are; the reason why there are none."""
        zero = np.zeros(self.robot.m)
        try:
            return self.robot.inverse_dynamics(y, zero, zero), HOLDING, ""
        except Underactuated:
            note = "fewer actuators than degrees of freedom: no unique forces"
        except ActuationSingular as error:
            note = f"dead point of '{error.submechanism}': no finite force holds it"
        return None, HOLDING, note

    def at(
        self, q: Array, tau: Array | None, source: str, note: str = "", y: Array | None = None
    ) -> Snapshot:
        """Spanning positions as they are; they need not close the loops."""
        mech = self.robot.mechanism
        poses = body_poses(mech, q)
        if y is None:
            y = q[mech.q.slots(mech.independent)]
        cuts = cut_points(self.robot.branches, poses)
        return Snapshot(y, q, poses, cuts, self._loops(q), tau, source, note)

    def _loops(self, q: Array) -> dict[str, Loop]:
        mech, found, names = self.robot.mechanism, {}, loop_names(self.robot.branches)
        for c, branch in self.robot.branches.items():
            local = q[[mech.q.at[b] for b in mech.components[c].joints]]
            found[names[c]] = Loop(
                branch.closure.residual_at(local),
                float(branch.smallest_singular_value(local)),
                bool(np.array_equal(branch.assembly_signs(local), self._signs[c])),
            )
        return found
