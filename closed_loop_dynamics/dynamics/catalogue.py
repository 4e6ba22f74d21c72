"""The native programs of a robot: name, inputs, named outputs, and the equation behind each.

Every program closes the loops first (its body receives the Newton unknowns x) and ends with checks
that must be positive: loop residuals, then what the program itself can fail on.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ..closure.numerical import CLOSURE_TOLERANCE
from ..engine.outputs import Outputs, Shape
from ..engine.symbolic import ca
from ..mechanism import Mechanism
from ..spatial import SX
from . import equations
from .actuation import (
    actuator_forces,
    encoder_step,
    geometric_stiffness,
    independent_forces,
    needs_solve,
)
from .centroidal import center_of_mass, centroidal_matrix, momentum_and_energy
from .equations import Equation, checked, given_parameters, only
from .innovations import inverse_mass_matrix, mass_matrix_factors
from .lagrange import constraint_rows
from .motion import trace_motion
from .parameters import parameter_count
from .projection import loop_bias, loop_jacobian, reduced_mass_matrix
from .regressor import generalized_regressor, regressor
from .springs import directed, spring_checks
from .traceable import Traceable

#: Of the mechanism: name of each output -> its shape, in order.
Shapes = Callable[[Mechanism], dict[str, Shape]]

ORIENTATION, RESIDUAL, FUNCTION, SPRING = "orientation", "residual", "function", "spring"
ACTUATION, INERTIA = "actuation", "inertia"


@dataclass(frozen=True)
class Input:
    """A vector that programs take: its name in messages and its length."""

    name: str
    size: Callable[[Mechanism], int]


INPUTS = {
    "y": Input("y", lambda mech: mech.n_y),
    "v": Input("yd", lambda mech: mech.m),
    "a": Input("ydd", lambda mech: mech.m),
    "u": Input("tau_u", lambda mech: mech.p),
    "t": Input("tau_y", lambda mech: mech.m),
    "s": Input("u", lambda mech: mech.p),
    "r": Input("ud", lambda mech: mech.p),
    "w": Input("wrenches", lambda mech: 6 * len(mech.tree.bodies)),
    "f": Input("wrench", lambda mech: 6),
    "i": Input("parameters", parameter_count),
    "d": Input("friction", lambda mech: 2 * mech.n),
}


@dataclass(frozen=True)
class Recipe:
    """One program.

    Attributes:
        inputs: letters of the vectors taken (see ``INPUTS``), the first is always "y".
        shapes: of its outputs, by name.
        equation: traced on the motion.
        checks: kinds of the program's own checks: "" , ACTUATION or INERTIA.
        springs: whether springs pull in it.
    """

    inputs: str
    shapes: Shapes
    equation: Equation
    checks: str = ""
    springs: bool = False

    def outputs(self, mech: Mechanism) -> Outputs:
        """What the program gives for this robot."""
        return Outputs(self.shapes(mech))

    def vectors(self, mech: Mechanism) -> dict[str, int]:
        """Name -> length of every vector that the program takes, in order."""
        return {INPUTS[letter].name: INPUTS[letter].size(mech) for letter in self.inputs}

    def trace(self, mech: Mechanism, name: str, tolerance: float = CLOSURE_TOLERANCE) -> SX:
        """The body of the program as a CasADi function; ``tolerance`` of max|phi| [m, rad].

        It takes the Newton unknowns x and the vectors, and gives the outputs, the checks and the
        slopes of x.
        """
        x = ca.SX.sym("x", mech.n_x)
        symbols = {letter: ca.SX.sym(letter, INPUTS[letter].size(mech)) for letter in self.inputs}
        motion = trace_motion(mech, symbols["y"], x, symbols.get("v"), tolerance)
        others = [symbols[letter] for letter in self.inputs if letter not in "yv"]
        traced, checks = self.equation(motion, *others)
        outputs = self.outputs(mech).pack(traced)
        checks = [*motion.checks, *(spring_checks(motion) if self.springs else ()), *checks]
        expected = len(check_kinds(mech, self))
        if len(checks) != expected:
            raise RuntimeError(f"{name}: {len(checks)} checks traced, {expected} declared")
        return ca.Function(
            "body",  # CasADi is choosy about names: "inverse_osim('foot')" is none
            [x, *symbols.values()],
            [*outputs, ca.densify(ca.vertcat(ca.SX(0, 1), *checks)), *motion.slopes],
        )


@dataclass(frozen=True)
class Family:
    """The programs of one quantity, by what they take besides its usual vectors.

    Attributes:
        plain: nothing.
        wrenches: wrenches on bodies; "" where they do not count.
        parameters: wrenches on bodies (where they count), then the dynamic parameters.
        friction: wrenches on bodies, then friction of the joints; "" where there is none.
    """

    plain: str
    wrenches: str
    parameters: str
    friction: str = ""


INVERSE_DYNAMICS = Family(
    "inverse_dynamics", "inverse_dynamics_wrenches", "inverse_dynamics_parameters"
)
GENERALIZED_FORCES = Family(
    "generalized_forces", "generalized_forces_wrenches", "generalized_forces_parameters"
)
FORWARD_DYNAMICS = Family(
    "forward_dynamics",
    "forward_dynamics_wrenches",
    "forward_dynamics_parameters",
    "forward_dynamics_friction",
)
INVERSE_DYNAMICS_DERIVATIVES, GENERALIZED_FORCE_DERIVATIVES, FORWARD_DYNAMICS_DERIVATIVES = (
    Family(f"{name}", f"{name}_wrenches", f"{name}_parameters")
    for name in (
        "inverse_dynamics_derivatives",
        "generalized_force_derivatives",
        "forward_dynamics_derivatives",
    )
)
MASS_MATRIX = Family("mass_matrix", "", "mass_matrix_parameters")
TREE_WRENCHES = Family("", "tree_wrenches", "tree_wrenches_parameters")


def _family(
    of: Family, inputs: str, shapes: Shapes, equation: Equation, checks: str = ""
) -> dict[str, Recipe]:
    return {
        of.plain: Recipe(inputs, shapes, equation, checks, True),
        of.wrenches: Recipe(f"{inputs}w", shapes, equation, checks, True),
        of.parameters: Recipe(f"{inputs}wi", shapes, given_parameters(equation), checks, True),
    }


def _square(*names: str) -> Shapes:
    """Matrices (m, m)."""
    return lambda mech: {name: (mech.m, mech.m) for name in names}


def _poses(mech: Mechanism) -> dict[str, Shape]:
    bodies = len(mech.tree.bodies)
    return {"q": (mech.n_q,), "R": (bodies, 3, 3), "p": (bodies, 3), "G": (mech.n, mech.m)}


def _tree_wrenches(mech: Mechanism) -> dict[str, Shape]:
    return {"f": (len(mech.tree.bodies), 6), "tau": (mech.n,), **_poses(mech)}


_MASS_MATRIX = only("M", reduced_mass_matrix)

RECIPES: dict[str, Recipe] = {
    "positions": Recipe("y", lambda m: {"q": (m.n_q,), "residual": ()}, equations.state),
    "velocities": Recipe(
        "yv", lambda m: {"q": (m.n_q,), "residual": (), "qd": (m.n,)}, equations.state
    ),
    "state": Recipe(
        "yva",
        lambda m: {"q": (m.n_q,), "residual": (), "qd": (m.n,), "qdd": (m.n,)},
        equations.state,
    ),
    **_family(
        INVERSE_DYNAMICS, "yva", lambda m: {"tau_u": (m.p,)}, equations.inverse_dynamics, ACTUATION
    ),
    **_family(GENERALIZED_FORCES, "yva", lambda m: {"tau_y": (m.m,)}, equations.generalized_forces),
    **_family(
        FORWARD_DYNAMICS, "yvu", lambda m: {"ydd": (m.m,)}, equations.forward_dynamics, INERTIA
    ),
    FORWARD_DYNAMICS.friction: Recipe(
        "yvuwd", lambda m: {"ydd": (m.m,)}, equations.forward_with_friction, INERTIA, True
    ),
    "state_derivatives": Recipe(
        "yva",
        lambda m: {"G": (m.n, m.m), "Gd": (m.n, m.m), "Gdd": (m.n, m.m)},
        equations.state_derivatives,
    ),
    **_family(
        INVERSE_DYNAMICS_DERIVATIVES,
        "yva",
        lambda m: dict.fromkeys(("dtau_dy", "dtau_dyd", "dtau_dydd"), (m.p, m.m)),
        equations.inverse_dynamics_derivatives,
        ACTUATION,
    ),
    **_family(
        GENERALIZED_FORCE_DERIVATIVES,
        "yva",
        _square("dtau_dy", "dtau_dyd", "dtau_dydd"),
        equations.generalized_force_derivatives,
    ),
    **_family(
        FORWARD_DYNAMICS_DERIVATIVES,
        "yvu",
        lambda m: {"dydd_dy": (m.m, m.m), "dydd_dyd": (m.m, m.m), "dydd_dtau": (m.m, m.p)},
        equations.forward_dynamics_derivatives,
        INERTIA,
    ),
    "bias": Recipe("yv", lambda m: {"tau_y": (m.m,)}, equations.generalized_forces, springs=True),
    "gravity": Recipe("y", lambda m: {"tau_y": (m.m,)}, equations.generalized_forces, springs=True),
    "statics": Recipe("yw", lambda m: {"tau_y": (m.m,)}, equations.statics),
    MASS_MATRIX.plain: Recipe("y", _square("M"), _MASS_MATRIX),
    MASS_MATRIX.parameters: Recipe("yi", _square("M"), given_parameters(_MASS_MATRIX)),
    "inverse_mass_matrix": Recipe(
        "y", _square("inverse"), checked("inverse", inverse_mass_matrix), INERTIA
    ),
    "mass_matrix_factors": Recipe(
        "y", _square("W", "D"), checked("W D", mass_matrix_factors), INERTIA
    ),
    "loop_jacobian": Recipe("y", lambda m: {"G": (m.n, m.m)}, only("G", loop_jacobian)),
    "loop_bias": Recipe("yv", lambda m: {"g": (m.n,)}, only("g", loop_bias)),
    "poses": Recipe("y", _poses, equations.poses),
    TREE_WRENCHES.wrenches: Recipe("yvaw", _tree_wrenches, equations.tree_wrenches, springs=True),
    TREE_WRENCHES.parameters: Recipe(
        "yvawi", _tree_wrenches, given_parameters(equations.tree_wrenches), springs=True
    ),
    "actuator_forces": Recipe(
        "yt", lambda m: {"tau_u": (m.p,)}, checked("tau_u", actuator_forces), ACTUATION
    ),
    "independent_forces": Recipe(
        "yu", lambda m: {"tau_y": (m.m,)}, only("tau_y", independent_forces)
    ),
    "encoder_step": Recipe(
        "ysr", lambda m: {"dy": (m.m,), "yd": (m.m,)}, checked("dy yd", encoder_step), ACTUATION
    ),
    "geometric_stiffness": Recipe("yvu", _square("K"), only("K", geometric_stiffness)),
    "regressor": Recipe(
        "yva", lambda m: {"W": (m.p, parameter_count(m))}, checked("W", regressor), ACTUATION
    ),
    "generalized_regressor": Recipe(
        "yva", lambda m: {"W": (m.m, parameter_count(m))}, only("W", generalized_regressor)
    ),
    "center_of_mass": Recipe(
        "y", lambda m: {"center_of_mass": (3,)}, only("center_of_mass", center_of_mass)
    ),
    "centroidal": Recipe(
        "yv",
        lambda m: {
            "center_of_mass": (3,),
            "velocity": (3,),
            "momentum": (6,),
            "kinetic": (),
            "potential": (),
        },
        lambda motion: (momentum_and_energy(motion), []),
    ),
    "centroidal_matrix": Recipe("y", lambda m: {"A": (6, m.m)}, only("A", centroidal_matrix)),
    "lagrange": Recipe(
        "yv",
        lambda m: {
            "M": (m.n, m.n),
            "C": (m.n,),
            "phi": (constraint_rows(m),),
            "K": (constraint_rows(m), m.n),
            "k": (constraint_rows(m),),
        },
        equations.lagrange,
        springs=True,
    ),
}


def check_kinds(mech: Mechanism, recipe: Traceable) -> list[tuple[str, int]]:
    """(kind, body, component or cluster) of every check, in order."""
    kinds = [(ORIENTATION, b) for b in mech.turning]
    kinds += [(RESIDUAL, c) for c in mech.loops for _ in range(mech.closures[c].n_checks)]
    kinds += [(FUNCTION, c) for c in mech.functions for _ in range(mech.closures[c].n_checks)]
    if recipe.springs:
        kinds += [(SPRING, k) for k in range(len(directed(mech)))]
    if recipe.checks == ACTUATION:
        kinds += [(ACTUATION, c) for c in needs_solve(mech)]
    if recipe.checks == INERTIA:
        kinds += [(INERTIA, k) for k in range(len(mech.clusters))]
    return kinds
