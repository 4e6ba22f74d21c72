"""Which kind of closure a component gets when a robot is loaded.

Loops start out numerical; :mod:`.solvers` replaces them by closed forms once their branch is known.
"""

from __future__ import annotations

from collections.abc import Mapping

from ..engine import cache
from ..model.clusters import Component
from ..model.joint_vector import JointVector
from ..model.tree import Tree
from ..model.words import FUNCTION
from .closure import Closure
from .linear import SerialClosure, coupling_closure, idle_closure
from .loop_system import LoopSystem, loop_system
from .numerical import NumericalClosure
from .plan import Plan, make_plan
from .smooth import Gamma, SmoothClosure


def build_closure(
    tree: Tree, component: Component, functions: Mapping[str, Gamma], key: str
) -> Closure:
    """The closure of a component.

    Args:
        functions: the closures that the user wrote, by submechanism.
        key: names the component in the cache of load-time decisions.

    Raises:
        SubmechanismError: it cannot be used as it is, with the reason.
    """
    if component.entry.type == FUNCTION:
        return SmoothClosure(tree, component, functions[component.entry.name])
    if component.loops:
        system = loop_system(tree, component)
        return NumericalClosure(system, _cached_plan(system, component, key))
    if component.couplings:
        return coupling_closure(tree, component)
    if component.independent:
        return SerialClosure(JointVector.velocities(tree, component.joints).size)
    return idle_closure()


def _cached_plan(system: LoopSystem, component: Component, key: str) -> Plan:
    data, _ = cache.get_or_make(key, lambda: (make_plan(system, component.entry).as_dict(), b""))
    return Plan.of(data)
