"""From submechanisms to clusters: which joints are solved together, which bodies move together.

A *component* is a minimal set of joints coupled by loops or gears: one closure. A *cluster* is what
one node of the cluster tree holds (Chignoli et al.): one or more components, closed under the paths
to a single parent body, so that the clusters form a tree again, in regular numbering.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from .submechanism import Coupling, LoopConstraint, Submechanism
from .tree import Tree
from .words import FUNCTION


@dataclass(frozen=True, eq=False)
class Component:
    """Joints that one closure determines together.

    Attributes:
        entry: the submechanism it comes from.
        joints: body indices, ascending.
        independent, active: body indices, in the order of the file.
        loops, couplings: the constraints among these joints.
    """

    entry: Submechanism
    joints: tuple[int, ...]
    independent: tuple[int, ...]
    active: tuple[int, ...]
    loops: tuple[LoopConstraint, ...]
    couplings: tuple[Coupling, ...]


@dataclass(frozen=True, eq=False)
class Cluster:
    """One node of the cluster tree.

    Attributes:
        components: indices of its components.
        bodies: ascending; parent: the one body all its base joints hang on (-1: the root).
    """

    components: tuple[int, ...]
    bodies: tuple[int, ...]
    parent: int


def united(groups: Iterable[Iterable[int]], *ties: Iterable[int]) -> list[list[int]]:
    """``groups``, those that a tie touches made one; sorted, as are their items."""
    result = [set(group) for group in groups]
    for tie in map(set, ties):
        touched = [group for group in result if group & tie]
        result = [group for group in result if not group & tie]
        result += [set().union(*touched)] if touched else []
    return sorted(map(sorted, result))


def split_components(tree: Tree, entries: Iterable[Submechanism]) -> tuple[Component, ...]:
    """Minimal components of all entries; unconstrained joints become components of their own."""
    components: list[Component] = []
    for entry in entries:
        bodies = [tree.joint_index(name) for name in entry.spanning]
        ties = [loop_bodies(tree, loop) for loop in entry.loops]
        ties += [bodies] if entry.type == FUNCTION else []
        ties += [[tree.joint_index(n) for n in (c.joint, *c.terms)] for c in entry.couplings]
        groups = united(([b] for b in bodies), *ties)
        components += [_component(tree, entry, group) for group in groups]
    return tuple(components)


def _component(tree: Tree, entry: Submechanism, group: list[int]) -> Component:
    inside = set(group)
    names = {tree.bodies[b].joint.name for b in group}
    return Component(
        entry,
        tuple(group),
        tuple(b for b in map(tree.joint_index, entry.independent) if b in inside),
        tuple(b for b in map(tree.joint_index, entry.active) if b in inside),
        tuple(x for x in entry.loops if inside.intersection(loop_bodies(tree, x))),
        tuple(c for c in entry.couplings if c.joint in names),
    )


def loop_bodies(tree: Tree, loop: LoopConstraint) -> list[int]:
    """Bodies on the way from predecessor to successor, the common ancestor excluded."""
    a = set(tree.path_to_root(tree.frames[loop.predecessor][0]))
    b = set(tree.path_to_root(tree.frames[loop.successor][0]))
    return sorted(a ^ b)


def build_clusters(tree: Tree, components: tuple[Component, ...]) -> tuple[Cluster, ...]:
    """Merge components until each cluster hangs on one parent body."""
    of_body = {b: c for c, component in enumerate(components) for b in component.joints}
    groups = [[c] for c in range(len(components))]
    while True:
        clusters = []
        for group in groups:
            bodies = {b for c in group for b in components[c].joints}
            parents = {tree.bodies[b].parent for b in bodies} - bodies
            between = _below_common_ancestor(tree, parents)
            if between:
                groups = united(groups, [group[0], *(of_body[b] for b in between)])
                break
            clusters.append(Cluster(tuple(group), tuple(sorted(bodies)), parents.pop()))
        else:
            return tuple(sorted(clusters, key=lambda cluster: cluster.bodies[0]))


def _below_common_ancestor(tree: Tree, bodies: set[int]) -> set[int]:
    """Bodies on the ways from the given ones up to their last common ancestor, that excluded."""
    if len(bodies) < 2:
        return set()
    paths = [[*tree.path_to_root(b), -1] for b in bodies]
    common = next(b for b in paths[0] if all(b in path for path in paths))
    return {b for path in paths for b in path[: path.index(common)]}
