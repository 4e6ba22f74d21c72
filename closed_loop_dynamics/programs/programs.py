"""The compiled programs of one robot, and the branches of the loops that they close.

``robot.py`` holds what a user calls; this class owns how a call is compiled, evaluated and, when a
loop refuses to close, rescued.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..arrays import Array, Guess, Vec
from ..closure.branch import Branch
from ..closure.continuation import Solution
from ..closure.forward_kinematics import actuator_box, actuator_closure, chosen_actuators
from ..closure.numerical import NumericalClosure
from ..closure.solvers import choose_solvers
from ..dynamics.actuation import underactuated
from ..dynamics.catalogue import RECIPES, RESIDUAL, Family, check_kinds
from ..dynamics.traceable import Traceable
from ..engine import Program, ProgramSource, SolverUnit, SolverUse, cache, make_program
from ..engine.outputs import Outputs
from ..errors import ClosureNotFound, InvalidInput, did_you_mean
from ..fingerprint import source_digest
from ..mechanism import Mechanism
from .failures import check_failure
from .guess import run_from_guess

#: Compiled when a robot is loaded, unless others are named; the rest at first use.
CORE = ("positions", "state", "inverse_dynamics", "forward_dynamics")


@dataclass(frozen=True)
class Names:
    """Joint names in the order of y, q and u.

    A floating base appears as one name for its 7 positions and 6 velocities, first in y and q.
    """

    independent: tuple[str, ...]
    spanning: tuple[str, ...]
    actuator: tuple[str, ...]


class Programs:
    """All programs of one robot, by name; compiled at their first use.

    Attributes:
        mechanism: the robot, with the closures that were chosen.
        key: names mechanism and choices in the cache of compiled code.
        names: of the joints.
        n, m, p: lengths of qd, yd and u.
        actuator_rows: places of the actuators in q and in qd.
        underactuated: components with fewer actuators than degrees of freedom.
        branches: component -> what is known about its branch, for every component with loops.
        reasons: component -> why its loops are solved as they are.
        recipes: what the programs compute, by name.
        compiled: the programs that are compiled already, by name.
    """

    def __init__(
        self,
        mechanism: Mechanism,
        key: str,
        solver: str | None = None,
        prepare: Sequence[str] = CORE,
    ) -> None:
        self._model = (mechanism, key)
        self.key = cache.key_of(key, source_digest())
        self.compiled: dict[str, Program] = {}
        self._outputs: dict[str, Outputs] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.RLock()
        name = mechanism.joint_name
        self.names = Names(
            tuple(map(name, mechanism.independent)),
            tuple(map(name, mechanism.spanning)),
            tuple(map(name, mechanism.actuator)),
        )
        self.n, self.m, self.p = mechanism.n, mechanism.m, mechanism.p
        self.actuator_rows = (
            np.array([mechanism.q.at[b] for b in mechanism.actuator], dtype=np.intp),
            np.array([mechanism.qd.at[b] for b in mechanism.actuator], dtype=np.intp),
        )
        self.underactuated = underactuated(mechanism)
        loops = {
            c: closure for c in mechanism.loops if (closure := mechanism.closures[c].loop_closure)
        }
        self._unit = SolverUnit(self.key, lambda: [closure.step() for closure in loops.values()])
        self.branches = {
            c: Branch(
                closure,
                self._closure_program(closure, self._unit, k, c, seldom=True),
                cache.key_of(self.key, c),
            )
            for k, (c, closure) in enumerate(loops.items())
        }
        closures, self.reasons = choose_solvers(
            mechanism.components, mechanism.closures, self.branches, solver, self.key
        )
        self.mechanism = replace(mechanism, closures=closures)
        for c in self.mechanism.numerical:
            self.branches[c].go_beyond()
        self.key = cache.key_of(self.key, [c.kind for c in self.mechanism.closures])
        self._actuator_branches: dict[int, Branch] = {}
        self.recipes: dict[str, Traceable] = dict(RECIPES)
        self._twin: Programs | None = None
        if prepare:
            self.prepare(*prepare)

    # -- programs -------------------------------------------------------------------------------

    def prepare(self, *names: str, batch: bool = False, twin: bool = False) -> None:
        """Compile programs now rather than at their first use.

        Args:
            names: methods such as ``"mass_matrix"``; see ``dynamics/catalogue``. All when empty.
            batch: their SIMD versions too.
            twin: those of the numerical twin too, for who cannot wait where it is needed.
        """
        names = names or tuple(RECIPES)
        if twin and self.has_closed_forms:
            for name in dict.fromkeys((*CORE, *names)):
                self._twin_program(name)
        with ThreadPoolExecutor(max_workers=2) as pool:
            programs = list(pool.map(self.program, names))
            if batch:
                list(pool.map(lambda program: program.prepare_batch(), programs))

    def program(self, name: str) -> Program:
        """The program itself: a function of vectors that gives its outputs as one flat vector."""
        if name in self.compiled:
            return self.compiled[name]
        if name not in self.recipes:
            raise InvalidInput(f"no program '{name}'; {did_you_mean(name, self.recipes)}")
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self.compiled:
                self._outputs[name] = self.recipes[name].outputs(self.mechanism)
                self.compiled[name] = self._build(name)
        return self.compiled[name]

    def add_recipe(self, name: str, recipe: Traceable) -> str:
        """Make a program that depends on more than the robot, a list of links say, known by name.

        The name must say all that the recipe depends on: compiled code is cached by it.
        """
        self.recipes.setdefault(name, recipe)
        return name

    def _build(self, name: str) -> Program:
        mech, recipe = self.mechanism, self.recipes[name]
        kinds, vectors = check_kinds(mech, recipe), recipe.vectors(mech)
        number = {c: k for k, c in enumerate(self.branches)}
        uses = [
            SolverUse(number[c], tuple(mech.y.at[b] for b in mech.components[c].independent))
            for c in mech.numerical
        ]
        source = ProgramSource(
            name=name,
            input_names=tuple(vectors),
            input_sizes=tuple(vectors.values()),
            output_size=self._outputs[name].size,
            build=lambda: recipe.trace(mech, name),
            on_failure=lambda i, inputs: self._on_failure(name, kinds, i, inputs),
            solvers=tuple(uses),
        )
        seeds = [self.branches[c].seeds for c in mech.numerical]
        return make_program(source, self.key, self._unit, seeds, self._rescue)

    def _closure_program(
        self, closure: NumericalClosure, unit: SolverUnit, k: int, c: int, seldom: bool
    ) -> Program:
        """The program of one closure alone: unknowns, residual and scaled K_d from local y."""
        m_c = len(closure.system.independent)
        name = closure.system.name
        source = ProgramSource(
            name=f"closure_{c}",
            input_names=("y",),
            input_sizes=(m_c,),
            output_size=closure.outputs.size,
            build=closure.local_body,
            on_failure=lambda i, inputs: ClosureNotFound(
                f"submechanism '{name}' does not close at {inputs[0]}", submechanism=name
            ),
            solvers=(SolverUse(k, tuple(range(m_c))),),
            seldom=seldom,
        )
        return make_program(source, self.key, unit, [closure.blank_seeds()], None)

    def actuator_branch(self, c: int) -> Branch:
        """Component ``c`` with its actuators as independent joints (built at first use)."""
        with self._lock:
            if c not in self._actuator_branches:
                component, branch = self.mechanism.components[c], self.branches[c]
                active = [component.joints.index(b) for b in component.active]
                active = chosen_actuators(branch, active)
                closure = actuator_closure(branch, active)
                unit = SolverUnit(f"{self.key} actuators {c}", lambda: [closure.step()])
                program = self._closure_program(closure, unit, 0, c, seldom=False)
                box = actuator_box(branch, active)
                key_c = cache.key_of(self.key, "actuators", c)
                self._actuator_branches[c] = Branch(closure, program, key_c, box)
                self._actuator_branches[c].go_beyond()
            return self._actuator_branches[c]

    def _on_failure(
        self, name: str, kinds: list[tuple[str, int]], i: int, inputs: tuple[Array, ...]
    ) -> Exception | Array:
        """What to do when check ``i`` (or solver -1 - i) of program ``name`` has failed.

        A loop in closed form vouches only for the domain on which it was proved; beyond it the
        twin follows the branch natively, from where it was last.
        """
        mech = self.mechanism
        what, c = kinds[i] if i >= 0 else (RESIDUAL, mech.numerical[-1 - i])
        if what != RESIDUAL or mech.closures[c].n_x:
            return check_failure(mech, (what, c), inputs[0])
        try:
            return self._twin_program(name)(*inputs)
        except ClosureNotFound as error:
            return error

    @property
    def has_closed_forms(self) -> bool:
        """Some loop has one: beyond its domain the numerical twin takes over."""
        return len(self.mechanism.numerical) < len(self.branches)

    @property
    def has_twin(self) -> bool:
        """A numerical twin had to be made so far."""
        return self._twin is not None

    def numerical_twin(self) -> Programs:
        """The same robot with every loop numerical: it can follow any assembly mode."""
        with self._lock:
            if self._twin is None:
                self._twin = Programs(*self._model, solver="numerical", prepare=())
            return self._twin

    def _twin_program(self, name: str) -> Program:
        twin = self.numerical_twin()
        twin.add_recipe(name, self.recipes[name])
        return twin.program(name)

    def _rescue(self, k: int, p: Array, first: Array) -> Array:
        """Called by a program when a Newton loop refuses its start."""
        return self._follow(self.mechanism.numerical[k], p, first)

    def _follow(self, c: int, p: Array, first: Array) -> Array:
        """Unknowns of component ``c`` by continuation; a failure carries the last good q."""
        try:
            return self.branches[c].rescue(p)
        except ClosureNotFound as error:
            if error.last_good is not None:
                error.last_good_q = self._complete(c, first, error.last_good)
            raise

    def _complete(self, c: int, y: Array, last: Solution) -> Array | None:
        """All of q with component ``c`` at its last good solution."""
        mech, branch = self.mechanism, self.branches[c]
        component, y = mech.components[c], y.copy()
        y[[mech.y.at[b] for b in component.independent]] = branch.reference.p
        try:
            q = self.named("positions", None, y)["q"]
        except ClosureNotFound:
            return None
        q[[mech.q.at[b] for b in component.joints]] = branch.local_q(last)
        return q

    # -- calls ----------------------------------------------------------------------------------

    def run(self, name: str, guess: Guess, *values: Any) -> Array:
        """The output of a program that has one, in its shape; (N, ...) for a batch.

        Args:
            guess: (n_q,) a spanning configuration that selects the assembly mode, or None.
            values: the program's inputs.
        """
        program = self.compiled.get(name) or self.program(name)
        flat = program(*values) if guess is None else self._on_mode(name, guess, values)
        return self._outputs[name].only(flat)

    def named(self, name: str, guess: Guess, *values: Any) -> Mapping[str, Array]:
        """All outputs of a program by name, each in its shape; arguments as for :meth:`run`."""
        program = self.compiled.get(name) or self.program(name)
        flat = program(*values) if guess is None else self._on_mode(name, guess, values)
        return self._outputs[name].views(flat)

    def dynamics(
        self,
        family: Family,
        guess: Guess,
        *values: Any,
        wrenches: Array | None = None,
        parameters: Vec | None = None,
    ) -> Array:
        """:meth:`run` the program of a family that takes what is given.

        Args:
            wrenches: (6 bodies,) on bodies, in body frames.
            parameters: dynamic parameters in place of the model's.
        """
        name, more = self.variant(family, wrenches, parameters)
        return self.run(name, guess, *values, *more)

    def dynamics_parts(
        self,
        family: Family,
        guess: Guess,
        *values: Any,
        wrenches: Array | None = None,
        parameters: Vec | None = None,
    ) -> list[Array]:
        """The same for programs of several outputs, which come in their order."""
        name, more = self.variant(family, wrenches, parameters)
        program = self.compiled.get(name) or self.program(name)
        values += more
        flat = program(*values) if guess is None else self._on_mode(name, guess, values)
        return self._outputs[name].parts(flat)

    def variant(
        self, family: Family, wrenches: Array | None, parameters: Vec | None
    ) -> tuple[str, tuple[Any, ...]]:
        """The program of a family that takes what is given, and its additional inputs."""
        if parameters is not None:
            if wrenches is None:
                wrenches = np.zeros(6 * len(self.mechanism.tree.bodies))
            return family.parameters, (wrenches, parameters)
        return (family.plain, ()) if wrenches is None else (family.wrenches, (wrenches,))

    def _on_mode(self, name: str, guess: Vec, values: Sequence[Any]) -> Array:
        """Flat outputs on the assembly mode that ``guess`` lies on: only Newton follows any."""
        if not self.has_closed_forms:
            return run_from_guess(self.mechanism, self.branches, self.program(name), guess, values)
        program, twin = self._twin_program(name), self.numerical_twin()
        return run_from_guess(twin.mechanism, twin.branches, program, guess, values)
