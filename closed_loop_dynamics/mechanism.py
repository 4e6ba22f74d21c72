"""A robot as the dynamics see it: tree, closures, clusters, and where each coordinate is.

Built once by :func:`build_mechanism`; immutable afterwards. The order of vectors is fixed here: the
entries of the submechanism file in their order, then the joints in no entry in tree order; a
floating base comes first, with 7 positions (x, y, z, quaternion x, y, z, w) and 6 velocities
(angular, linear, in the base frame).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from .closure.analytical import AnalyticalClosure
from .closure.cut_joint import resolve
from .closure.derive import with_derived_loops
from .closure.linear import LinearClosure, coupling_closure, serial_closure
from .closure.numerical import LoopSystem, NumericalClosure
from .closure.plan import Plan, make_plan
from .closure.smooth import Gamma, SmoothClosure
from .engine import cache
from .errors import InvalidInput, SubmechanismError, UrdfError, did_you_mean
from .fingerprint import source_digest
from .model.clusters import Cluster, Component, build_clusters, split_components
from .model.submechanism import Submechanism
from .model.tree import FLOATING, Tree
from .model.words import FUNCTION

Closure = LinearClosure | NumericalClosure | AnalyticalClosure | SmoothClosure


@dataclass(frozen=True, eq=False)
class Mechanism:
    """Everything the tracing functions need.

    Attributes:
        closures: one per component.
        spanning, independent, actuator: bodies in the order of q, y, u.
        y_at, v_at: body -> first index in y / yd (independent joints only).
        q_at, qd_at: body -> first index in q / qd.
        x_at: component -> first index in the vector of Newton unknowns.
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
    y_at: dict[int, int]
    v_at: dict[int, int]
    q_at: dict[int, int]
    qd_at: dict[int, int]
    x_at: dict[int, int]
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)

    @cached_property
    def floating(self) -> bool:
        """The first body is a free flyer."""
        return bool(self.tree.bodies) and self.tree.bodies[0].joint.kind == FLOATING

    @cached_property
    def m(self) -> int:
        """Degrees of freedom: length of yd."""
        return len(self.independent) + 5 * self.floating

    @cached_property
    def n(self) -> int:
        """Length of qd."""
        return len(self.spanning) + 5 * self.floating

    @cached_property
    def p(self) -> int:
        """Number of actuators."""
        return len(self.actuator)

    @cached_property
    def n_y(self) -> int:
        """Length of y."""
        return self.m + self.floating

    @cached_property
    def n_q(self) -> int:
        """Length of q."""
        return self.n + self.floating

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
        return [c for c, closure in enumerate(self.closures) if isinstance(closure, SmoothClosure)]

    def loop_closure(self, component: int) -> NumericalClosure | None:
        """The loops of a component and their linear equations; None where it has none."""
        closure = self.closures[component]
        if isinstance(closure, AnalyticalClosure):
            return closure.numerical
        return closure if isinstance(closure, NumericalClosure) else None

    def with_closures(self, closures: Sequence[Closure]) -> Mechanism:
        """The same robot with other closures."""
        return replace(self, closures=tuple(closures), x_at=_unknown_offsets(closures))

    def is_floating(self, component: int) -> bool:
        """The component is the free flyer."""
        return self.floating and self.components[component].joints == (0,)

    def joint_name(self, body: int) -> str:
        """Name of the joint that moves a body."""
        return self.tree.bodies[body].joint.name


def build_mechanism(
    tree: Tree, entries: Sequence[Submechanism], key: str, functions: Mapping[str, Gamma]
) -> Mechanism:
    """Derive loops where the file gives none, split into components, choose closures.

    ``key`` identifies the model, for the cache of load-time decisions; ``functions`` are the
    closures that the user wrote, by submechanism.
    """
    key = cache.key_of(key, source_digest())
    _check_floating(tree)
    entries = tuple(with_derived_loops(tree, entry) for entry in entries)
    components = split_components(tree, entries)
    _check_functions(entries, functions)
    closures = tuple(
        SmoothClosure(tree, c, functions[c.entry.name])
        if c.entry.type == FUNCTION
        else _closure(tree, c, i, key)
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
        _offsets(tree, independent, 7),
        _offsets(tree, independent, 6),
        _offsets(tree, spanning, 7),
        _offsets(tree, spanning, 6),
        _unknown_offsets(closures),
    )


def _check_floating(tree: Tree) -> None:
    """One free flyer at most, and before all other joints: its coordinates come first."""
    floating = [i for i, body in enumerate(tree.bodies) if body.joint.kind == FLOATING]
    if floating not in ([], [0]):
        names = ", ".join(f"'{tree.bodies[i].joint.name}'" for i in floating)
        raise UrdfError(
            f"floating joint {names} is not the only joint at the root",
            file=tree.source,
            place=f"joint {names}",
            remedy="let one floating joint carry the whole robot",
        )


def _check_functions(entries: Sequence[Submechanism], functions: Mapping[str, Gamma]) -> None:
    """Functions and entries of type "function" must match one to one."""
    if not isinstance(functions, Mapping):
        raise InvalidInput("closures is not a mapping from submechanisms to functions")
    wanted = {entry.name: entry for entry in entries if entry.type == FUNCTION}
    for name, entry in wanted.items():
        if name not in functions:
            raise SubmechanismError(
                f"submechanism '{name}' of type 'function' needs a Python function",
                file=entry.file,
                place=f"{entry.place}.type",
                remedy=f"call load(..., closures={{'{name}': function}})",
            )
    for name in functions:
        if name not in wanted:
            raise InvalidInput(
                f"closures['{name}']: no submechanism of type 'function' has this name; "
                f"{did_you_mean(name, wanted)}"
            )


def _unknown_offsets(closures: Sequence[Closure]) -> dict[int, int]:
    offsets, count = {}, 0
    for c, closure in enumerate(closures):
        offsets[c] = count
        count += closure.n_x
    return offsets


def _offsets(tree: Tree, bodies: Sequence[int], floating_size: int) -> dict[int, int]:
    offsets, count = {}, 0
    for b in bodies:
        offsets[b] = count
        count += floating_size if tree.bodies[b].joint.kind == FLOATING else 1
    return offsets


def _closure(tree: Tree, component: Component, index: int, key: str) -> Closure:
    if not component.loops and not component.couplings:
        if component.independent:
            return serial_closure(len(component.joints))
        # In no loop and not independent: nothing moves it; it rests (the linter names it).
        return LinearClosure("idle", np.zeros((1, 0)), np.zeros(1))
    if not component.loops:
        return coupling_closure(tree, component)
    system = LoopSystem(
        component.entry.name,
        tree,
        component.joints,
        tuple(component.joints.index(b) for b in component.independent),
        tuple(resolve(tree, component.entry, loop) for loop in component.loops),
        component.couplings,
    )
    return NumericalClosure(system, _cached_plan(system, component, index, key))


def _cached_plan(system: LoopSystem, component: Component, index: int, key: str) -> Plan:
    plan_key = cache.key_of("plan", key, index)
    data, _ = cache.get_or_make(
        plan_key, lambda: (make_plan(system, component.entry).as_dict(), b"")
    )
    return _plan_from(data)


def _plan_from(data: dict[str, Any]) -> Plan:
    blocks = [(list(rows), list(columns)) for rows, columns in data["blocks"]]
    return Plan(**{**data, "blocks": blocks})
