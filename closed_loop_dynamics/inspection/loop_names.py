"""By which names the loops of a robot are asked for."""

from __future__ import annotations

from collections.abc import Mapping

from ..closure.branch import Branch
from ..errors import InvalidInput, did_you_mean


def loop_names(branches: Mapping[int, Branch]) -> dict[int, str]:
    """Component -> the name under which :meth:`Robot.submechanism` finds its loops.

    The entry's, or their first independent joint where an entry holds several unrelated loops.
    """
    entries = [branch.name for branch in branches.values()]
    return {
        c: branch.names[0] if entries.count(branch.name) > 1 and branch.names else branch.name
        for c, branch in branches.items()
    }


def component_called(branches: Mapping[int, Branch], name: str) -> int:
    """The component with loops of this entry, or with this independent joint.

    Raises:
        InvalidInput: there is none, or the entry holds several unrelated loops.
    """
    if not isinstance(name, str):
        raise InvalidInput(f"no submechanism with loops {name!r}; give a name")
    fitting = [c for c, branch in branches.items() if branch.name == name]
    if len(fitting) == 1:
        return fitting[0]
    for c, branch in branches.items():
        if name in branch.names:
            return c
    if not fitting:
        known = [word for branch in branches.values() for word in (branch.name, *branch.names)]
        raise InvalidInput(
            f"no submechanism with loops '{name}'; {did_you_mean(name, dict.fromkeys(known))}"
        )
    joints = " / ".join(", ".join(branches[c].names) for c in fitting)
    raise InvalidInput(
        f"submechanism '{name}' holds {len(fitting)} unrelated loops; ask for one of them by an "
        f"independent joint of it: {joints}"
    )
