"""Which kind of closure a component gets: by itself, in closed form or by Newton, and why.

Loops start out numerical; closed forms replace them once their branch is known.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..engine import cache
from ..model.clusters import Component
from ..model.joint_vector import JointVector
from ..model.submechanism import Submechanism
from ..model.tree import Tree
from ..model.words import FUNCTION
from .analytical import AnalyticalChoice, AnalyticalClosure
from .block import NotClosedForm
from .branch import Branch
from .closed_form import choose
from .closure import Closure
from .curves import curve_function
from .linear import LinearClosure, SerialClosure, coupling_closure
from .loop_system import loop_system
from .numerical import NumericalClosure
from .plan import Plan, make_plan
from .smooth import Gamma, SmoothClosure

#: A closed form that is proved on less of the branch is slower than Newton: it leaves the rest to
#: continuation.
LEAST_SHARE = 0.5


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
        entry = component.entry
        gamma = curve_function(entry) if entry.curves else functions[entry.name]
        return SmoothClosure(tree, component, gamma)
    if component.loops:
        system = loop_system(tree, component)
        data, _ = cache.get_or_make(key, lambda: (asdict(make_plan(system, component.entry)), b""))
        return NumericalClosure(system, Plan(**data))
    if component.couplings:
        return coupling_closure(tree, component)
    if component.independent:
        return SerialClosure(JointVector.velocities(tree, component.joints).size)
    # A joint that nothing moves: it rests (the linter names it).
    return LinearClosure("idle", np.zeros((1, 0)), np.zeros(1))


def choose_solvers(
    components: Sequence[Component],
    closures: Sequence[Closure],
    branches: Mapping[int, Branch],
    override: str | None,
    key: str,
) -> tuple[tuple[Closure, ...], dict[int, str]]:
    """Closed forms in place of numerical closures where the file (or ``override``) lets us.

    Args:
        components, closures: of the whole robot, in the same order.
        branches: of every component with loops.
        override: a word of SOLVERS in place of those of the file.
        key: names the robot in the cache.

    Returns:
        All closures, and component -> a sentence for every component with loops.

    Raises:
        SubmechanismError: ``solver: analytical`` on a loop that has no closed form.
    """
    chosen, reasons = list(closures), {}
    for c, branch in branches.items():
        entry = components[c].entry
        wanted = override or entry.solver
        chosen[c], reasons[c] = _choose(entry, branch, wanted, cache.key_of("choice", key, c))
    return tuple(chosen), reasons


def _choose(entry: Submechanism, branch: Branch, wanted: str, key: str) -> tuple[Closure, str]:
    """The closure of one component with loops, and why."""
    if wanted == "numerical":
        return branch.closure, "asked for"
    data, _ = cache.get_or_make(key, lambda: (_choice(branch), b""))
    if "misfit" in data:
        if wanted == "analytical":
            raise entry.error(
                f"submechanism '{entry.name}' has no closed form: {data['misfit']}",
                "use `solver: auto` or `solver: numerical`",
                key="solver",
            )
        return branch.closure, f"no closed form: {data['misfit']}"
    choice = AnalyticalChoice.of(data)
    if wanted == "auto" and choice.share < LEAST_SHARE:
        return branch.closure, (
            f"the closed form is proved on {choice.share:.0%} of what the loop reaches within "
            "the joint limits: elsewhere it may be on another branch"
        )
    closed_form = AnalyticalClosure(branch.closure, choice)
    names = "+".join(leg.name for leg in closed_form.legs)
    return closed_form, f"closed form by legs: {names}"


def _choice(branch: Branch) -> dict[str, Any]:
    """For the cache: the choice, or why there is none."""
    try:
        return asdict(choose(branch))
    except NotClosedForm as misfit:
        return {"misfit": str(misfit)}
