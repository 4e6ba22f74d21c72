"""Which loops are solved in closed form, which by Newton, and why."""

from __future__ import annotations

from collections.abc import Mapping

from ..engine import cache
from ..errors import SubmechanismError
from ..mechanism import Mechanism
from .analytical import DEFAULT_TOLERANCE, AnalyticalChoice, AnalyticalClosure, choose
from .branch import Branch
from .legs import NotClosedForm

#: A closed form that is proved on less of the branch is slower than Newton: it leaves the rest to
#: continuation.
LEAST_SHARE = 0.5


def choose_solvers(
    mech: Mechanism,
    branches: Mapping[int, Branch],
    override: str | None,
    key: str,
    reasons: dict[int, str],
) -> Mechanism:
    """Replace numerical closures by closed forms where the file (or ``override``) lets us.

    ``reasons`` receives a sentence for every component with loops.

    Raises:
        SubmechanismError: ``solver: analytical`` on a loop that has no closed form.
    """
    closures = list(mech.closures)
    for c, branch in branches.items():
        entry = mech.components[c].entry
        wanted = override or entry.solver
        if wanted == "numerical":
            reasons[c] = "asked for"
            continue
        try:
            choice = _cached_choice(branch, cache.key_of("choice", key, c))
        except NotClosedForm as misfit:
            reasons[c] = f"no closed form: {misfit}"
            if wanted == "analytical":
                raise SubmechanismError(
                    f"submechanism '{entry.name}' has no closed form: {misfit}",
                    file=entry.file,
                    place=f"{entry.place}.solver",
                    remedy="use `solver: auto` or `solver: numerical`",
                ) from None
            continue
        if wanted == "auto" and choice.share < LEAST_SHARE:
            reasons[c] = (
                f"the closed form is proved on {choice.share:.0%} of what the loop reaches within "
                "the joint limits: elsewhere it may be on another branch"
            )
            continue
        closed_form = AnalyticalClosure(branch.closure, choice, DEFAULT_TOLERANCE)
        closures[c] = closed_form
        names = "+".join(leg.name for leg in closed_form.legs)
        reasons[c] = f"closed form by legs: {names}"
    return mech.with_closures(closures)


def _cached_choice(branch: Branch, key: str) -> AnalyticalChoice:
    found = cache.load(key)
    if found is not None:
        if "misfit" in found[0]:
            raise NotClosedForm(found[0]["misfit"])
        return AnalyticalChoice.of(found[0])
    try:
        choice = choose(branch)
    except NotClosedForm as misfit:
        cache.store(key, {"misfit": str(misfit)})
        raise
    cache.store(key, choice.as_dict())
    return choice
