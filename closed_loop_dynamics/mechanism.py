"""A robot as the dynamics see it: tree, closures, clusters, and where each coordinate is.

Built once by :func:`build_mechanism`; immutable afterwards. The order of vectors is fixed here: the
entries of the submechanism file in their order, then the joints in no entry in tree order; a
floating base comes first. A free flyer has 7 positions (x, y, z, quaternion x, y, z, w) and 6
velocities (angular, linear, in its body's frame), a ball joint the last 4 and the first 3 of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

import numpy as np

from .arrays import Array
from .closure.closure import Closure
from .closure.derive import with_derived_loops
from .closure.roles import with_roles
from .closure.smooth import Gamma
from .closure.solvers import build_closure
from .engine import cache
from .errors import InvalidInput, did_you_mean
from .fingerprint import source_digest
from .model.clusters import Cluster, Component, build_clusters, split_components
from .model.joint_vector import JointVector
from .model.submechanism import Submechanism
from .model.tree import FLOATING, Joint, Tree
from .model.words import FUNCTION


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Everything the tracing functions need.

    Attributes:
        closures: one per component.
        spanning, independent, actuator: bodies in the order of q, y, u.
        gravity: acceleration of gravity in the root frame [m/s^2].
    """

    tree: Tree
    entries: tuple[Submechanism, ...]
    components: tuple[Component, ...]
    closures: tuple[Closure, ...]
    clusters: tuple[Cluster, ...]
    spanning: tuple[int, ...]
    independent: tuple[int, ...]
    actuator: tuple[int, ...]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    @cached_property
    def floating(self) -> bool:
        """The first body is a free flyer: the base, whose numbers come first."""
        return bool(self.tree.bodies) and self.tree.bodies[0].joint.kind == FLOATING

    @cached_property
    def turning(self) -> tuple[int, ...]:
        """Bodies whose joints have a quaternion; none: positions and velocities are alike."""
        return tuple(b for b, x in enumerate(self.tree.bodies) if x.joint.has_quaternion)

    @cached_property
    def m(self) -> int:
        """Degrees of freedom: length of yd."""
        return self.yd.size

    @cached_property
    def n(self) -> int:
        """Length of qd."""
        return self.qd.size

    @cached_property
    def p(self) -> int:
        """Number of actuators."""
        return len(self.actuator)

    @cached_property
    def n_y(self) -> int:
        """Length of y."""
        return self.y.size

    @cached_property
    def n_q(self) -> int:
        """Length of q."""
        return self.q.size

    @cached_property
    def n_x(self) -> int:
        """Newton unknowns of all components."""
        return sum(c.n_x for c in self.closures)

    @property
    def numerical(self) -> list[int]:
        """Components that are solved by Newton."""
        return [c for c, closure in enumerate(self.closures) if closure.n_x]

    @property
    def loops(self) -> list[int]:
        """Components with loops, however they are solved."""
        return [c for c, component in enumerate(self.components) if component.loops]

    @property
    def functions(self) -> list[int]:
        """Components that a function of the user closes."""
        return [c for c, closure in enumerate(self.closures) if closure.kind == FUNCTION]

    @cached_property
    def cluster_of(self) -> dict[int, int]:
        """Body -> the cluster that it belongs to."""
        return {b: k for k, cluster in enumerate(self.clusters) for b in cluster.bodies}

    @property
    def drivable(self) -> list[int]:
        """Components with coordinates that actuators can drive: all but free flyers."""
        return [
            c
            for c, component in enumerate(self.components)
            if component.independent and self.joint(component.joints[0]).kind != FLOATING
        ]

    def joint(self, body: int) -> Joint:
        """The joint that moves a body."""
        return self.tree.bodies[body].joint

    def joint_name(self, body: int) -> str:
        """Its name."""
        return self.joint(body).name

    def scalar_joints(self, bodies: Iterable[int]) -> list[int]:
        """Those of ``bodies`` whose joints have one position: all but free flyers and balls."""
        return [b for b in bodies if self.joint(b).n_q == 1]

    # -- where each coordinate is ------------------------------------------------------------------

    @cached_property
    def y(self) -> JointVector:
        """Layout of the independent positions."""
        return self.positions(self.independent)

    @cached_property
    def yd(self) -> JointVector:
        """Layout of the independent velocities, accelerations and forces."""
        return self.velocities(self.independent)

    @cached_property
    def q(self) -> JointVector:
        """Layout of the spanning positions."""
        return self.positions(self.spanning)

    @cached_property
    def qd(self) -> JointVector:
        """Layout of the spanning velocities, accelerations and forces."""
        return self.velocities(self.spanning)

    @cached_property
    def flat(self) -> tuple[list[int], list[int]]:
        """Places in y and in yd of the joints that have one position."""
        joints = self.scalar_joints(self.independent)
        return self.y.slots(joints), self.yd.slots(joints)

    @cached_property
    def flying(self) -> list[int]:
        """Places in yd of free flyers, which nothing holds and nothing drives."""
        return self.yd.slots(b for b in self.turning if self.joint(b).kind == FLOATING)

    def positions(self, bodies: Iterable[int]) -> JointVector:
        """Layout of the positions of some joints."""
        return JointVector.positions(self.tree, bodies)

    def velocities(self, bodies: Iterable[int]) -> JointVector:
        """Layout of the velocities of some joints."""
        return JointVector.velocities(self.tree, bodies)

    @cached_property
    def x_at(self) -> list[int]:
        """Component -> first index in the vector of Newton unknowns."""
        return list(accumulate((closure.n_x for closure in self.closures), initial=0))

    # -- positions to start from ------------------------------------------------------------------

    def neutral_y(self) -> Array:
        """(n_y,) every joint at zero, free flyers upright at the origin."""
        return np.concatenate([np.zeros(0), *(self.joint(b).neutral for b in self.independent)])

    def neutral_q(self) -> Array:
        """(n_q,) the same of the spanning joints; loops need not close there."""
        return np.concatenate([np.zeros(0), *(self.joint(b).neutral for b in self.spanning)])


def build_mechanism(
    tree: Tree, entries: Sequence[Submechanism], key: str, functions: Mapping[str, Gamma]
) -> Mechanism:
    """Derive loops and roles where the file gives none, split into components, choose closures.

    ``key`` identifies the model, for the cache of load-time decisions; ``functions`` are the
    closures that the user wrote, by submechanism.
    """
    key = cache.key_of(key, source_digest())
    _check_tied(tree, entries)
    entries = tuple(
        with_roles(tree, with_derived_loops(tree, entry), cache.key_of("roles", key, i))
        for i, entry in enumerate(entries)
    )
    components = split_components(tree, entries)
    _check_functions(entries, functions)
    closures = tuple(
        build_closure(tree, c, functions, cache.key_of("plan", key, i))
        for i, c in enumerate(components)
    )
    clusters = build_clusters(tree, components)
    spanning = [tree.joint_index(n) for entry in entries for n in entry.spanning]
    independent = [tree.joint_index(n) for entry in entries for n in entry.independent]
    actuator = [tree.joint_index(n) for entry in entries for n in entry.active]
    return Mechanism(
        tree,
        entries,
        components,
        closures,
        clusters,
        tuple(spanning),
        tuple(independent),
        tuple(actuator),
    )


def _check_tied(tree: Tree, entries: Sequence[Submechanism]) -> None:
    """Loops and couplings tie joints of one position: balls and free flyers are on their own."""
    for entry in (entry for entry in entries if len(entry.spanning) > 1):
        for joint in (tree.bodies[tree.joint_index(name)].joint for name in entry.spanning):
            if joint.has_quaternion:
                raise entry.error(
                    f"submechanism '{entry.name}' ties the {joint.kind} joint '{joint.name}' to "
                    "others, which only joints of one position can be",
                    "write a ball joint there as three revolute joints in a row",
                )


def _check_functions(entries: Sequence[Submechanism], functions: Mapping[str, Gamma]) -> None:
    """Functions and entries of type "function" must match one to one."""
    if not isinstance(functions, Mapping):
        raise InvalidInput("closures is not a mapping from submechanisms to functions")
    wanted = {entry.name: entry for entry in entries if entry.type == FUNCTION and not entry.curves}
    for name, entry in wanted.items():
        if name not in functions:
            raise entry.error(
                f"submechanism '{name}' of type 'function' needs a Python function",
                f"call load(..., closures={{'{name}': function}})",
                key="type",
            )
    for name in functions:
        if name not in wanted:
            raise InvalidInput(
                f"closures['{name}']: no submechanism of type 'function' has this name; "
                f"{did_you_mean(name, wanted)}"
            )
