"""Dead points of the drive: where G_u loses rank, no actuator force moves or holds the joints.

Near one, forces grow without bound and inverse dynamics stays finite, so that nobody is warned. How
near is told without dimensions: the smallest singular value of G_u, its rows and columns in natural
sizes, over its median within the limits. Behind a dead point the number is negative.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from ..arrays import Array
from ..closure.continuation import Solution
from ..dynamics.actuation_rank import natural_sizes
from ..errors import ClosureNotFound
from ..model.joint_limits import Limits
from ..programs import Programs

#: Below this part of the median a dead point is too near: forces are a hundred times the usual.
DRIVE_BAR = 0.01
#: A node of the table with a smaller margin is looked around.
LOOK_CLOSER = 0.2


class Drive:
    """The drive of one component with loops that has enough actuators.

    Attributes:
        name: of the submechanism; independent, active: its joints.
        limited: all of the independent joints have limits.
        typical: median of the smallest singular value within the limits.
    """

    def __init__(self, programs: Programs, component: int) -> None:
        mech = programs.mechanism
        joints = mech.components[component]
        self._branch = programs.branches[component]
        self._sizes = natural_sizes(mech, component)
        self._rows = [joints.joints.index(b) for b in joints.active]
        slot = {b: i for i, b in enumerate(mech.actuator)}
        self._block = np.ix_([slot[b] for b in joints.active], mech.yd.slots(joints.independent))
        self.name = joints.entry.name
        self.independent = tuple(mech.joint_name(b) for b in joints.independent)
        self.active = tuple(mech.joint_name(b) for b in joints.active)
        self._limits = Limits.of(mech.tree, self.active)
        own = Limits.of(mech.tree, self.independent)
        self.limited = bool(np.all(np.isfinite([own.lower, own.upper])))
        known = [s for s in self._branch.known() if self._allowed(s)] or [self._branch.reference]
        self._known = sorted(known, key=lambda s: s.p.tolist())
        reference = self._scaled(self._G_u(self._branch.reference))
        self._side = np.sign(_determinant(reference)) or 1.0
        self.typical = 1.0
        values = self.margins(np.array([self._G_u(s) for s in self._known]))
        self.typical = float(np.median(np.abs(values))) or 1.0
        self._margins = values / self.typical

    def of(self, G_u: Array) -> Array:
        """(..., its p, its m) part of a robot's G_u (..., p, m)."""
        rows, columns = self._block
        result: Array = G_u[..., rows, columns]
        return result

    def margins(self, G_u: Array) -> Array:
        """(...) how far from a dead point actuator Jacobians (..., p, m) of this drive are."""
        scaled = self._scaled(G_u)
        smallest = np.linalg.svd(scaled, compute_uv=False)[..., -1] / self.typical
        return np.asarray(np.where(_determinant(scaled) * self._side < 0.0, -smallest, smallest))

    def nearest(self) -> tuple[Array, float]:
        """Where within the limits (m,) the drive is nearest to a dead point, and its margin there.

        Zero if it passes one: exact for one independent joint, else to the spacing of the branch's
        table.
        """
        away = np.array([np.linalg.norm(s.p - self._branch.reference.p) for s in self._known])
        behind = self._margins <= 0.0
        k = int(np.argmin(np.where(behind, away, np.inf) if behind.any() else self._margins))
        if len(self.independent) == 1 and self._margins[k] < LOOK_CLOSER:
            first, last = max(k - 1, 0), min(k + 1, len(self._known) - 1)
            found = _lowest(self._margin_at, *(float(self._known[i].p[0]) for i in (first, last)))
            if found is not None:
                return np.array([found[0]]), found[1]
        return self._known[k].p, max(float(self._margins[k]), 0.0)

    def _margin_at(self, p: float) -> float:
        try:
            return float(self.margins(self._G_u(self._branch.solution(np.array([p])))))
        except ClosureNotFound:
            return float("inf")

    def _scaled(self, G_u: Array) -> Array:
        return np.asarray(G_u / self._sizes[0][:, None] * self._sizes[1])

    def _G_u(self, s: Solution) -> Array:
        return self._branch.loop_jacobian(s)[self._rows]

    def _allowed(self, s: Solution) -> bool:
        inside = np.all(s.p >= self._branch.lower) and np.all(s.p <= self._branch.upper)
        u = self._branch.local_q(s)[None, self._rows]
        return bool(inside) and self._limits.outside(u) is None


def drives(programs: Programs) -> list[Drive]:
    """Of all components with loops and enough actuators."""
    return [Drive(programs, c) for c in programs.branches if has_drive(programs, c)]


def has_drive(programs: Programs, c: int) -> bool:
    """Whether a component has loops and an actuator for each independent joint."""
    component = programs.mechanism.components[c]
    return c in programs.branches and len(component.active) >= len(component.independent) > 0


def dead_point_words(drive: Drive) -> Iterator[tuple[str, str]]:
    """Severity and sentence about a drive that comes too near to a dead point.

    With several independent joints no limits of single ones keep out of a corner: a warning.
    """
    where, margin = drive.nearest()
    if margin >= DRIVE_BAR:
        return
    at = ", ".join(f"{n} = {v:.4g}" for n, v in zip(drive.independent, where, strict=True))
    ends = f"{', '.join(drive.active)} cannot move or hold {', '.join(drive.independent)}"
    if margin <= 0.0:
        yield (
            "error" if drive.limited and len(drive.independent) == 1 else "warning",
            f"the drive has a dead point within the limits, at {at}: there {ends}, and forces grow "
            "without bound on both sides; shorten the limits or change the linkage",
        )
    else:
        yield (
            "warning",
            f"the drive comes close to a dead point, at {at}: the smallest singular value of G_u "
            f"is {100 * margin:.2g} % of its median within the limits, forces are {1 / margin:.3g} "
            "times the usual; shorten the limits",
        )


def _determinant(G_u: Array) -> Array:
    """Of square ones; 1 for redundant drives, which have no side."""
    square = G_u.shape[-2] == G_u.shape[-1]
    return np.linalg.det(G_u) if square else np.ones(G_u.shape[:-2])


def _lowest(f: Callable[[float], float], a: float, b: float) -> tuple[float, float] | None:
    """Where ``f`` passes zero between a and b, else its least value; None if a and b are one."""
    from scipy.optimize import brentq, minimize_scalar  # slow to import

    if a == b:
        return None
    if f(a) * f(b) < 0.0:
        return float(brentq(f, a, b, xtol=1e-13)), 0.0
    found = minimize_scalar(f, bounds=(a, b), method="bounded", options={"xatol": 1e-9})
    if found.fun <= 0.0 and f(a) > 0.0:
        return float(brentq(f, a, found.x, xtol=1e-13)), 0.0
    return min(((float(found.x), float(found.fun)), (a, f(a)), (b, f(b))), key=lambda x: x[1])
