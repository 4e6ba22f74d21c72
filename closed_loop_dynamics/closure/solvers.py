"""Which loops are solved in closed form, which by Newton, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..engine import cache
from ..errors import SubmechanismError
from ..model.clusters import Component
from ..model.submechanism import Submechanism
from .analytical import DEFAULT_TOLERANCE, AnalyticalChoice, AnalyticalClosure
from .block import NotClosedForm
from .branch import Branch
from .closed_form import choose
from .closure import Closure

#: A closed form that is proved on less of the branch is slower than Newton: it leaves the rest to
#: continuation.
LEAST_SHARE = 0.5


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
    try:
        choice = _cached_choice(branch, key)
    except NotClosedForm as misfit:
        if wanted == "analytical":
            raise SubmechanismError(
                f"submechanism '{entry.name}' has no closed form: {misfit}",
                file=entry.file,
                place=f"{entry.place}.solver",
                remedy="use `solver: auto` or `solver: numerical`",
            ) from None
        return branch.closure, f"no closed form: {misfit}"
    if wanted == "auto" and choice.share < LEAST_SHARE:
        return branch.closure, (
            f"the closed form is proved on {choice.share:.0%} of what the loop reaches within "
            "the joint limits: elsewhere it may be on another branch"
        )
    closed_form = AnalyticalClosure(branch.closure, choice, DEFAULT_TOLERANCE)
    names = "+".join(leg.name for leg in closed_form.legs)
    return closed_form, f"closed form by legs: {names}"


def _cached_choice(branch: Branch, key: str) -> AnalyticalChoice:
    data, _ = cache.get_or_make(key, lambda: (_choice(branch), b""))
    if "misfit" in data:
        raise NotClosedForm(data["misfit"])
    return AnalyticalChoice.of(data)


def _choice(branch: Branch) -> dict[str, Any]:
    """For the cache: the choice, or why there is none."""
    try:
        return choose(branch).as_dict()
    except NotClosedForm as misfit:
        return {"misfit": str(misfit)}
