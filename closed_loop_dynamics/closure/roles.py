"""Which joints of a loop are independent, for files that do not say so, and which only spin idly.

Motors come first; what they leave open is a motion of its own, undriven, but for the spin of a rod
between two balls: one body turns about a line while all others rest. Nothing holds or feels it; one
of its joints is frozen where the loop was assembled, which makes a ball a universal joint.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace

import numpy as np

from ..arrays import Array
from ..engine import cache
from ..engine.symbolic import tracing
from ..model.clusters import split_components
from ..model.poses import body_poses
from ..model.remark import Remark
from ..model.submechanism import Coupling, Submechanism
from ..model.tree import Tree
from .gaps import gap_words
from .loop_numbers import LoopNumbers
from .loop_system import loop_system
from .plan import assembled_samples
from .rank import best_columns, null_space, rank_of
from .reference import CLOSED, find_reference

#: Relative size of a motion that counts as none: dimensions are rounded.
REST = 1e-3
#: Wanted columns are made smaller by this: the last to become dependent.
WANTED = 1e-3
#: Mass and inertia below this share of the largest are an exporter's, who may not write zero.
WEIGHTLESS = 1e-6


@dataclass(frozen=True)
class Roles:
    """What was decided (JSON-serialisable): joints by name, a closed ``reference`` [rad or m]."""

    independent: list[str]
    frozen: list[str]
    reference: dict[str, float]
    notes: list[str]


def with_roles(tree: Tree, entry: Submechanism, key: str) -> Submechanism:
    """The entry itself, or what its format left undecided decided; ``key`` is for the cache.

    Raises:
        SubmechanismError: the loops cannot be assembled, with their gaps.
    """
    if not entry.undecided:
        return entry
    data, _ = cache.get_or_make(key, lambda: (asdict(_roles(tree, entry)), b""))
    roles = Roles(**data)
    remarks = [Remark("warning", "assembled", f"{entry.name}: {note}") for note in roles.notes]
    active = entry.active
    if "active" in entry.undecided:
        active = tuple(roles.independent)
        message = f"{entry.name}: the file does not say what is driven, taken: {', '.join(active)}"
        remarks.append(Remark("info", "actuators-assumed", message))
    if roles.frozen:
        message = (
            f"{entry.name}: parts that turn about a line while all else rests, felt by nothing; "
            f"held where the loop was assembled: {', '.join(roles.frozen)}"
        )
        remarks.append(Remark("warning", "idle-spin", message))
    held = [
        Coupling(name, {}, roles.reference[name], entry.place, entry.file) for name in roles.frozen
    ]
    return replace(
        entry,
        independent=tuple(roles.independent),
        active=active,
        couplings=(*entry.couplings, *held),
        reference=roles.reference,
        assemble=False,
        undecided=(),
        remarks=(*entry.remarks, *remarks),
    )


@tracing()
def _roles(tree: Tree, entry: Submechanism) -> Roles:
    (component,) = split_components(tree, [entry])
    wanted = [component.joints.index(b) for b in component.active]
    if "active" in entry.undecided:  # motors stand on the base
        inside = set(component.joints)
        wanted = [i for i, b in enumerate(component.joints) if tree.bodies[b].parent not in inside]
    system = replace(loop_system(tree, component), independent=tuple(wanted))
    numbers = LoopNumbers(system)
    names = system.names(range(numbers.n))
    q0 = np.array([entry.reference.get(name, 0.0) for name in names])
    q, notes = find_reference(numbers, entry)
    if notes and np.max(np.abs(numbers.scaled(q0)[0])) >= CLOSED:
        notes = [f"{notes[0]}; gaps at q = 0: {gap_words(system, q0)}"]
    K_ref = numbers.scaled(q)[1]
    K_all = [numbers.scaled(each)[1] for each in assembled_samples(numbers, q, along=K_ref)]
    rank = max(map(rank_of, K_all))
    K = K_ref if rank_of(K_ref) == rank else next(K for K in K_all if rank_of(K) == rank)
    frozen = _idle_spins(numbers, q, K, wanted)
    moving = [i for i in range(numbers.n) if i not in frozen]
    weight = np.where(np.isin(moving, wanted), WANTED, 1.0)
    dependent = {moving[i] for i in best_columns(K[:, moving] * weight)[:rank]}
    return Roles(
        [names[i] for i in moving if i not in dependent],
        [names[i] for i in frozen],
        dict(zip(names, map(float, q), strict=True)),
        notes,
    )


def _idle_spins(numbers: LoopNumbers, q: Array, K: Array, wanted: list[int]) -> list[int]:
    """Local positions of joints, one of each idle spin, to be held.

    With the motors at rest the loops leave N, the null space of the other columns. Bodies with
    equal rows of J N move as one; a motion in which only one such set moves, by turning, is a spin.
    Of its joints that one is held without which K keeps its rank best.
    """
    passive = [i for i in range(numbers.n) if i not in wanted]
    rank = rank_of(K[:, passive])
    N = np.zeros((numbers.n, len(passive) - rank))
    N[passive] = null_space(K[:, passive])
    sets: list[Array] = []
    for twist in (J @ N for J in _body_jacobians(numbers, q)):
        if not any(np.max(np.abs(other - twist), initial=0.0) < REST for other in sets):
            sets.append(twist)
    held: list[int] = []

    def left(joint: int) -> float:
        rest = [i for i in passive if i not in held and i != joint]
        return float(np.linalg.svd(K[:, rest], compute_uv=False)[rank - 1])

    for k in range(-1, len(sets)):  # -1: only bodies without mass move
        at_rest = [twist for i, twist in enumerate(sets) if i != k]
        for c in _null(np.concatenate([N[held], *at_rest])).T:
            if k < 0 or _turns(sets[k] @ c):
                motion = np.abs(N @ c)
                moved = [int(i) for i in np.flatnonzero(motion > 0.1 * np.max(motion))]
                held.append(max(moved, key=left))
    return held


def _turns(twist: Array) -> bool:
    """Whether a twist [angular; linear] is a rotation about a line."""
    size = float(np.linalg.norm(twist[:3]))
    return size > REST and abs(float(twist[:3] @ twist[3:])) < REST * size


def _null(A: Array) -> Array:
    """(n, k) what A maps to less than :data:`REST`."""
    _, values, V = np.linalg.svd(A)
    rank = int(np.sum(values > REST))
    return np.asarray(V[rank:].T)


def _body_jacobians(numbers: LoopNumbers, q: Array) -> Iterator[Array]:
    """(6, n) twist over scaled joint rates, about the root's origin, of each body that weighs."""
    system, tree = numbers.system, numbers.system.tree
    names = system.names(range(numbers.n))
    poses = body_poses(tree, dict(zip(names, map(float, q), strict=True)))
    S = np.zeros((6, numbers.n))
    for i, b in enumerate(system.joints):
        R, p = poses[b][:3, :3], poses[b][:3, 3]
        w, v = (R @ part for part in np.split(tree.bodies[b].joint.S[:, 0], 2))
        S[:, i] = np.concatenate([w, (v + np.cross(p, w)) / numbers.length])
    S *= numbers.column_scale
    weights = np.array([(body.mass, np.trace(body.inertia)) for body in tree.bodies])
    heavy = {
        i
        for b in np.flatnonzero(np.any(weights > WEIGHTLESS * weights.max(axis=0), axis=1)).tolist()
        for i in [next((x for x in tree.path_to_root(b) if x in system.local), None)]
        if i is not None
    }
    for b in sorted(heavy):
        moved = [system.local[x] for x in tree.path_to_root(b) if x in system.local]
        yield S * np.isin(np.arange(numbers.n), moved)
