"""How the loops' Jacobians change along a motion, and how their curvature turns forces."""

from __future__ import annotations

from dataclasses import dataclass

from ..engine.symbolic import ca
from ..spatial import SX
from .motion import Motion


@dataclass(frozen=True)
class LoopRates:
    """Component -> G' and G'' (n_c, m_c), the time derivatives of G; body -> qdd = G ydd + G' yd.

    The same matrices are derivatives of the spanning tree's state, as second derivatives are
    symmetric: dqd/dy = G', dqdd/dy = G'', dqdd/dyd = 2 G'.
    """

    first: dict[int, SX]
    second: dict[int, SX]
    qdd: dict[int, SX]


def loop_rates(motion: Motion, ydd: SX) -> LoopRates:
    """Of all loops, with independent accelerations ``ydd`` (m, 1)."""
    mech, yd = motion.mechanism, motion.yd
    assert yd is not None  # derivatives are taken along a motion
    rates = LoopRates({}, {}, {})
    for c, component in enumerate(mech.components):
        slots, G = mech.yd.slots(component.independent), motion.loops[c].G
        yd_local, ydd_local = yd[slots], ydd[slots]
        first, second = mech.closures[c].rates(_positions(motion, c), G, yd_local, ydd_local)
        rates.first[c], rates.second[c] = first, second
        qdd = ca.densify(G @ ydd_local + first @ yd_local)
        for b, rows in mech.velocities(component.joints).rows.items():
            rates.qdd[b] = qdd[rows]
    return rates


def curvature(motion: Motion, c: int, forces: dict[int, SX]) -> SX:
    """d(G^T forces)/dy (m_c, m_c) of a component, for constant forces on its joints."""
    stacked = ca.vertcat(*(forces[b] for b in motion.mechanism.components[c].joints))
    closure = motion.mechanism.closures[c]
    return closure.curvature(_positions(motion, c), motion.loops[c].G, ca.densify(stacked))


def rate_at(motion: Motion, c: int, yd: SX) -> SX:
    """G' of a component if it moved with velocities ``yd`` (m_c, 1): d(G yd)/dy."""
    rest, closure = ca.SX.zeros(*yd.shape), motion.mechanism.closures[c]
    return closure.rates(_positions(motion, c), motion.loops[c].G, yd, rest)[0]


def _positions(motion: Motion, c: int) -> SX:
    return ca.vertcat(*(motion.q[b] for b in motion.mechanism.components[c].joints))
