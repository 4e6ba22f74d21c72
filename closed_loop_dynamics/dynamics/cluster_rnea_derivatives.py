"""Derivatives of cluster RNEA: one outward and one inward pass, and every pair of joints once.

A small change of coordinates displaces a body, and all that is fixed to it, by a motion vector eta.
With eta' and eta'' its rates along the motion, the force that a body takes changes by

    df = eta x* f + 2 B eta' + I eta''

however the change comes about (Singh, Russo and Wensing 2022, for single joints; after Carpentier
and Mansard 2018). A joint of a cluster displaces all that it carries by eta = S G, and

    d/dy:    eta = S G,   eta' = S' G + S G',   eta'' = S'' G + 2 S' G' + S G''
    d/dyd:                eta' = S G,           eta'' = 2 (S' G + S G')
    d/dydd:                                     eta'' = S G

so that all that the derivatives need of a loop is G with its rates G' and G'' along the motion.
Such changes of force go inwards from body to body, in their frames (``carried.py``), and each joint
on the way feels S^T df. What it does in turn to all that is further out, by carrying it along with
one eta, is (2 B^T J)^T eta' + (I J)^T eta'' summed over the outer, in which eta x* f cancels
against the displacement of J: these two go inwards together with the changes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from ..engine.symbolic import ca
from ..model.clusters import Cluster
from ..spatial import SX, Spatial, symmetric_half
from .carried import Axes, Carried, Inward, MovingTree, combined, crossed_forces, projected
from .joint_forces import friction_slope, joint_friction
from .loop_rates import LoopRates, loop_rates
from .motion import Motion
from .springs import joint_spring, joint_stiffness, point_stiffness, with_springs

#: Changes (k, j) of k forces with j coordinates y, with their yd and with their ydd.
ByCoordinates = tuple[SX, SX, SX]


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


class _Moves(NamedTuple):
    """How coordinates move joints: rows of G (n, m_c), and of G' and G''."""

    G: SX
    rate: SX
    second: SX


class _Node(NamedTuple):
    """A cluster: body -> its rows of G, and places in yd."""

    cluster: Cluster
    rows: dict[int, slice]
    moves: _Moves
    slots: list[int]

    def of(self, body: int) -> _Moves:
        """How the joint of one body moves."""
        return _Moves(*(part[self.rows[body], :] for part in self.moves))


class _Row(NamedTuple):
    """What k forces J^T f feel of displacements further inwards: turning^T eta' + force^T eta''.

    Attributes:
        force: (6, k) I J, which is also df of ydd; turning: (3, k) 2 B^T J.
    """

    force: Spatial
    turning: SX

    def moved(self, inward: Inward) -> _Row:
        """Seen from the parent body."""
        force, turning = inward.X.force_to_parent(self.force), self.turning
        for R, _ in reversed(inward.X.steps):
            turning = R @ turning
        return _Row(force, turning + ca.skew(inward.away) @ force.v)

    def felt(self, joint: Axes, moves: _Moves) -> ByCoordinates:
        """Of coordinates that move a joint."""
        of_axes = self.turning.T @ joint.S.w
        by_qdd = projected(self.force, joint.S)
        by_qd = of_axes + projected(self.force, joint.sum_shift)
        by_q = self.turning.T @ joint.shift.w + projected(self.force, joint.drift)
        by_rate = of_axes + projected(self.force, joint.twice)
        return (
            by_q @ moves.G + by_rate @ moves.rate + by_qdd @ moves.second,
            by_qd @ moves.G + by_qdd @ (2.0 * moves.rate),
            by_qdd @ moves.G,
        )


class _Changes(NamedTuple):
    """Changes of force (6, m_c) with y and yd of a cluster, and with ydd, that is in the row of
    its own forces."""

    dy: Spatial
    dyd: Spatial
    row: _Row

    def __add__(self, other: Any) -> _Changes:
        row = _Row(self.row.force + other.row.force, self.row.turning + other.row.turning)
        return _Changes(self.dy + other.dy, self.dyd + other.dyd, row)

    def moved(self, inward: Inward) -> _Changes:
        """Seen from the parent body."""
        dy, dyd = (inward.X.force_to_parent(f) for f in (self.dy, self.dyd))
        return _Changes(dy, dyd, self.row.moved(inward))

    def along(self, S: Spatial) -> ByCoordinates:
        """S^T df, what the forces along some axes change by."""
        return projected(S, self.dy), projected(S, self.dyd), projected(S, self.row.force)


def cluster_rnea_derivatives(
    motion: Motion, ydd: SX, wrenches: dict[int, Spatial] | None = None
) -> ForceDerivatives:
    """Of the forces that a motion takes; ``wrenches`` act on bodies and turn with them."""
    mech, rates = motion.mechanism, loop_rates(motion, ydd)
    tree = MovingTree.of(motion, rates.qdd, with_springs(motion, wrenches))
    nodes = [_node(motion, cluster, rates) for cluster in mech.clusters]
    m = mech.m
    result = ForceDerivatives(point_stiffness(motion), ca.SX(m, m), ca.SX(m, m), {})
    carried = dict(tree.own)
    for node in reversed(nodes):
        changed = _gather(motion, tree, node, carried, result)
        body = node.cluster.parent
        while body >= 0:
            _pair(result, nodes[mech.cluster_of[body]], body, tree.axes[body], node, changed)
            changed = changed.moved(tree.inward[body])
            body = mech.tree.bodies[body].parent
    for b in result.tree:
        own = joint_friction(motion, b) + joint_spring(motion, b)
        result.tree[b] += own + motion.joints[b].rotor_inertia * rates.qdd[b]
    return result


def _node(motion: Motion, cluster: Cluster, rates: LoopRates) -> _Node:
    mech, components = motion.mechanism, cluster.components
    independent = [b for c in components for b in mech.components[c].independent]
    parts = ({c: motion.loops[c].G for c in components}, rates.first, rates.second)
    moves = (motion.arranged(part, components, cluster.bodies, independent) for part in parts)
    rows = mech.velocities(cluster.bodies).rows
    return _Node(cluster, rows, _Moves(*moves), mech.yd.slots(independent))


def _gather(
    motion: Motion,
    tree: MovingTree,
    node: _Node,
    carried: dict[int, Carried],
    result: ForceDerivatives,
) -> _Changes:
    """Changes of the force on the cluster's parent body, in the frame of that.

    Writes the cluster's own blocks, and what it transmits to its joints; adds what it carries to
    its parent body in ``carried``.
    """
    bodies, G = motion.mechanism.tree.bodies, node.moves.G
    own = [ca.SX(*G.shape) for _ in range(3)]
    changes: dict[int, _Changes] = {}
    for b in reversed(node.cluster.bodies):
        joint, here, moves, parent = tree.axes[b], carried[b], node.of(b), bodies[b].parent
        at, row = _by_joint(joint, here, moves)
        at = at + changes[b] if b in changes else at

        # The force of the joint turns with its body; by itself it changes with its position.
        result.tree[b] = projected(joint.S, here.force)
        felt = [at.along(joint.S), _by_itself(motion, b, moves)]
        felt += _felt_inside(motion, tree, node, b, row)
        for part, pieces in zip(own, zip(*felt, strict=True), strict=True):
            part[node.rows[b], :] = sum(pieces)

        # Seen from the parent body, all that the joint carries is turned by it.
        turned = combined(crossed_forces(joint.S, here.force), moves.G)
        seen = at._replace(dy=at.dy + turned).moved(tree.inward[b])
        changes[parent] = seen + changes[parent] if parent in changes else seen
        if parent >= 0:
            carried[parent] = carried[parent] + here.moved(tree.inward[b])
    to = node.slots
    result.dy[to, to] += G.T @ own[0]
    result.dyd[to, to] = G.T @ own[1]
    result.dydd[to, to] = symmetric_half(G.T @ own[2])
    return changes[node.cluster.parent]


def _by_joint(joint: Axes, here: Carried, moves: _Moves) -> tuple[_Changes, _Row]:
    """2 B eta' + I eta'' of what a joint does to all that it carries; the row of its own force.

    A column of forces for each axis of the joint: only these are combined by G, G' and G''.
    """
    inertial, coriolis = here.inertial(joint.S), here.coriolis(joint.S)
    row = _Row(inertial, here.coriolis_rows(joint.S))
    by_q = here.coriolis(joint.shift) + here.inertial(joint.drift)
    by_rate = coriolis + here.inertial(joint.twice)
    by_qd = coriolis + here.inertial(joint.sum_shift)
    dy = combined(by_q, moves.G) + combined(by_rate, moves.rate) + combined(inertial, moves.second)
    dyd = combined(by_qd, moves.G) + combined(inertial, 2.0 * moves.rate)
    return _Changes(dy, dyd, _Row(combined(inertial, moves.G), row.turning @ moves.G)), row


def _by_itself(motion: Motion, body: int, moves: _Moves) -> ByCoordinates:
    """Changes of friction, of a rotor's force and of springs at a joint."""
    rotor, slope = motion.joints[body].rotor_inertia, friction_slope(motion, body)
    stiffness = joint_stiffness(motion.mechanism, body)
    return (
        slope * moves.rate + rotor * moves.second + stiffness * moves.G,
        2.0 * rotor * moves.rate + slope * moves.G,
        rotor * moves.G,
    )


def _felt_inside(
    motion: Motion, tree: MovingTree, node: _Node, body: int, row: _Row
) -> Iterator[ByCoordinates]:
    """What joints of the cluster further inwards do to a joint, by carrying all of it along."""
    bodies = motion.mechanism.tree.bodies
    while bodies[body].parent in node.rows:
        row, body = row.moved(tree.inward[body]), bodies[body].parent
        yield row.felt(tree.axes[body], node.of(body))


def _pair(
    result: ForceDerivatives,
    inner: _Node,
    body: int,
    joint: Axes,
    outer: _Node,
    changed: _Changes,
) -> None:
    """What two clusters do to each other's forces by one joint of the inner, that of ``body``."""
    moves, a, b = inner.of(body), inner.slots, outer.slots
    by_inner = changed.row.felt(joint, moves)
    by_outer = changed.along(joint.S)
    for part, carrying, pushing in zip(result[:3], by_inner, by_outer, strict=True):
        part[b, a] += carrying
        part[a, b] += moves.G.T @ pushing
