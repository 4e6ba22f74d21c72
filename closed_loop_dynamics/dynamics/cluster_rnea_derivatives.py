"""Derivatives of cluster RNEA: one outward and one inward pass, and every pair of clusters once.

A small change of coordinates displaces a body, and all that is fixed to it, by a motion vector eta,
the same for all of them in the common frame of ``one_frame.py``. With eta' and eta'' its rates
along the motion, the force that a body takes changes by

    df = eta x* f + 2 B eta' + I eta''

however the change comes about (Singh, Russo and Wensing 2022, for single joints; after Carpentier
and Mansard 2018). In a cluster, J_b = sum of S_i G_i over its joints i that carry body b, and

    d/dy:    eta = J,   eta' = J',   eta'' = J''
    d/dyd:              eta' = J,    eta'' = 2 J'
    d/dydd:                          eta'' = J.

So all that the derivatives need of a loop is G with its rates G' and G'' along the motion, of
J' = sum of S' G + S G' and J'' = sum of S'' G + 2 S' G' + S G''. Between a cluster and those
further inwards there is a pair of blocks each: the outer one changes the forces that the inner one
feels, J^T df summed over the outer; the inner one carries all of the outer along by one eta,
(2 B^T J)^T eta' + (I J)^T eta'' summed over the outer, in which eta x* f cancels against the
displacement of J.
"""

from __future__ import annotations

from typing import NamedTuple

from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..model.clusters import Cluster
from ..spatial import SX, Spatial, symmetric_half
from .joint_forces import friction_slope, joint_friction
from .loop_rates import LoopRates, loop_rates
from .motion import Motion
from .one_frame import Carried, OneFrame, combined, crossed_forces, in_one_frame, projected
from .springs import joint_spring, joint_stiffness, stretched, with_springs


class ForceDerivatives(NamedTuple):
    """Of tau_y = G^T tau.

    Attributes:
        dy: (m, m) at constant G^T: without the curvature of the loops, sum of tau_i d2q_i/dy2.
        dyd: (m, m); dydd: (m, m) M_y.
        tree: body -> tau of its joint.
    """

    dy: SX
    dyd: SX
    dydd: SX
    tree: dict[int, SX]


class _Node(NamedTuple):
    """A cluster: body -> its rows of G, G' and G'' (n_c, m_c), and its places in yd."""

    cluster: Cluster
    rows: dict[int, slice]
    G: SX
    G_rate: SX
    G_second: SX
    slots: list[int]


class _Displaced(NamedTuple):
    """Motions (6, m_c) of a body with its cluster: J, J', J'', and half of eta'' of dyd."""

    J: Spatial
    rate: Spatial
    second: Spatial
    half: Spatial


class _Changes(NamedTuple):
    """Changes of forces (6, m_c) with the coordinates of a cluster, with velocities halved."""

    dy: Spatial
    half_dyd: Spatial
    dydd: Spatial


def cluster_rnea_derivatives(
    motion: Motion, ydd: SX, wrenches: dict[int, Spatial] | None = None
) -> ForceDerivatives:
    """Of the forces that a motion takes; ``wrenches`` act on bodies and turn with them."""
    mech, rates = motion.mechanism, loop_rates(motion, ydd)
    frame = in_one_frame(motion, rates.qdd, with_springs(motion, wrenches))
    nodes = [_node(motion, cluster, rates) for cluster in mech.clusters]

    # Outward: how bodies move when the coordinates of their cluster change.
    displaced: dict[int, _Displaced] = {}
    for node in nodes:
        for b in node.cluster.bodies:
            displaced[b] = _displace(frame, node, b)
            if mech.tree.bodies[b].parent in node.rows:
                inner = displaced[mech.tree.bodies[b].parent]
                displaced[b] = _Displaced(*map(Spatial.__add__, inner, displaced[b]))

    # Inward: what that does to the forces on the cluster, and on all clusters further inwards.
    m = mech.m
    result = ForceDerivatives(ca.SX(m, m), ca.SX(m, m), ca.SX(m, m), {})
    carried = dict(frame.own)
    for node in reversed(nodes):
        changed, turning = _gather(motion, frame, node, displaced, carried, rates.qdd, result)
        body = node.cluster.parent
        while body >= 0:
            further_in = nodes[mech.cluster_of[body]]
            _pair(result, further_in.slots, node.slots, displaced[body], changed, turning)
            body = further_in.cluster.parent
    _add_point_springs(mech, frame, nodes, displaced, result)
    return result


def _node(motion: Motion, cluster: Cluster, rates: LoopRates) -> _Node:
    mech, components = motion.mechanism, cluster.components
    independent = [b for c in components for b in mech.components[c].independent]
    G, first, second = (
        motion.arranged(blocks, components, cluster.bodies, independent)
        for blocks in ({c: motion.loops[c].G for c in components}, rates.first, rates.second)
    )
    slots = mech.yd.slots(independent)
    return _Node(cluster, mech.velocities(cluster.bodies).rows, G, first, second, slots)


def _displace(frame: OneFrame, node: _Node, b: int) -> _Displaced:
    """What the joint of ``b`` alone does to it."""
    G, G_rate, G_second = (part[node.rows[b], :] for part in (node.G, node.G_rate, node.G_second))
    S, shift = frame.S[b], frame.shift[b]
    return _Displaced(
        combined(S, G),
        combined(shift, G) + combined(S, G_rate),
        combined(frame.drift[b], G) + combined(shift, 2.0 * G_rate) + combined(S, G_second),
        combined(frame.mean_shift[b], G) + combined(S, G_rate),
    )


def _gather(
    motion: Motion,
    frame: OneFrame,
    node: _Node,
    displaced: dict[int, _Displaced],
    carried: dict[int, Carried],
    qdd: dict[int, SX],
    result: ForceDerivatives,
) -> tuple[_Changes, SX]:
    """Changes of the force on the cluster's parent body, and 2 B^T J (3, m_c) of the cluster.

    Writes the cluster's own blocks; adds what it carries to its parent body in ``carried``.
    """
    bodies, outside = motion.mechanism.tree.bodies, node.cluster.parent
    n_c, m_c = node.G.shape
    turning = ca.SX(3, m_c)
    dy, dyd, dydd = ca.SX(n_c, m_c), ca.SX(n_c, m_c), ca.SX(n_c, m_c)
    changes: dict[int, _Changes] = {}
    for b in reversed(node.cluster.bodies):
        S, rows, here = frame.S[b], node.rows[b], carried[b]
        G, G_rate = node.G[rows, :], node.G_rate[rows, :]
        turned = 2.0 * here.coriolis_rows(S)
        turning = turning + turned @ G
        by_joint, inertial = _by_joint(frame, node, b, here)
        changes[b] = _sum(by_joint, changes.get(b))

        # The joint's own force, and how it changes while S turns with the body.
        rotor, slope = motion.joints[b].rotor_inertia, friction_slope(motion, b)
        own = joint_friction(motion, b) + joint_spring(motion, b) + rotor * qdd[b]
        result.tree[b] = projected(S, here.force) + own
        dy[rows, :] = projected(S, changes[b].dy) + slope * G_rate + rotor * node.G_second[rows, :]
        dy[rows, :] += joint_stiffness(motion.mechanism, b) * G
        dyd[rows, :] = 2.0 * (projected(S, changes[b].half_dyd) + rotor * G_rate) + slope * G
        dydd[rows, :] = projected(S, changes[b].dydd) + rotor * G

        # What its parent body in the cluster does to it, by carrying all of it along.
        parent = bodies[b].parent if bodies[b].parent in node.rows else outside
        if parent in node.rows:
            by = displaced[parent]
            dy[rows, :] += turned.T @ by.rate.w + projected(inertial, by.second)
            dyd[rows, :] += turned.T @ by.J.w + 2.0 * projected(inertial, by.half)
            dydd[rows, :] += projected(inertial, by.J)

        # Seen from the parent body, all that the joint carries is turned by it.
        seen = changes[b]._replace(dy=changes[b].dy + combined(crossed_forces(S, here.force), G))
        changes[parent] = _sum(seen, changes.get(parent))
        if parent >= 0:
            carried[parent] = carried[parent] + here
    at = node.slots
    result.dy[at, at], result.dyd[at, at] = node.G.T @ dy, node.G.T @ dyd
    result.dydd[at, at] = symmetric_half(node.G.T @ dydd)
    return changes[outside], turning


def _by_joint(frame: OneFrame, node: _Node, b: int, here: Carried) -> tuple[_Changes, Spatial]:
    """2 B eta' + I eta'' of what the joint of ``b`` does to all that it carries; I S.

    A column of forces for each axis of the joint: only these are combined by G, G' and G''.
    """
    G, G_rate, G_second = (part[node.rows[b], :] for part in (node.G, node.G_rate, node.G_second))
    S, shift = frame.S[b], frame.shift[b]
    inertial, coriolis = here.inertial(S), here.coriolis(S)
    first = coriolis + here.inertial(shift)
    second = here.coriolis(shift) * 2.0 + here.inertial(frame.drift[b])
    half = coriolis + here.inertial(frame.mean_shift[b])
    by_first, by_second = combined(first, 2.0 * G_rate), combined(inertial, G_second)
    return _Changes(
        combined(second, G) + by_first + by_second,
        combined(half, G) + combined(inertial, G_rate),
        combined(inertial, G),
    ), inertial


def _sum(changes: _Changes, others: _Changes | None) -> _Changes:
    return changes if others is None else _Changes(*map(Spatial.__add__, changes, others))


def _pair(
    result: ForceDerivatives,
    inner: list[int],
    outer: list[int],
    by: _Displaced,
    changed: _Changes,
    turning: SX,
) -> None:
    """The blocks of two clusters, the outer one hanging on the body of the inner that ``by`` is."""
    result.dy[inner, outer] = projected(by.J, changed.dy)
    result.dyd[inner, outer] = 2.0 * projected(by.J, changed.half_dyd)
    result.dydd[inner, outer] = projected(by.J, changed.dydd)
    result.dydd[outer, inner] = result.dydd[inner, outer].T
    result.dy[outer, inner] = turning.T @ by.rate.w + projected(changed.dydd, by.second)
    result.dyd[outer, inner] = turning.T @ by.J.w + 2.0 * projected(changed.dydd, by.half)


def _add_point_springs(
    mech: Mechanism,
    frame: OneFrame,
    nodes: list[_Node],
    displaced: dict[int, _Displaced],
    result: ForceDerivatives,
) -> None:
    """What springs between points pull more when these move; that their wrenches turn with the
    bodies is in the other passes. Seen from a body, only the other end moves."""
    for each in stretched(mech, frame.pose):
        J = [_of_yd(mech, nodes, displaced, body) for body in each.bodies]
        for own, other in ((0, 1), (1, 0)):
            here, there = each.places[own], each.places[other]
            apart = _at(J[own], there) - _at(J[other], there)
            result.dy[:, :] = result.dy + _at(J[own], here).T @ each.slope @ apart


def _of_yd(
    mech: Mechanism, nodes: list[_Node], displaced: dict[int, _Displaced], body: int
) -> Spatial:
    """Motions (6, m) of a body with all coordinates; of the root, none."""
    J = Spatial(ca.SX(3, mech.m), ca.SX(3, mech.m))
    while body >= 0:
        node = nodes[mech.cluster_of[body]]
        J.w[:, node.slots], J.v[:, node.slots] = displaced[body].J.w, displaced[body].J.v
        body = node.cluster.parent
    return J


def _at(J: Spatial, place: SX) -> SX:
    """(3, m) of the point at ``place`` that moves along."""
    return J.v - ca.skew(place) @ J.w
