"""What can be exported: the programs of the catalogue as they are, and the reading of encoders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..arrays import Array
from ..closure.analytical import AnalyticalClosure
from ..closure.numerical import CLOSURE_TOLERANCE, NumericalClosure
from ..dynamics.catalogue import (
    ACTUATION,
    INERTIA,
    ORIENTATION,
    RECIPES,
    RESIDUAL,
    SPRING,
    check_kinds,
)
from ..dynamics.parameters import parameter_names
from ..engine.instructions import InstructionList, instruction_list
from ..engine.seeds import Seeds
from ..engine.symbolic import ca, tracing
from ..errors import InvalidInput, did_you_mean
from ..mechanism import Mechanism
from ..programs import Programs
from .loops import Loop
from .statements import Vector

ENCODERS, LOCATE, EFFORT_MAP = "encoders", "locate", "effort_map"
#: Words that stand for several functions.
GROUPS = {
    EFFORT_MAP: ("actuator_forces", "independent_forces"),
    ENCODERS: ("encoder_step", "velocities", LOCATE, ENCODERS),
}
DEFAULT = ("state", "inverse_dynamics", "forward_dynamics", EFFORT_MAP, ENCODERS)
#: max|phi| that single precision can be asked for [m, rad].
SINGLE_CLOSURE_TOLERANCE = 1e-5
#: Of Newton's method on encoders that do not determine y at once.
MOST_STEPS = 10
_BY_KIND = {
    ORIENTATION: "INVALID_INPUT",
    SPRING: "INVALID_INPUT",
    ACTUATION: "ACTUATION_SINGULAR",
    INERTIA: "SINGULAR_INERTIA",
}


@dataclass(frozen=True)
class Check:
    """What a value that is not positive means: a status, and a place."""

    status: str
    where: int


@dataclass(frozen=True)
class Exported:
    """A straight-line function and the loops that are closed before it.

    Attributes:
        name: of the C function.
        inputs: vectors of the caller, the first has the parameters of the loops.
        outputs: vectors for the caller; behind them ``checks``, then dx/dp of ``loops``.
        body: traced (x, inputs...) -> (outputs..., checks, dx/dp...).
    """

    name: str
    inputs: Sequence[Vector]
    outputs: Sequence[Vector]
    checks: Sequence[Check]
    loops: Sequence[Loop]
    body: InstructionList
    doc: str = ""

    @property
    def n_out(self) -> int:
        """Length of what the caller gets."""
        return sum(vector.size for vector in self.outputs)


@dataclass(frozen=True)
class Encoders:
    """What reading encoders needs: the first guess of y, which later steps refine.

    Attributes:
        start: u -> y, exact but for functions and redundant actuators.
        exact: (place in yd, submechanism) of joints whose start must be right: anything else is
            another branch.
        free: velocities at the beginning of yd that no encoder sees.
        steps: most steps of Newton's method on all encoders together.
        sizes: of y and yd.
    """

    start: Exported
    exact: Sequence[tuple[int, int]]
    free: int
    steps: int
    sizes: dict[str, int]


def wanted(names: Sequence[str]) -> list[str]:
    """The functions behind ``names``, groups resolved, each once."""
    known, found = (*RECIPES, *GROUPS), list[str]()
    if isinstance(names, str) or not isinstance(names, Sequence) or not names:
        raise InvalidInput(f"functions: a list of names, {', '.join(DEFAULT)} say, not {names!r}")
    for name in names:
        if name not in known:
            raise InvalidInput(f"no function '{name}' to export; {did_you_mean(name, known)}")
        found += GROUPS.get(name, (name,))
    return list(dict.fromkeys(found))


def words(mech: Mechanism) -> dict[str, Sequence[str]]:
    """Input or output -> what its elements are: joints, coordinates of a free flyer, of bodies."""
    found: dict[str, Sequence[str]] = {}
    for bodies, position, rates in (
        (mech.independent, "y", ("yd", "ydd", "tau_y", "dy")),
        (mech.spanning, "q", ("qd", "qdd", "g")),
        (mech.actuator, "u", ("ud", "tau_u")),
    ):
        joints = [mech.joint(b) for b in bodies]
        found[position] = [word for joint in joints for word in joint.position_names]
        for rate in rates:
            found[rate] = [word for joint in joints for word in joint.velocity_names]
    wrench = [f"{kind}_{axis}" for kind in ("moment", "force") for axis in "xyz"]
    found["wrenches"] = [f"{body.link}.{word}" for body in mech.tree.bodies for word in wrench]
    found["parameters"] = parameter_names(mech)
    found["friction"] = [f"{word}.{k}" for k in ("viscous", "coulomb") for word in found["qd"]]
    return found


def program(programs: Programs, name: str, loops: Sequence[Loop], single: bool) -> Exported:
    """A program of the catalogue."""
    mech, recipe = programs.mechanism, programs.recipes[name]
    called = words(mech)
    inputs = [
        Vector(word, size, called.get(word, ())) for word, size in recipe.vectors(mech).items()
    ]
    outputs = [
        Vector(out, int(np.prod(shape)), called.get(out, ()))
        for out, shape in recipe.outputs(mech).shapes.items()
    ]
    with tracing():
        body = instruction_list(recipe.trace(mech, name, _tolerance(single)))
    return Exported(name, inputs, outputs, _checks(mech, check_kinds(mech, recipe)), loops, body)


def _tolerance(single: bool) -> float:
    return SINGLE_CLOSURE_TOLERANCE if single else CLOSURE_TOLERANCE


def _checks(mech: Mechanism, kinds: Sequence[tuple[str, int]]) -> list[Check]:
    found: list[Check] = []
    seen: dict[int, int] = {}
    for kind, index in kinds:
        if kind == RESIDUAL:
            place = seen[index] = seen.get(index, -1) + 1
            found.append(Check(_loop_status(mech, index, place), index))
        elif kind == ORIENTATION:
            found.append(Check(_BY_KIND[kind], _quaternion(mech, index)))
        elif kind == SPRING:
            found.append(Check(_BY_KIND[kind], 0))
        elif kind == INERTIA:
            found.append(Check(_BY_KIND[kind], mech.clusters[index].components[0]))
        else:
            found.append(Check(_BY_KIND.get(kind, "CLOSURE_NOT_FOUND"), index))
    return found


def _quaternion(mech: Mechanism, b: int) -> int:
    """Where the quaternion of a joint begins in y: behind the position of what flies."""
    return mech.y.rows[b].stop - 4


def _loop_status(mech: Mechanism, c: int, place: int) -> str:
    """Of the checks of a closed form those behind the residual are the guards of its branch."""
    closure = mech.closures[c]
    guards = len(closure.plan.blocks) if isinstance(closure, AnalyticalClosure) else 0
    return "BRANCH" if 1 <= place <= guards else "CLOSURE_NOT_FOUND"


def robot_loops(programs: Programs) -> list[Loop]:
    """The loops that the programs close by Newton's method."""
    mech = programs.mechanism
    return [
        _loop(
            mech,
            c,
            programs.branches[c].closure,
            programs.branches[c].seeds,
            [mech.y.at[b] for b in mech.components[c].independent],
            "y",
        )
        for c in mech.numerical
    ]


def _loop(
    mech: Mechanism,
    c: int,
    closure: NumericalClosure,
    seeds: Seeds,
    parameters: Sequence[int],
    of: str,
) -> Loop:
    system = closure.system
    with tracing():
        step = instruction_list(closure.step())
    return Loop(
        name=mech.components[c].entry.name,
        submechanism=c,
        unknowns=system.names(closure.unknown),
        independent=system.names(system.independent),
        parameters=parameters,
        of=of,
        step=step,
        seeds=seeds,
        size=closure.sizes[list(system.independent)],
    )


def _inverse(mech: Mechanism, c: int) -> tuple[Array, Array]:
    """y = A u + b of a component with couplings only."""
    component = mech.components[c]
    rows = [component.joints.index(b) for b in component.active]
    unit = np.vstack([np.zeros(len(rows)), np.eye(len(rows))])
    b, *columns = (mech.closures[c].invert(rows, u, None) for u in unit)
    return np.array(columns).T - b[:, None], b


def encoders(programs: Programs, single: bool) -> Encoders:
    """y from u: loops with their actuators as parameters, couplings inverted.

    Raises:
        ActuationSingular: G_u is singular at the reference configuration.
    """
    mech = programs.mechanism
    called = words(mech)
    slot = {b: i for i, b in enumerate(mech.actuator)}
    u = ca.SX.sym("u", mech.p)
    loops: list[Loop] = []
    closures: list[tuple[int, NumericalClosure]] = []
    exact: list[tuple[int, int]] = []
    for c in mech.drivable:
        component = mech.components[c]
        if c in programs.branches and component.active != component.independent:
            branch = programs.actuator_branch(c)
            chosen = [component.joints[i] for i in branch.closure.system.independent]
            places = [slot[b] for b in chosen]
            loops.append(_loop(mech, c, branch.closure, branch.seeds, places, "u"))
            closures.append((c, branch.closure))
            if len(component.active) == len(component.independent):
                exact += [(mech.yd.at[b], c) for b in component.independent]
    with tracing():
        x = ca.SX.sym("x", sum(loop.n_x for loop in loops))
        y = ca.SX(mech.neutral_y())
        checks, kinds, slopes, at = [], [], [], 0
        for (c, closure), loop in zip(closures, loops, strict=True):
            q = closure.assemble(u[list(loop.parameters)], x[at : at + loop.n_x])
            linear = closure.linearise(q, None, _tolerance(single))
            for i, b in enumerate(mech.components[c].joints):
                if b in mech.components[c].independent:
                    y[mech.y.at[b]] = q[i]
            checks += linear.checks
            kinds += [Check("CLOSURE_NOT_FOUND", c)] * len(linear.checks)
            slopes.append(ca.vec(linear.slope.T))
            at += loop.n_x
        for c in mech.drivable:
            component = mech.components[c]
            measured = u[[slot[b] for b in component.active]]
            places = mech.y.slots(component.independent)
            if component.active == component.independent:
                y[places] = measured
            elif mech.closures[c].constant_jacobian is not None:
                inverse, offset = _inverse(mech, c)
                y[places] = ca.SX(inverse) @ measured + ca.SX(offset)
        outputs = [ca.densify(y), ca.densify(ca.vertcat(ca.SX(0, 1), *checks)), *slopes]
        body = instruction_list(ca.Function("body", [x, u], outputs))
    start = Exported(
        "encoder_start",
        [Vector("u", mech.p, called["u"])],
        [Vector("y", mech.n_y, called["y"])],
        kinds,
        loops,
        body,
    )
    free = len(mech.flying)
    determined = len(called["u"]) == mech.m - free and not mech.functions
    steps = 2 if determined else MOST_STEPS
    return Encoders(start, exact, free, steps, {"NY1": mech.n_y, "M1": mech.m, "P1": mech.p})
