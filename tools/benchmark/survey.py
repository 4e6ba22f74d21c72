"""Every shipped robot, every quantity, every method: times taken in turns, checked first.

One short trajectory per robot. The reference is ours with closed forms wherever there are any; a
ratio is another's time over that. A cell stays empty where a method has nothing that compares, and
a note says why.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial

import yaml

from closed_loop_dynamics.quantities.operational_space import osim_program
from closed_loop_dynamics.robot import Robot, load

from ..oracles.mujoco_robot import NotInMujoco
from ..robots.shipped import SHIPPED
from .cases import HYBRID, Case, has_loops
from .checks import Check, cross_checks, relative_error, variant_checks
from .from_c import COMPILER, FROM_C, CSide
from .mujoco_side import MJ_FORWARD, MJ_ROLLOUT, MujocoSide
from .osim import BARE_TREE, pinocchio_osim, tips
from .pinocchio_side import LOOP_ABA, PinocchioSide
from .references import (
    METHODS,
    forward_references,
    in_numpy,
    inverse_references,
    osim_references,
    reference_checks,
)
from .states import States, make_states
from .timing import Contender, at_once, cold, row_by_row, take_turns

OURS, NUMERICAL = "ours", "numerical"
STATE, INVERSE, FORWARD = "state(y, yd, ydd)", "inverse dynamics", "forward dynamics"
OSIM = "inverse OSIM of the tips"
STATES = 200
BATCH_INVERSE, BATCH_FORWARD = (f"{what}, batch of {STATES}" for what in (INVERSE, FORWARD))
COLD_INVERSE, COLD_FORWARD = (f"{what}, cold caches" for what in (INVERSE, FORWARD))
#: Sweeps of memory take long: cold calls are timed in every so manieth round.
COLD_EVERY = 10
_SOLVED = (OURS, HYBRID, NUMERICAL)
#: What is asked -> who answers; the last are Pinocchio's and MuJoCo's functions.
QUANTITIES: dict[str, tuple[str, ...]] = {
    STATE: (*_SOLVED, "forwardKinematics(q, v, a)"),
    INVERSE: (*_SOLVED, FROM_C, *METHODS, "rnea"),
    FORWARD: (*_SOLVED, FROM_C, *METHODS, "constraintDynamics", *LOOP_ABA, "aba", MJ_FORWARD),
    OSIM: (*_SOLVED, *METHODS, BARE_TREE),
    COLD_INVERSE: (OURS, "rnea"),
    COLD_FORWARD: (OURS, "constraintDynamics", "aba"),
    BATCH_INVERSE: (*_SOLVED, *METHODS, "rneaInParallel"),
    BATCH_FORWARD: (*_SOLVED, *METHODS, "abaInParallel", MJ_ROLLOUT),
}
#: Where projection and Lagrange may be NumPy's.
LARGE_IN_NUMPY = (FORWARD, OSIM, BATCH_FORWARD)
#: MuJoCo's equalities are soft; what they would be if hard is extrapolated linearly.
MJ_HARD, EXTRAPOLATED = f"{MJ_FORWARD} (made hard)", 1e-3
Key = tuple[str, str]


@dataclass
class Survey:
    """One robot.

    Attributes:
        times: (quantity, method) -> seconds per evaluation.
        notes: what is not compared, or compared with a difference.
        in_numpy: projection and Lagrange of :data:`LARGE_IN_NUMPY` are NumPy's, not programs.
    """

    name: str
    size: str
    times: dict[Key, float] = field(default_factory=dict)
    checks: list[Check] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    in_numpy: bool = False

    def ratio(self, quantity: str, method: str) -> float | None:
        """The method's time over ours; None where it was not timed."""
        seconds = self.times.get((quantity, method))
        return None if seconds is None else seconds / self.times[quantity, OURS]


def survey(name: str, sweeps: int, say: Callable[[str], None] = lambda text: None) -> Survey:
    """Check and time one shipped robot; ``say`` hears what is going on."""
    say("loading (the first time ever: compiling)")
    shipped = SHIPPED[name]
    urdf, submechanisms = shipped.generate()
    case = Case(name, shipped.title, urdf, submechanisms, solver="auto", floating=shipped.floating)
    robot = case.load()
    mech, names = robot.mechanism, [branch.name for branch in robot.branches.values()]
    other, variants = PinocchioSide(case.urdf, robot), _variants(case, robot)
    size = f"{robot.n} / {robot.m} / {robot.p} / {len(names)}"
    result = Survey(name, size, in_numpy=in_numpy(robot))
    newton = [mech.components[c].entry.name for c in mech.numerical]
    if newton:
        result.notes.append(f"no closed form of {', '.join(newton)}: ours is numerical there")
    result.notes += _pinocchio_notes(other)
    say("checking")
    states = make_states(robot, "trajectory", STATES)
    tree_forces = other.inverse(states)
    tau = other.forces(states, tree_forces)
    result.checks = cross_checks(robot, other, states, tree_forces, tau)
    result.checks += variant_checks(variants, states)

    entrants: dict[Key, Contender] = {}
    for method, solved in {OURS: robot, **variants}.items():
        entrants.update({(q, method): c for q, c in _ours(solved, states).items()})
    theirs = {c.name: c for c in other.contenders(states, tau)}
    theirs[BARE_TREE] = pinocchio_osim(other, tips(robot), states)
    try:
        soft = MujocoSide(urdf, robot)
        error = relative_error(soft.hard(states), states.qdd)
        result.checks.append(Check(MJ_HARD, error, EXTRAPOLATED))
        error = relative_error(soft.forward(states), states.qdd)
        result.checks.append(Check(f"{MJ_FORWARD} (soft)", error, None))
        result.checks.append(soft.rollout_check(states))
        theirs |= {MJ_FORWARD: soft.contender(states), MJ_ROLLOUT: soft.rollout_contender(states)}
    except NotInMujoco as reason:
        result.notes.append(f"MuJoCo: {reason}")
    for quantity, methods in QUANTITIES.items():
        entrants.update({(quantity, m): theirs[m] for m in methods if m in theirs})
    for quantity, warm in ((COLD_INVERSE, INVERSE), (COLD_FORWARD, FORWARD)):
        found = {m: entrants[warm, m] for m in QUANTITIES[quantity] if (warm, m) in entrants}
        entrants.update({(quantity, m): cold(c, COLD_EVERY) for m, c in found.items()})
    entrants.update(_references(robot, states, result) | _in_c(robot, states, result))
    say(f"timing {len(entrants)} contenders")
    take_turns(list(entrants.values()), sweeps)
    result.times = {key: contender.seconds for key, contender in entrants.items()}
    return result


def _variants(case: Case, robot: Robot) -> dict[str, Robot]:
    """All loops numerical; and hybrid: the first mechanism with loops (a torso, say) alone."""
    closures = robot.mechanism.closures
    if not any(closure.kind == "analytical" for closure in closures):
        return {}
    variants = {NUMERICAL: replace(case, solver="numerical").load()}
    document = yaml.safe_load(str(case.submechanisms))
    with_loops = [entry for entry in document["submechanisms"] if has_loops(entry)]
    if len(with_loops) > 1:
        with_loops[0]["solver"] = "numerical"
        text = yaml.safe_dump(document, sort_keys=False)
        variants[HYBRID] = load(str(case.urdf), text, floating_base=case.floating)
    return variants


def _pinocchio_notes(other: PinocchioSide) -> list[str]:
    components = other.robot.mechanism.components
    notes = []
    if any(component.couplings for component in components):
        notes.append("Pinocchio: couplings are open, coupled joints get the force they need")
    if not any(component.loops for component in components):
        notes.append("no loops: nothing of Pinocchio's is constrained, rnea and aba see the tree")
    elif not other.point_loops:
        notes.append("Pinocchio: no contact for a cut with one locked rotation")
    return notes


def _ours(robot: Robot, states: States) -> dict[str, Contender]:
    """By quantity: what a user calls; of the OSIM the bare program, as with the others."""
    y, yd, ydd, tau_u = states.y, states.yd, states.ydd, states.tau_u
    robot.prepare("inverse_dynamics", "forward_dynamics", batch=True)
    osim = robot.programs.program(osim_program(robot.programs, tips(robot)))
    return {
        STATE: row_by_row("state", robot.state, y, yd, ydd),
        INVERSE: row_by_row("inverse", robot.inverse_dynamics, y, yd, ydd),
        FORWARD: row_by_row("forward", robot.forward_dynamics, y, yd, tau_u),
        OSIM: row_by_row("OSIM", osim, y),
        BATCH_INVERSE: at_once("batch", partial(robot.inverse_dynamics, threads=1), y, yd, ydd),
        BATCH_FORWARD: at_once("batch", partial(robot.forward_dynamics, threads=1), y, yd, tau_u),
    }


def _in_c(robot: Robot, states: States, result: Survey) -> dict[Key, Contender]:
    """The exported library, checked; nothing where there is no compiler."""
    if not CSide.available():
        result.notes.append(f"no {COMPILER}: nothing is timed from C")
        return {}
    timed, checks = CSide(robot).contenders(states)
    result.checks += checks
    return {(q, FROM_C): c for q, c in zip((INVERSE, FORWARD), timed.values(), strict=True)}


def _references(robot: Robot, states: States, result: Survey) -> dict[Key, Contender]:
    """Projection and Lagrange, checked."""
    found = {
        INVERSE: inverse_references(robot, states),
        FORWARD: forward_references(robot, states),
        OSIM: osim_references(robot, states),
    }
    result.checks += reference_checks(robot, states, found)
    batches = {BATCH_INVERSE: found[INVERSE], BATCH_FORWARD: found[FORWARD]}
    single = {(q, m): r.single(m) for q, of in found.items() for m, r in of.items()}
    return single | {(q, m): r.batch(m) for q, of in batches.items() for m, r in of.items()}
