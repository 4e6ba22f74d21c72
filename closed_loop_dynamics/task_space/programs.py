"""The native programs of a parallel manipulator: the limbs' Newton loops, then one equation.

Same machinery as the robot's own programs (dynamics/catalogue): every limb is one solver with the
task coordinates as parameters, and every program ends with checks that must be positive.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array
from ..closure.continuation import Solution
from ..engine import Program, ProgramSource, Seeds, SolverUnit, SolverUse, cache, make_program
from ..engine.outputs import Outputs, Shape
from ..engine.symbolic import ca
from ..errors import ActuationSingular, ClosedLoopError, ClosureNotFound, InvalidInput
from ..spatial import SX
from .continuation import LimbBranch
from .equations import TaskModel, TaskMotion, actuator_forces, conditioning_outputs, limb_output
from .limb_kinematics import LimbKinematics

#: Longest prediction of an unknown [rad or m].
REACH = 0.5
NAMES = {"x": "x", "v": "xd", "a": "xdd", "w": "wrench"}


@dataclass(frozen=True)
class TaskRecipe:
    """One program: inputs by letter, shapes of its outputs by name, and the equation."""

    inputs: str
    shapes: Callable[[TaskModel], dict[str, Shape]]
    equation: Callable[[TaskMotion, SX], dict[str, SX]]


def _kinematics(motion: TaskMotion, wrench: SX) -> dict[str, SX]:
    q, qd, qdd = motion.spanning()
    platform, loops = motion.residuals()
    return {"q": q, "qd": qd, "qdd": qdd, "platform_residual": platform, "loop_residual": loops}


def _kinematics_shapes(t: TaskModel) -> dict[str, Shape]:
    vectors = dict.fromkeys(("q", "qd", "qdd"), (t.robot.n,))
    return {**vectors, "platform_residual": (), "loop_residual": ()}


def _conditioning_shapes(t: TaskModel) -> dict[str, Shape]:
    shapes: dict[str, Shape] = {"J_IK": (t.robot.p, t.m)}
    for k, limb in enumerate(t.limbs):
        shapes[limb_output("L_t", k)] = limb.limb.m, limb.limb.m
        shapes[limb_output("F", k)] = limb.limb.m, t.m
        for i, (_, closure) in enumerate(limb.loops):
            shapes[limb_output("K_d", k, i)] = closure.n_x, closure.n_x
    return shapes


#: The Newton loop of a limb alone: no outputs.
_LIMB = TaskRecipe("x", lambda t: {}, lambda motion, w: {})

RECIPES = {
    "inverse_kinematics": TaskRecipe("xva", _kinematics_shapes, _kinematics),
    "generalized_forces": TaskRecipe(
        "xvaw", lambda t: {"forces": (t.m,)}, lambda m, w: {"forces": m.forces(w)}
    ),
    "inverse_dynamics": TaskRecipe(
        "xvaw", lambda t: {"u": (t.robot.p,)}, lambda m, w: {"forces": m.forces(w)}
    ),
    "mass_matrix": TaskRecipe(
        "x", lambda t: {"M": (t.m, t.m)}, lambda m, w: {"M": m.mass_matrix()}
    ),
    "actuator_jacobian": TaskRecipe(
        "x", lambda t: {"J_IK": (t.robot.p, t.m)}, lambda m, w: {"J_IK": m.J_IK()}
    ),
    "conditioning": TaskRecipe("x", _conditioning_shapes, lambda m, w: conditioning_outputs(m)),
}


def _size(model: TaskModel, letter: str) -> int:
    return 6 if letter == "w" else model.m


def _seeds(limb: LimbKinematics, start: Solution) -> Seeds:
    reach = np.full(limb.limb.n_theta, REACH)
    return Seeds.without_table(limb.signs, (start.p, start.x, start.slope), reach)


class TaskPrograms:
    """Compiles the programs of one manipulator when they are first used."""

    def __init__(
        self, model: TaskModel, name: str, key: str, scheme: str, tolerance: float
    ) -> None:
        self.model, self.name = model, name
        task = (model.platform_link, model.platform.axes)
        self._key = cache.key_of(key, "task space", name, task, scheme, tolerance)
        self.steps = [limb.nested_step(scheme, tolerance) for limb in model.limbs]
        self.logs = [step.log() for step in self.steps]
        self._unit = SolverUnit(self._key, lambda: self.steps)
        #: |det| of the actuators at the reference; set by the manipulator.
        self.actuation = 1.0
        self._programs: dict[str, Program] = {}
        self.outputs = {name: Outputs(recipe.shapes(model)) for name, recipe in RECIPES.items()}
        self._lock = threading.Lock()
        self.branches, self.seeds = [], []
        for k, limb in enumerate(model.limbs):
            x, theta = model.platform.x_ref, limb.limb.theta_ref
            bare = _seeds(limb, Solution(x, theta, np.zeros((len(theta), len(x)))))
            alone = self._make(f"limb_{k}", replace(model, limbs=(limb,)), [k], [bare], None)
            self.branches.append(LimbBranch(limb.limb.name, name, alone, x))
            self.seeds.append(_seeds(limb, self.branches[k].reference))

    def __getitem__(self, name: str) -> Program:
        with self._lock:
            if name not in self._programs:
                limbs = range(len(self.model.limbs))
                self._programs[name] = self._make(name, self.model, limbs, self.seeds, self._rescue)
            return self._programs[name]

    def _rescue(self, k: int, p: Array, first: Array) -> Array:
        return self.branches[k].rescue(p, lambda last: self._complete(k, last))

    def _complete(self, k: int, last: Solution) -> tuple[Array | None, float]:
        """q with limb ``k`` at its last solution, or where another limb ends before it does."""
        program, rest = self["inverse_kinematics"], np.zeros(self.model.m)
        context = program.new_context()
        program.shape.solvers[k].solver.record.write(context.records[k], last.p, last.x, last.slope)
        try:
            found = program.evaluate_in(context, last.p, rest, rest)
            return self.outputs["inverse_kinematics"].views(found)["q"], 0.0
        except ClosureNotFound as error:
            return error.last_good_q, error.residual

    def _make(
        self, name: str, model: TaskModel, limbs: Any, seeds: list[Seeds], rescue: Any
    ) -> Program:
        recipe = RECIPES.get(name, _LIMB)
        source = ProgramSource(
            name=name,
            input_names=tuple(NAMES[letter] for letter in recipe.inputs),
            input_sizes=tuple(_size(model, letter) for letter in recipe.inputs),
            output_size=Outputs(recipe.shapes(model)).size,
            build=lambda: self._trace(name, model, recipe),
            on_failure=lambda i, inputs: self._failure(model, i, inputs[0]),
            solvers=tuple(SolverUse(k, tuple(range(model.m))) for k in limbs),
        )
        return make_program(source, self._key, self._unit, seeds, rescue)

    def _trace(self, name: str, model: TaskModel, recipe: TaskRecipe) -> Any:
        symbols = {each: ca.SX.sym(each, _size(model, each)) for each in recipe.inputs}
        theta = ca.SX.sym("theta", model.n_theta)

        def vector(letter: str) -> SX:
            return symbols.get(letter, ca.SX.zeros(_size(model, letter)))

        motion = TaskMotion(model, theta, vector("x"), vector("v"), vector("a"))
        outputs = recipe.equation(motion, vector("w"))
        checks = motion.checks()
        if name == "inverse_dynamics":
            u, check = actuator_forces(motion.J_IK(), outputs["forces"], self.actuation)
            outputs, checks = {"u": u}, [*checks, check]
        packed = Outputs(recipe.shapes(model)).pack(outputs)
        results = [*packed, ca.vertcat(ca.SX(0, 1), *checks), *motion.slopes()]
        inputs = [theta, *symbols.values()]
        return ca.Function(name, inputs, ca.cse([ca.densify(out) for out in results]))

    def _failure(self, model: TaskModel, i: int, x: Array) -> ClosedLoopError:
        """The exception behind a failed check (or, negative, a refused solution)."""
        if i < 0:
            name = model.limbs[-1 - i].limb.name
            return ClosureNotFound(
                f"limb '{name}' of '{self.name}' does not converge at x = {x}",
                submechanism=self.name,
            )
        if model.platform.uses_pitch:
            if i == 0:
                return InvalidInput(
                    f"x = {x}: near pitch = 90 degrees roll and yaw are the same turn; the task "
                    "coordinates end before"
                )
            i -= 1
        for limb in model.limbs:
            checks = 1 + len(limb.loops)
            if i < checks:
                what = (
                    "holds the platform in a pose that x does not allow: the manipulator has other "
                    "degrees of freedom than its task_space says"
                    if i == 0
                    else "has a loop that does not close to tolerance"
                )
                return ClosureNotFound(
                    f"limb '{limb.limb.name}' of '{self.name}' {what}, at x = {x}",
                    submechanism=self.name,
                )
            i -= checks
        return ActuationSingular(
            f"'{self.name}': at x = {x} the actuators cannot hold the platform, J_IK has lost "
            "rank; stay away from this pose",
            submechanism=self.name,
            y=x.copy(),
        )
