"""The front door: ``load`` a URDF and a submechanism file, get a :class:`Robot`.

Reading order for newcomers: here, then one file of ``dynamics/``, then ``closure/``. Every method
takes one sample or a batch (leading axis) and runs one native program of ``dynamics/catalogue``.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .closure.branch import Branch, Solution
from .closure.forward_kinematics import (
    actuator_box,
    actuator_closure,
    chosen_actuators,
    independent_from_actuator,
)
from .closure.numerical import NumericalClosure
from .closure.smooth import Gamma, SmoothClosure
from .dynamics.actuation import underactuated
from .dynamics.catalogue import RECIPES, RESIDUAL, check_kinds, input_size, trace
from .engine import Program, ProgramSource, SolverUnit, SolverUse, cache, make_program
from .errors import ClosureNotFound, InvalidInput, Underactuated, did_you_mean
from .lint import Report, lint
from .mechanism import Mechanism, build_mechanism
from .model import read_submechanisms, read_urdf
from .model.digest import digest
from .robot_parts.failures import check_failure
from .robot_parts.geometry import SubmechanismGeometry
from .robot_parts.guess import run_from_guess
from .robot_parts.links import gather_wrenches, link_jacobian, link_pose, random_independent
from .robot_parts.references import forward_dynamics_by
from .robot_parts.solvers import SOLVERS, choose_solvers
from .robot_parts.state import State

Array = NDArray[np.float64]
_INPUT_NAMES = {"y": "y", "v": "yd", "a": "ydd", "u": "tau_u", "w": "wrenches"}
#: Compiled when a robot is loaded; the others at first use (see :meth:`Robot.prepare`).
CORE = ("positions", "state", "inverse_dynamics", "forward_dynamics")


@dataclass(frozen=True)
class Names:
    """Joint names in the order of y, q and u.

    A floating base appears as one name for its 7 positions and 6 velocities, first in y and q.
    """

    independent: tuple[str, ...]
    spanning: tuple[str, ...]
    actuator: tuple[str, ...]


def load(
    urdf: str | Path,
    submechanisms: str | Path | None = None,
    *,
    floating_base: bool = False,
    search_path: Sequence[str | Path] = (),
    solver: str | None = None,
    closures: Mapping[str, Gamma] | None = None,
) -> Robot:
    """Load a robot.

    Args:
        urdf: path of a URDF file, or its XML text: the spanning tree.
        submechanisms: path of a submechanism file, or its YAML text; without it every joint is its
            own actuator.
        floating_base: put a free flyer under the root link.
        search_path: folders in which ``file_path`` entries of the YAML are looked for as well.
        solver: ``"auto"``, ``"analytical"`` or ``"numerical"`` for all loops, in place of the
            file's ``solver`` words.
        closures: submechanism of type "function" -> its q = gamma(y) as a Python function of a
            CasADi SX vector (see ``closure/smooth.py``).

    Raises:
        UrdfError, SubmechanismError: with file, place and remedy.
    """
    tree = read_urdf(urdf, floating_base=floating_base)
    entries = read_submechanisms(
        submechanisms, tree, search_path=tuple(search_path), urdf_source=urdf
    )
    key = digest(tree, entries)
    if solver is not None and solver not in SOLVERS:
        raise InvalidInput(f"solver '{solver}'; {did_you_mean(solver, SOLVERS)}")
    mechanism = build_mechanism(tree, entries, key, closures or {})
    traced = [c.digest for c in mechanism.closures if isinstance(c, SmoothClosure)]
    return Robot(mechanism, digest(key, traced), solver)


class Robot:
    """Kinematics and dynamics of a series-parallel robot in its independent coordinates."""

    def __init__(self, mechanism: Mechanism, key: str, solver: str | None = None) -> None:
        self._model = (mechanism, key)
        self._key = cache.key_of(key, cache.source_digest())
        self._programs: dict[str, Program] = {}
        self._locks: dict[str, threading.Lock] = {}
        self._lock = threading.RLock()
        name = mechanism.joint_name
        self.names = Names(
            tuple(map(name, mechanism.independent)),
            tuple(map(name, mechanism.spanning)),
            tuple(map(name, mechanism.actuator)),
        )
        self.n, self.m, self.p = mechanism.n, mechanism.m, mechanism.p
        #: Places of the actuators in q and in qd.
        self.actuator_rows = (
            [mechanism.q_at[b] for b in mechanism.actuator],
            [mechanism.qd_at[b] for b in mechanism.actuator],
        )
        self._underactuated = underactuated(mechanism)
        loops = {c: closure for c in mechanism.loops if (closure := mechanism.loop_closure(c))}
        self._unit = SolverUnit(self._key, lambda: [closure.step() for closure in loops.values()])
        #: Component -> what is known about its branch, for every component with loops.
        self.branches = {
            c: Branch(
                closure,
                self._closure_program(closure, self._unit, k, c),
                cache.key_of(self._key, c),
            )
            for k, (c, closure) in enumerate(loops.items())
        }
        #: Component -> why it is solved as it is.
        self.reasons: dict[int, str] = {}
        self.mechanism = choose_solvers(mechanism, self.branches, solver, self._key, self.reasons)
        self._key = cache.key_of(self._key, [c.kind for c in self.mechanism.closures])
        self._actuator_branches: dict[int, Branch] = {}
        self._twin: Robot | None = None
        self.prepare(*CORE)
        # The two calls that control loops make: no look-up on the way.
        self._inverse_dynamics = self._program("inverse_dynamics")
        self._forward_dynamics = self._program("forward_dynamics")

    def __repr__(self) -> str:
        return (
            f"Robot('{self.mechanism.tree.name}', n={self.n}, m={self.m}, p={self.p}, "
            f"{len(self.branches)} loops, {len(self.mechanism.numerical)} of them numerical)"
        )

    # -- programs -------------------------------------------------------------------------------

    def prepare(self, *names: str, batch: bool = False) -> None:
        """Compile programs now rather than at their first use.

        Args:
            names: methods such as ``"mass_matrix"``; see ``dynamics/catalogue``. All when empty.
            batch: their SIMD versions too.
        """
        names = names or tuple(RECIPES)
        with ThreadPoolExecutor(max_workers=2) as pool:
            programs = list(pool.map(self._program, names))
            if batch:
                list(pool.map(lambda program: program.prepare_batch(), programs))

    def _program(self, name: str) -> Program:
        if name in self._programs:
            return self._programs[name]
        if name not in RECIPES:
            raise InvalidInput(f"no program '{name}'; {did_you_mean(name, RECIPES)}")
        with self._lock:
            lock = self._locks.setdefault(name, threading.Lock())
        with lock:
            if name not in self._programs:
                self._programs[name] = self._build(name)
        return self._programs[name]

    def _build(self, name: str) -> Program:
        mech, recipe = self.mechanism, RECIPES[name]
        kinds = check_kinds(mech, recipe)
        number = {c: k for k, c in enumerate(self.branches)}
        uses = [
            SolverUse(number[c], tuple(mech.y_at[b] for b in mech.components[c].independent))
            for c in mech.numerical
        ]
        source = ProgramSource(
            name=name,
            input_names=tuple(_INPUT_NAMES[letter] for letter in recipe.inputs),
            input_sizes=tuple(input_size(mech, letter) for letter in recipe.inputs),
            output_size=recipe.output_size(mech),
            build=lambda: trace(mech, name),
            on_failure=lambda i, inputs: self._on_failure(name, kinds, i, inputs),
            solvers=tuple(uses),
        )
        seeds = [self.branches[c].seeds for c in mech.numerical]
        return make_program(source, self._key, self._unit, seeds, self._rescue)

    def _closure_program(
        self, closure: NumericalClosure, unit: SolverUnit, k: int, c: int
    ) -> Program:
        """The program of one closure alone: unknowns, residual and scaled K_d from local y."""
        m_c = len(closure.system.independent)
        name = closure.system.name
        source = ProgramSource(
            name=f"closure_{c}",
            input_names=("y",),
            input_sizes=(m_c,),
            output_size=closure.n_x + 1 + closure.n_x**2,
            build=closure.local_body,
            on_failure=lambda i, inputs: ClosureNotFound(
                f"submechanism '{name}' does not close at {inputs[0]}", submechanism=name
            ),
            solvers=(SolverUse(k, tuple(range(m_c))),),
        )
        return make_program(source, self._key, unit, [closure.blank_seeds()], None)

    def actuator_branch(self, c: int) -> Branch:
        """Component ``c`` with its actuators as independent joints (built at first use)."""
        with self._lock:
            if c not in self._actuator_branches:
                component, branch = self.mechanism.components[c], self.branches[c]
                active = [component.joints.index(b) for b in component.active]
                active = chosen_actuators(branch, active)
                closure = actuator_closure(branch, active)
                unit = SolverUnit(f"{self._key} actuators {c}", lambda: [closure.step()])
                program = self._closure_program(closure, unit, 0, c)
                box = actuator_box(branch, active)
                key_c = cache.key_of(self._key, "actuators", c)
                self._actuator_branches[c] = Branch(closure, program, key_c, box)
            return self._actuator_branches[c]

    def _on_failure(
        self, name: str, kinds: list[tuple[str, int]], i: int, inputs: tuple[Array, ...]
    ) -> Exception | Array:
        """What to do when check ``i`` (or solver -1 - i) of program ``name`` has failed.

        A loop in closed form vouches only for the domain on which it was proved; beyond it the
        branch is followed numerically, and if that succeeds so does the call.
        """
        mech, y = self.mechanism, inputs[0]
        what, c = kinds[i] if i >= 0 else (RESIDUAL, mech.numerical[-1 - i])
        if what != RESIDUAL:
            return check_failure(mech, (what, c), y)
        try:
            self._follow(c, y[[mech.y_at[b] for b in mech.components[c].independent]], y)
        except ClosureNotFound as error:
            return error
        if mech.closures[c].n_x:
            return check_failure(mech, (what, c), y)
        return self.numerical_twin()._program(name)(*inputs)

    def numerical_twin(self) -> Robot:
        """The same robot with every loop numerical: it can follow any assembly mode."""
        with self._lock:
            if self._twin is None:
                self._twin = Robot(*self._model, solver="numerical")
            return self._twin

    def _rescue(self, k: int, p: Array, first: Array) -> Array:
        """Called by a program when a Newton loop refuses its start."""
        return self._follow(self.mechanism.numerical[k], p, first)

    def _follow(self, c: int, p: Array, first: Array) -> Array:
        """Unknowns of component ``c`` by continuation; a failure carries the last good q."""
        try:
            return self.branches[c].rescue(p)
        except ClosureNotFound as error:
            error.last_good_q = self._complete(c, first, error.last_good)  # type: ignore[attr-defined]
            raise

    def _complete(self, c: int, y: Array, last: Solution) -> Array | None:
        """All of q with component ``c`` at its last good solution."""
        mech, branch = self.mechanism, self.branches[c]
        component, y = mech.components[c], y.copy()
        y[[mech.y_at[b] for b in component.independent]] = branch.reference.p
        try:
            q: Array = self._program("positions")(y)[: mech.n_q]
        except ClosureNotFound:
            return None
        q[[mech.q_at[b] for b in component.joints]] = branch.local_q(last)
        return q

    def _run(self, name: str, guess: ArrayLike | None, *values: Any) -> Array:
        program = self._programs.get(name) or self._program(name)
        if guess is None:
            return program(*values)
        return self._run_from(program, guess, values)

    def _run_from(self, program: Program, guess: ArrayLike, values: Sequence[Any]) -> Array:
        """Evaluate on the assembly mode that ``guess`` (n_q,) lies on."""
        if len(self.mechanism.numerical) < len(self.branches):
            twin = self.numerical_twin()
            return run_from_guess(twin, twin._program(program.source.name), guess, values)
        return run_from_guess(self, program, guess, values)

    # -- kinematics -----------------------------------------------------------------------------

    def state(
        self,
        y: ArrayLike,
        yd: ArrayLike | None = None,
        ydd: ArrayLike | None = None,
        guess: ArrayLike | None = None,
    ) -> State:
        """Complete independent positions (velocities, accelerations) to the spanning tree.

        Args:
            y: (m,) independent positions [rad or m]; with a floating base 7 + the rest.
            yd, ydd: (m,) velocities and accelerations, optional.
            guess: (n,) a spanning configuration that selects the assembly mode.

        Raises:
            ClosureNotFound: ``y`` is not reachable on the assembly mode; carries the last good q.
        """
        values: tuple[ArrayLike, ...]
        if yd is None:
            name, values = "positions", (y,)
        elif ydd is None:
            name, values = "velocities", (y, yd)
        else:
            name, values = "state", (y, yd, ydd)
        flat = self._run(name, guess, *values)
        return State(self, flat, self._programs[name].iterations())

    def loop_jacobian(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """G (n, m): qd = G yd."""
        return self._matrix("loop_jacobian", (self.n, self.m), guess, y)

    def loop_bias(self, y: ArrayLike, yd: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """g (n,): qdd = G ydd + g."""
        return self._run("loop_bias", guess, y, yd)

    def actuator_jacobian(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """G_u (p, m): ud = G_u yd."""
        G = self.loop_jacobian(y, guess)
        rows = [self.mechanism.qd_at[b] for b in self.mechanism.actuator]
        result: Array = G[..., rows, :]
        return result

    def independent_from_actuator(self, u: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """y (m,) from measured actuator positions ``u`` (p,).

        Args:
            guess: (m,) independent positions near the answer; by default the branch of the
                reference configuration is searched.
        """
        return independent_from_actuator(self, u, guess)

    def pose(self, link: str, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """(4, 4) pose of a link in the root frame (world, for a floating base)."""
        return link_pose(self.mechanism, self._frame(link), self._run("poses", guess, y))

    def jacobian(self, link: str, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """(6, m) Jacobian of a link: [angular; linear] velocity in the link frame = J yd."""
        return link_jacobian(self.mechanism, self._frame(link), self._run("poses", guess, y))

    def _frame(self, link: str) -> tuple[int, Array]:
        frames = self.mechanism.tree.frames
        if not isinstance(link, str) or link not in frames:
            raise InvalidInput(f"no link '{link}'; {did_you_mean(link, frames)}")
        return frames[link]

    # -- dynamics -------------------------------------------------------------------------------

    def inverse_dynamics(
        self,
        y: ArrayLike,
        yd: ArrayLike,
        ydd: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | None = None,
    ) -> Array:
        """Actuator forces tau_u (p,) [N or N m] (cluster RNEA, then G_u^-T).

        With a floating base the joint rows only; ``generalized_forces`` has the base wrench.

        Args:
            wrenches: link -> (6,) [moment; force] at the link origin in the link frame.

        Raises:
            ActuationSingular: G_u has lost rank there.
            Underactuated: a submechanism has fewer actuators than degrees of freedom.
        """
        if self._underactuated:
            raise self._underactuated_error()
        if wrenches is None and guess is None:
            return self._inverse_dynamics(y, yd, ydd)
        return self._dynamics("inverse_dynamics", wrenches, guess, y, yd, ydd)

    def generalized_forces(
        self,
        y: ArrayLike,
        yd: ArrayLike,
        ydd: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | None = None,
    ) -> Array:
        """Independent forces tau_y (m,) = M_y ydd + C_y (cluster RNEA)."""
        return self._dynamics("generalized_forces", wrenches, guess, y, yd, ydd)

    def forward_dynamics(
        self,
        y: ArrayLike,
        yd: ArrayLike,
        tau_u: ArrayLike,
        wrenches: Mapping[str, ArrayLike] | None = None,
        guess: ArrayLike | None = None,
        method: str = "cluster_aba",
    ) -> Array:
        """Independent accelerations ydd (m,) from actuator forces.

        Args:
            method: ``"cluster_aba"`` (default), or the references ``"projection"`` and
                ``"lagrange"``.
        """
        if wrenches is None and guess is None and method == "cluster_aba":
            return self._forward_dynamics(y, yd, tau_u)
        if method == "cluster_aba":
            return self._dynamics("forward_dynamics", wrenches, guess, y, yd, tau_u)
        return forward_dynamics_by(self, method, y, yd, tau_u, wrenches, guess)

    def mass_matrix(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """M_y (m, m) in independent coordinates."""
        return self._matrix("mass_matrix", (self.m, self.m), guess, y)

    def bias(self, y: ArrayLike, yd: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """C_y (m,): Coriolis, centrifugal and gravity forces."""
        return self._run("bias", guess, y, yd)

    def gravity(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """Gravity forces (m,)."""
        return self._run("gravity", guess, y)

    def _dynamics(
        self,
        name: str,
        wrenches: Mapping[str, ArrayLike] | None,
        guess: ArrayLike | None,
        *values: Any,
    ) -> Array:
        if wrenches is None:
            return self._run(name, guess, *values)
        return self._run(f"{name}_wrenches", guess, *values, self.body_wrenches(wrenches))

    def body_wrenches(self, wrenches: Mapping[str, ArrayLike]) -> Array:
        """Wrenches on links as one vector of wrenches on bodies, (6 * bodies,) or (N, ...)."""
        return gather_wrenches(self.mechanism, wrenches, self._frame)

    def _matrix(
        self, name: str, shape: tuple[int, int], guess: ArrayLike | None, *values: Any
    ) -> Array:
        flat = self._run(name, guess, *values)
        return flat.reshape(*flat.shape[:-1], *shape)

    def _underactuated_error(self) -> Underactuated:
        names = [self.mechanism.components[c].entry.name for c in self._underactuated]
        return Underactuated(
            f"submechanism '{names[0]}' has fewer actuators than degrees of freedom: actuator "
            "forces are not determined; use generalized_forces, or list jointnames_active"
        )

    # -- inspection -----------------------------------------------------------------------------

    def report(self) -> Report:
        """The linter's findings, per submechanism."""
        return lint(self)

    def submechanism(self, name: str) -> SubmechanismGeometry:
        """Assembly modes, singularities, reachable set and transmission ratio of a closed loop."""
        by_name = {branch.name: c for c, branch in self.branches.items()}
        if name not in by_name:
            raise InvalidInput(
                f"no submechanism with loops '{name}'; {did_you_mean(name, by_name)}"
            )
        return SubmechanismGeometry(self, by_name[name])

    def random_independent(self, rng: np.random.Generator, count: int | None = None) -> Array:
        """Random y within limits and reachable on the branch (continuous joints: one turn)."""
        return random_independent(self, rng, count)
