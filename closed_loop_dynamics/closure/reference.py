"""The reference configuration of a loop cluster: where its branch starts, closed to rounding."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..model.poses import body_poses
from ..model.submechanism import Submechanism
from .assembly import assembled, least_gap, stuck_loop
from .cut_joint import CutJoint
from .gaps import gap_words
from .loop_numbers import LoopNumbers
from .loop_system import LoopSystem

#: Largest scaled residual of a closed configuration.
CLOSED = 1e-9
#: A reference that is further away is a mistake [rad or m], and a joint of it that has to move by
#: more to close the loop [rad, or loop lengths] is worth a remark.
FARTHEST, FAR = 1e4, 1e-2
#: A gap at q = 0 that is more than rounded dimensions [rad, or loop lengths].
GAP = 1e-3


def find_reference(numbers: LoopNumbers, entry: Submechanism) -> tuple[Array, list[str]]:
    """A closed configuration: q = 0, or near the file's ``reference``, or assembled."""
    system = numbers.system
    names = system.names(range(numbers.n))
    q0 = np.array([entry.reference.get(name, 0.0) for name in names])
    if np.max(np.abs(q0), initial=0.0) > FARTHEST:
        raise entry.error(
            f"submechanism '{system.name}': a reference beyond {FARTHEST:g} rad or m",
            "give positions in radians and metres",
            key="reference",
        )
    error = float(np.max(np.abs(numbers.scaled(q0)[0]), initial=0.0))
    if entry.assemble is None and error > GAP:
        raise entry.error(
            f"submechanism '{system.name}' is open; gaps: {gap_words(system, q0)}",
            "see what closes it by `closed-loop assemble`, or load it with assemble=True",
        )
    found = assembled(numbers, q0, CLOSED, turned_cut) if entry.assemble else None
    if found is not None and not np.allclose(found, q0, rtol=0.0, atol=CLOSED):
        what = "open" if error >= CLOSED else "at a dead point"
        return found, [f"{what} at q = 0; of the ways to assemble it, taken: {_show(names, found)}"]
    if error < CLOSED:
        return (numbers.close(q0, list(system.dependent))[0] if error > 0 else q0), []
    gap = error
    q, error = numbers.close(q0, list(system.dependent))
    if error < CLOSED and (gap < GAP or entry.reference):
        return q, _moved_far(numbers, entry, q0, q)
    if error < CLOSED:
        dependent = list(system.dependent)
        closed = _show([names[i] for i in dependent], q[dependent])
        words = f"open at q = 0, gaps there: {gap_words(system, q0)}; closed at {closed}"
        return q, [f"{words}; correct the cut frames, or write that as `reference:`"]
    explicit = any(cut.explicit for cut in system.cuts)
    if not entry.assemble and (explicit or entry.reference):
        found = assembled(numbers, q0, CLOSED, turned_cut)
        if found is not None:
            return found, [f"open at the given configuration; assembled at {_show(names, found)}"]
    words = f"no start closes it, least gaps reached: {gap_words(system, least_gap(numbers, q0))}"
    if len(system.cuts) > 1 and (stuck := stuck_loop(system, q0, CLOSED)):
        words += f"; with all other loops open still {gap_words(*stuck)}"
    raise entry.error(
        f"submechanism '{system.name}' does not close at its reference configuration; gaps there: "
        f"{gap_words(system, q0)}; {words}",
        "check the cut frames, or give `reference:` near an assembled configuration",
    )


def _moved_far(numbers: LoopNumbers, entry: Submechanism, q0: Array, q: Array) -> list[str]:
    """A remark on dependent joints whose position in the file is not where the loop closes."""
    names = numbers.system.names(range(numbers.n))
    away = np.abs(q - q0) / numbers.column_scale
    wrong = [i for i, name in enumerate(names) if name in entry.reference and away[i] > FAR]
    if not wrong:
        return []
    given, closed = (_show([names[i] for i in wrong], at[wrong]) for at in (q0, q))
    return [f"the reference of the file is open: it gives {given}; closed at {closed}"]


def check_orientation(numbers: LoopNumbers, entry: Submechanism, q: Array) -> None:
    """Rotation rows also vanish when a cut is turned by half a turn: that is not closed."""
    system = numbers.system
    cut = turned_cut(system, q)
    if cut is not None:
        raise entry.error(
            f"submechanism '{system.name}' closes only with {cut.labels[0]} turned by half a turn",
            "check the cut frames, or give `reference:` near the wanted configuration",
        )


def turned_cut(system: LoopSystem, q: Array) -> CutJoint | None:
    """The first cut that is turned by half a turn, if any."""
    names = system.names(range(len(system.joints)))
    poses = body_poses(system.tree, dict(zip(names, map(float, q), strict=True)))
    for cut in system.cuts:
        R_p, R_s = (poses[cut.predecessor] @ cut.frame_p, poses[cut.successor] @ cut.frame_s)
        D = R_p[:3, :3].T @ R_s[:3, :3]
        upright = True
        if len(cut.rotations) == 3:
            upright = float(np.trace(D)) > 0.0
        elif len(cut.rotations) == 2:
            free = cut.direction(successor=True)
            upright = float(free @ D @ free) > 0.0
        if not upright:
            return cut
    return None


def _show(names: list[str], q: Array) -> str:
    return ", ".join(f"{name}={value:.4g}" for name, value in zip(names, q, strict=True))
