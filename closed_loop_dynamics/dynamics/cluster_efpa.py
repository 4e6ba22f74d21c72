"""Cluster EFPA: the inverse operational-space inertia matrix by extended force propagators.

Chignoli et al., Sec. VIII (after Wensing, Featherstone and Orin 2012). A force f on a body is felt
further inwards as chi f, as if all joints in between were free. Across the cluster of that body,
with S = X_intra diag(S_i) G its motion subspace as seen from the cluster's parent body,

    B = S^T chi,   chi' = X^T chi - U D^-1 B                                    (Eqs. 61 and 62)

and the cluster itself answers with ydd = D^-1 B f. The propagators are taken once per stretch
between bodies where forces act or ways meet, not once per end-effector and joint, and combined
there: with w(s, t) the acceleration of body s for a force on body t, and p the next such body
inwards of s,

    w(s, s) = sum of B^T D^-1 B over the stretch + chi^T w(p, p) chi,   w(s, t) = chi^T w(p, t).

For n joints and k end-effectors that is O(n + k^2); M_y is never formed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX, Spatial, Transform, symmetric_half
from .articulated import Articulated, ArticulatedCluster, accelerate, articulate, through_cluster
from .motion import Motion

#: A link as the tree knows it: its body (-1: the root), and its pose (4, 4) in the body frame.
Frame = tuple[int, Array]


def propagate(motion: Motion, node: ArticulatedCluster, body: int, chi: SX) -> tuple[SX, SX, SX]:
    """Forces ``chi`` (6, k) on a body of a cluster, across that cluster.

    Returns B (m_c, k), D^-1 B, and chi' (6, k) on the cluster's parent body.
    """
    count = chi.shape[1]
    t, locked = ca.SX(node.G.shape[0], count), []
    for i in range(count):
        along, arrived = through_cluster(motion, node.index, body, Spatial.of(chi[:, i]))
        for b, force in along.items():
            t[node.index[b], i] = force
        locked.append(arrived.stacked)
    B = ca.densify(node.G.T @ t)
    D_inverse_B = node.factor.solve(B)
    return B, D_inverse_B, ca.horzcat(*locked) - node.U @ D_inverse_B


# -- inverse operational-space inertia -------------------------------------------------------------


def inverse_osim(motion: Motion, frames: Sequence[Frame]) -> tuple[SX, list[SX]]:
    """(6k, 6k) accelerations of the frames per forces on them, and the checks of D.

    Both are [angular; linear] in the frames; the robot is at rest and gravity does not act.
    """
    articulated = articulate(motion)
    response = _BodyResponses(articulated, {body for body, _ in frames if body >= 0})
    count = len(frames)
    blocks = [[ca.SX(6, 6) for _ in range(count)] for _ in range(count)]
    for i, (body_i, pose_i) in enumerate(frames):
        for j, (body_j, pose_j) in enumerate(frames[: i + 1]):
            # Y_i w Y_j^T with Y the motion transforms from body to frame.
            half = _motions_to(pose_i, response.of(body_i, body_j)).T
            block = _motions_to(pose_j, half).T
            blocks[i][j] = symmetric_half(block) if i == j else block
            blocks[j][i] = blocks[i][j].T
    whole = ca.vertcat(*(ca.horzcat(*row) for row in blocks))
    return whole, checks_of(articulated, [body for body, _ in frames])


def _motions_to(pose: Array, w: SX) -> SX:
    """The columns of ``w``, motions of a body, as motions of a frame on it."""
    if np.array_equal(pose, np.eye(4)):
        return w
    X = Transform.of(pose)
    columns = [X.motion_to_child(Spatial.of(w[:, i])).stacked for i in range(w.shape[1])]
    return ca.horzcat(*columns)


@dataclass(frozen=True, eq=False)
class _Stretch:
    """From a body inwards to the next station: its propagator, and the first cluster's answer."""

    end: int
    chi: SX
    own: SX
    B: SX
    D_inverse_B: SX


class _BodyResponses:
    """w(s, t) of all pairs of stations: bodies where forces act, and where their ways meet."""

    def __init__(self, articulated: Articulated, bodies: set[int]) -> None:
        self._articulated = articulated
        mech = articulated.motion.mechanism
        self._cluster_of = mech.cluster_of
        stations = self._find_stations(mech, bodies)
        #: Station -> its rank; clusters in order, so that nothing outwards of s ranks before s.
        ordered = sorted(stations, key=lambda b: (self._cluster_of[b], b))
        self._rank = {b: rank for rank, b in enumerate(ordered)}
        self._stretches: dict[int, _Stretch] = {}
        self._w: dict[tuple[int, int], SX] = {}
        for s in ordered:
            self._add(s)

    def of(self, s: int, t: int) -> SX:
        """(6, 6) acceleration of body ``s`` for a force on body ``t``."""
        if min(s, t) < 0:
            return ca.SX(6, 6)
        return self._w[s, t] if self._rank[s] >= self._rank[t] else self._w[t, s].T

    def _find_stations(self, mech: Mechanism, bodies: set[int]) -> set[int]:
        crossed: set[int] = set()
        for body in bodies:
            while body >= 0:
                crossed.add(body)
                body = mech.clusters[self._cluster_of[body]].parent
        entries = Counter(self._cluster_of[b] for b in crossed)
        arrivals = Counter(mech.clusters[self._cluster_of[b]].parent for b in crossed)
        # Where two bodies of a cluster are moved, the cluster answers both at once.
        shared = {b for b in crossed if entries[self._cluster_of[b]] > 1}
        meeting = {b for b in crossed if arrivals[b] > 1}
        return bodies | shared | meeting

    def _add(self, s: int) -> None:
        """w(s, s) and w(s, t) for all stations t of lower rank."""
        stretch = self._stretches[s] = self._stretch(s)
        chi, end = stretch.chi, stretch.end
        for t in list(self._rank)[: self._rank[s]]:
            self._w[s, t] = chi.T @ self.of(end, t)
            if self._cluster_of[t] == self._cluster_of[s]:
                self._w[s, t] += stretch.B.T @ self._stretches[t].D_inverse_B
        self._w[s, s] = symmetric_half(stretch.own + chi.T @ (self.of(end, end) @ chi))

    def _stretch(self, s: int) -> _Stretch:
        motion, body = self._articulated.motion, s
        chi, own = ca.SX(np.eye(6)), ca.SX(6, 6)
        first: tuple[SX, SX] | None = None
        while body >= 0 and (body == s or body not in self._rank):
            node = self._articulated.nodes[self._cluster_of[body]]
            B, D_inverse_B, chi = propagate(motion, node, body, chi)
            own = own + B.T @ D_inverse_B
            first = first or (B, D_inverse_B)
            body = node.cluster.parent
        assert first is not None
        return _Stretch(body, chi, own, *first)


def checks_of(articulated: Articulated, bodies: Sequence[int]) -> list[SX]:
    """One check per cluster: the pivots of D where forces on ``bodies`` are felt, else 1."""
    mech = articulated.motion.mechanism
    clusters, of = mech.clusters, mech.cluster_of

    def top(k: int) -> int:
        while clusters[k].parent >= 0:
            k = of[clusters[k].parent]
        return k

    felt = {top(of[b]) for b in bodies if b >= 0}
    pivots = articulated.pivots
    return [pivots[k] if top(k) in felt else ca.SX(1.0) for k in range(len(clusters))]


# -- a single force -------------------------------------------------------------------------------


def response_to_force(motion: Motion, frame: Frame, wrench: SX) -> tuple[SX, SX, list[SX]]:
    """ydd (m, 1), acceleration of the frame (6, 1), and the checks of D, for a force on the frame.

    The robot is at rest and gravity does not act: ydd = M_y^-1 J^T f, acceleration = J ydd.
    """
    mech, articulated = motion.mechanism, articulate(motion)
    body, pose = frame
    ydd = ca.SX.zeros(mech.m)
    checks = checks_of(articulated, [body])
    if body < 0:
        return ydd, ca.SX.zeros(6), checks
    X = Transform.of(pose)
    a: dict[int, Spatial] = {-1: Spatial.zero()}

    # Inward: what the clusters on the way to the root answer by themselves.
    chi = X.force_to_parent(Spatial.of(wrench)).stacked
    answers: dict[int, SX] = {}
    felt_at = body
    while felt_at >= 0:
        k = mech.cluster_of[felt_at]
        _, answers[k], chi = propagate(motion, articulated.nodes[k], felt_at, chi)
        felt_at = articulated.nodes[k].cluster.parent

    # Outward: everything that they carry along.
    for k, node in sorted(articulated.nodes.items()):
        parent = node.cluster.parent
        if k not in answers and (parent < 0 or parent not in a):
            continue
        local = answers.get(k, ca.SX.zeros(len(node.slots)))
        if parent >= 0:
            local = local - node.D_inverse_U @ a[parent].stacked
        ydd[node.slots] = local
        accelerate(motion, node, local, a)
    return ydd, X.motion_to_child(a[body]).stacked, checks
