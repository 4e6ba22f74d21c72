"""All that a picture needs of one configuration: poses, forces, cuts, residuals, branches."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca, tracing
from ..errors import ActuationSingular, Underactuated
from ..inspection.loop_names import loop_names
from ..quantities.links import body_poses, cut_points
from ..robot import Robot


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
    """

    y: Array
    q: Array
    poses: Array
    cuts: list[tuple[Array, Array]]
    loops: dict[str, Loop]
    tau: Array | None
    source: str
    note: str = ""

    @property
    def residual(self) -> float:
        """The largest one of all loops."""
        return max((loop.residual for loop in self.loops.values()), default=0.0)


class Camera:
    """Takes snapshots of a robot."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self._phi = {c: _residual_function(branch) for c, branch in robot.branches.items()}
        self._signs = {
            c: branch.assembly_signs(np.array(branch.closure.plan.q_ref))
            for c, branch in robot.branches.items()
        }

    def standing(self, y: Array) -> Snapshot:
        """At rest: the forces hold the robot against gravity.

        Raises:
            ClosureNotFound: ``y`` is not reachable.
        """
        zero = np.zeros(self.robot.m)
        return self.moving(y, zero, zero, "gravity compensation")

    def moving(self, y: Array, yd: Array, ydd: Array, source: str = "inverse dynamics") -> Snapshot:
        """In motion: the forces are those of inverse dynamics."""
        q = self.robot.state(y).q
        tau, note = self.forces(y, yd, ydd)
        return self.at(q, tau, source, note, y)

    def forces(self, y: Array, yd: Array, ydd: Array) -> tuple[Array | None, str]:
        """Inverse dynamics, or None and the reason."""
        try:
            return self.robot.inverse_dynamics(y, yd, ydd), ""
        except Underactuated:
            return None, "fewer actuators than degrees of freedom: no unique forces"
        except ActuationSingular as error:
            return None, f"dead point of '{error.submechanism}': no finite force holds it"

    def at(
        self, q: Array, tau: Array | None, source: str, note: str = "", y: Array | None = None
    ) -> Snapshot:
        """Spanning positions as they are; they need not close the loops."""
        mech = self.robot.mechanism
        poses = body_poses(mech, q)
        if y is None:
            y = q[[i for b in mech.independent for i in self._places(b)]]
        cuts = cut_points(self.robot.branches, poses)
        return Snapshot(y, q, poses, cuts, self._loops(q), tau, source, note)

    def _places(self, body: int) -> range:
        """Where the positions of an independent joint stand in q."""
        mech = self.robot.mechanism
        size = 7 if mech.floating and body == 0 else 1
        return range(mech.q_at[body], mech.q_at[body] + size)

    def _loops(self, q: Array) -> dict[str, Loop]:
        mech, found, names = self.robot.mechanism, {}, loop_names(self.robot.branches)
        for c, branch in self.robot.branches.items():
            local = q[[mech.q_at[b] for b in mech.components[c].joints]]
            with tracing():
                residual = float(np.max(np.abs(np.asarray(self._phi[c](local))), initial=0.0))
            found[names[c]] = Loop(
                residual,
                float(branch.smallest_singular_value(local)),
                bool(np.array_equal(branch.assembly_signs(local), self._signs[c])),
            )
        return found


def _residual_function(branch: Any) -> Any:
    """phi of the kept rows as a CasADi function of the loop's joints; it is called by hand only."""
    closure = branch.closure
    with tracing():
        q = ca.SX.sym("q", len(closure.system.joints))
        return ca.Function("phi", [q], [ca.densify(closure.system.phi(q)[list(closure.plan.rows)])])
