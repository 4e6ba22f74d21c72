"""The front door: ``load`` a URDF and a submechanism file, get a :class:`Robot`.

Reading order for newcomers: here, then one file of ``dynamics/``, then ``closure/``. Every method
takes one sample or a batch (leading axis) and runs one native program of ``dynamics/catalogue``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from .actuation.actuation import Actuation
from .actuation.encoders import independent_from_actuator
from .actuation.undriven import require_actuators
from .arrays import Array, Guess, Vec, Wrenches, as_finite_vectors
from .c_export import DEFAULT as C_FUNCTIONS
from .c_export import Export, export_c
from .closure.smooth import Gamma
from .dynamics.catalogue import (
    FORWARD_DYNAMICS,
    FORWARD_DYNAMICS_DERIVATIVES,
    GENERALIZED_FORCE_DERIVATIVES,
    GENERALIZED_FORCES,
    INVERSE_DYNAMICS,
    INVERSE_DYNAMICS_DERIVATIVES,
    MASS_MATRIX,
)
from .dynamics.parameters import ParameterView, parameter_names
from .engine.threads import Threads, on_threads, threaded
from .errors import InvalidInput, did_you_mean
from .inspection import Report, lint
from .inspection.geometry import SubmechanismGeometry
from .inspection.loop_names import component_called
from .mechanism import build_mechanism
from .model import Description, read_description
from .model.digest import digest
from .model.words import SOLVERS
from .programs import CORE, Programs
from .quantities.centroidal import Energy, center_of_mass, centroidal, centroidal_matrix, total_mass
from .quantities.coordinates import difference, integrate, random_independent
from .quantities.derivatives import AccelerationDerivatives, ForceDerivatives, StateDerivatives
from .quantities.differentiation import (
    CenterOfMassDerivatives,
    LinkDerivatives,
    center_of_mass_derivatives,
    jvp,
    link_derivatives,
    vjp,
)
from .quantities.equilibrium import Equilibrium, find_equilibrium
from .quantities.internal_loads import InternalLoads, LoadFinder
from .quantities.inverse_kinematics import inverse_kinematics
from .quantities.links import body_wrenches, frame_of, link_jacobian, link_pose
from .quantities.operational_space import (
    ForceResponse,
    MassMatrixFactors,
    osim_program,
    run_test_force,
)
from .quantities.parameters import DynamicParameters
from .quantities.reference_methods import forward_dynamics_by
from .quantities.search_starts import SearchSpace
from .quantities.state import State, actuator_jacobian, complete_state
from .shipped import shipped_files
from .simulation.integration import Integration
from .simulation.payload import Payload, Payloads
from .simulation.step_derivatives import StepDerivatives
from .simulation.stepping import Friction
from .task_space import TaskSpace
from .writers import Written, write_robot


def load(
    urdf: str | Path,
    submechanisms: str | Path | None = None,
    *,
    floating_base: bool | None = None,
    search_path: Sequence[str | Path] | str | Path = (),
    solver: str | None = None,
    closures: Mapping[str, Gamma] | None = None,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    prepare: Sequence[str] = CORE,
    xacro: Mapping[str, object] | None = None,
    assemble: bool = True,
) -> Robot:
    """Load a robot.

    Args:
        urdf: path of a URDF, URDF+, MJCF or SDF file, or its XML text. Or the name of a robot or
            mechanism that comes with the package, ``load("crank_leg")``.
        submechanisms: path of a submechanism file or robot.yaml, or its YAML text; without it every
            joint is its own actuator, but for loops that the first file closes (docs/formats.md).
        floating_base: put a free flyer under the root link, or not; None: as the files say.
        search_path: folders of ``file_path`` entries of the YAML, and of what an SDF includes.
        solver: ``"auto"``, ``"analytical"`` or ``"numerical"`` for all loops, in place of the
            file's ``solver`` words.
        closures: submechanism of type "function" -> its q = gamma(y) as a Python function of a
            CasADi SX vector (see ``closure/smooth.py``).
        gravity: (3,) acceleration of gravity in the root frame (world, floating base) [m/s^2].
        prepare: what to compile now, see :meth:`Robot.prepare`; by default state, inverse and
            forward dynamics. All else, with ``()`` everything, is compiled at its first use.
        xacro: values of the ``<xacro:arg>`` of a xacro file, by name.
        assemble: False: loops that are open where the files put them are an error, with their gaps.

    Raises:
        UrdfError, MjcfError, SubmechanismError: with file, place and remedy.
    """
    shipped = None if submechanisms is not None else shipped_files(urdf)
    if shipped is not None:
        _, urdf, submechanisms = shipped
    description = read_description(
        urdf, submechanisms, floating_base=floating_base, search_path=search_path, xacro=xacro
    )
    description = description if assemble else description.as_drawn()
    if solver is not None and solver not in SOLVERS:
        raise InvalidInput(f"solver '{solver}'; {did_you_mean(solver, SOLVERS)}")
    field = as_finite_vectors(gravity, "gravity", 3)
    if field.ndim != 1:
        raise InvalidInput(f"gravity has shape {field.shape}; expected (3,)")
    x, y, z = field.tolist()
    return Robot(Origin(description, solver, closures or {}, (x, y, z), tuple(prepare)))


@dataclass(frozen=True, eq=False)
class Origin:
    """All that a robot is made of; see :func:`load`."""

    description: Description
    solver: str | None
    closures: Mapping[str, Gamma]
    gravity: tuple[float, float, float]
    prepare: tuple[str, ...]


class Robot:
    """Kinematics and dynamics of a series-parallel robot in its independent coordinates.

    It can be pickled: what arrives in another process, or on another machine, is made of the same
    description there, with compiled code of its own. ``threads`` share the rows of a batch, by
    default as many as there are cores where it is worth it; results do not depend on the number.

    Attributes:
        programs: its compiled programs, for code that needs more than the methods offer.
        mechanism: tree, submechanisms, and where each coordinate is.
        names: of the joints, in the order of y, q and u.
        n, m, p: lengths of qd, yd and u.
        branches: component -> what is known about its branch, for every component with loops.
        actuator_rows: places of the actuators in q and in qd.
    """

    def __init__(self, origin: Origin) -> None:
        tree, entries = origin.description.tree, origin.description.submechanisms
        key = digest(tree, entries)
        mechanism = build_mechanism(tree, entries, key, origin.closures)
        mechanism = replace(mechanism, gravity=origin.gravity)
        traced = [c.digest for c in mechanism.closures if c.digest]
        key = digest(key, traced, mechanism.gravity)
        programs = self.programs = Programs(mechanism, key, origin.solver, origin.prepare)
        self._origin = origin
        self.mechanism, self.names = programs.mechanism, programs.names
        self.n, self.m, self.p = programs.n, programs.m, programs.p
        self.branches, self.actuator_rows = programs.branches, programs.actuator_rows
        self._parameters = DynamicParameters(self.mechanism)
        self._integration = Integration(programs)

    # The two calls that control loops make: straight into native code, for this thread.

    @cached_property
    def _inverse_dynamics(self) -> Callable[..., Array]:
        require_actuators(self.programs)
        return self.programs.program(INVERSE_DYNAMICS.plain).context().call

    @cached_property
    def _forward_dynamics(self) -> Callable[..., Array]:
        return self.programs.program(FORWARD_DYNAMICS.plain).context().call

    @cached_property
    def _search_space(self) -> SearchSpace:
        return SearchSpace(self.programs)

    @cached_property
    def _loads(self) -> LoadFinder:
        return LoadFinder(self.programs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Robot, (self._origin,)

    def __repr__(self) -> str:
        return (
            f"Robot('{self.mechanism.tree.name}', n={self.n}, m={self.m}, p={self.p}, "
            f"{len(self.branches)} loops, {len(self.mechanism.numerical)} of them numerical)"
        )

    def prepare(self, *names: str, batch: bool = False, twin: bool = False) -> None:
        """Compile programs now rather than at their first use.

        Args:
            names: methods such as ``"mass_matrix"``; see ``dynamics/catalogue``. All when empty.
            batch: their SIMD versions too.
            twin: also those with every loop numerical, which take over where a loop's closed form
                is not proved: for control cycles, which cannot wait there.
        """
        self.programs.prepare(*names, batch=batch, twin=twin)

    def export_c(
        self,
        folder: str | Path,
        functions: Sequence[str] = C_FUNCTIONS,
        *,
        name: str | None = None,
        single: bool = False,
    ) -> Export:
        """Write functions as C99 for controllers without Python; see docs/hardware.md.

        Args:
            folder: made if it is not there; files of an earlier export are replaced.
            functions: programs of ``dynamics/catalogue`` by name, ``"effort_map"`` for forces
                between joints and motors, ``"encoders"`` for y, yd, q and qd from u and ud.
            name: prefix of everything in C; the robot's name by default.
            single: ``float`` in place of ``double``.

        Raises:
            InvalidInput, Underactuated: no such function, or too few actuators for it.
        """
        return export_c(self.programs, folder, functions, name=name, single=single)

    def write(self, path: str | Path, to: str | None = None) -> Written:
        """Write the robot in another file format; see docs/formats.md for what each can say.

        Args:
            path: of the robot description; what else the format needs is put beside it.
            to: one of :data:`~.writers.FORMATS`; None: what the suffix of ``path`` stands for.

        Returns:
            The files, and notes on what the format says in other words or not at all.

        Raises:
            InvalidInput, NotWritable: no such format, or it lacks words for what dynamics need.
        """
        return write_robot(self.mechanism, path, to)

    # -- kinematics -----------------------------------------------------------------------------

    def state(
        self,
        y: Vec,
        yd: Vec | None = None,
        ydd: Vec | None = None,
        guess: Guess = None,
        threads: Threads = None,
    ) -> State:
        """Complete independent positions (velocities, accelerations) to the spanning tree.

        Args:
            y: (m,) independent positions [rad or m]; with a floating base 7 + the rest.
            yd, ydd: (m,) velocities and accelerations, optional.
            guess: (n,) a spanning configuration that selects the assembly mode.

        Raises:
            ClosureNotFound: ``y`` is not reachable on the assembly mode; carries the last good q.
        """
        if threads is None:
            return complete_state(self.programs, y, yd, ydd, guess)
        return on_threads(threads, complete_state, self.programs, y, yd, ydd, guess)

    @threaded
    def loop_jacobian(self, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """G (n, m): qd = G yd."""
        return self.programs.run("loop_jacobian", guess, y)

    @threaded
    def loop_bias(self, y: Vec, yd: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """g (n,): qdd = G ydd + g."""
        return self.programs.run("loop_bias", guess, y, yd)

    @threaded
    def actuator_jacobian(self, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """G_u (p, m): ud = G_u yd."""
        return actuator_jacobian(self.programs, y, guess)

    @threaded
    def independent_from_actuator(
        self, u: Vec, guess: Guess = None, threads: Threads = None
    ) -> Array:
        """y (m,) from measured actuator positions ``u`` (p,).

        Redundant actuators are fitted in the sense of least squares; ``actuation.disagreement(u)``
        says how much they contradict each other.

        Args:
            guess: (m,) independent positions near the answer; by default the branch of the
                reference configuration is searched.
        """
        return independent_from_actuator(self.programs, u, guess)

    @threaded
    def pose(self, link: str, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """(4, 4) pose of a link in the root frame (world, for a floating base)."""
        return link_pose(self.programs, link, y, guess)

    @threaded
    def jacobian(self, link: str, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """(6, m) Jacobian of a link: [angular; linear] velocity in the link frame = J yd."""
        return link_jacobian(self.programs, link, y, guess)

    def inverse_kinematics(
        self, targets: Mapping[str, Vec], y0: Vec | None = None, limits: bool = True
    ) -> Array:
        """y (n_y,) that brings links to their targets, to 1e-8 m; see docs/inverse_kinematics.md.

        Args:
            targets: link -> position (3,) or pose (4, 4) in the root frame (world, floating base),
                or N of them: in a batch each search starts from the solution before.
            y0: (n_y,) where to start; of several solutions the one that is found from there. By
                default the reference configuration.
            limits: keep to the position limits of independent joints and actuators.

        Raises:
            TargetNotReached: which link misses by how much, and which limits are active.
        """
        return inverse_kinematics(self._search_space, targets, y0, limits)

    def frame(self, link: str) -> tuple[int, Array]:
        """(body, pose in the body frame) of a link."""
        return frame_of(self.mechanism.tree, link)

    def integrate(self, y: Vec, dy: Vec) -> Array:
        """Where y (n_y,) leads in one unit of time at the constant velocity ``dy`` (m,).

        The base moves along the screw of its body twist, by any angle; joints simply add.
        """
        return integrate(self.mechanism, y, dy)

    def difference(self, y0: Vec, y1: Vec) -> Array:
        """dy (m,) with integrate(y0, dy) = y1; the base turns the short way, at most pi."""
        return difference(self.mechanism, y0, y1)

    # -- dynamics -------------------------------------------------------------------------------

    def inverse_dynamics(
        self,
        y: Vec,
        yd: Vec,
        ydd: Vec,
        wrenches: Wrenches = None,
        guess: Guess = None,
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> Array:
        """Actuator forces tau_u (p,) [N or N m] (cluster RNEA, then G_u^-T).

        With a floating base the joint rows only; ``generalized_forces`` has the base wrench.

        Args:
            wrenches: link -> (6,) [moment; force] at the link origin in the link frame.
            payload: link -> what it carries; parameters: in place of ``dynamic_parameters``.

        Raises:
            ActuationSingular: G_u has lost rank there.
            Underactuated: a submechanism has fewer actuators than degrees of freedom.
        """
        if wrenches is None and guess is None and payload is None and parameters is None:
            if threads is None:
                return self._inverse_dynamics(y, yd, ydd)
            return on_threads(threads, self._inverse_dynamics, y, yd, ydd)
        require_actuators(self.programs)
        at, more = (guess, y, yd, ydd), self._more(wrenches, payload, parameters)
        return on_threads(threads, self.programs.dynamics, INVERSE_DYNAMICS, *at, **more)

    @threaded
    def generalized_forces(
        self,
        y: Vec,
        yd: Vec,
        ydd: Vec,
        wrenches: Wrenches = None,
        guess: Guess = None,
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> Array:
        """Independent forces tau_y (m,) = M_y ydd + C_y (cluster RNEA)."""
        more = self._more(wrenches, payload, parameters)
        return self.programs.dynamics(GENERALIZED_FORCES, guess, y, yd, ydd, **more)

    def forward_dynamics(
        self,
        y: Vec,
        yd: Vec,
        tau_u: Vec,
        wrenches: Wrenches = None,
        guess: Guess = None,
        method: str = "cluster_aba",
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> Array:
        """Independent accelerations ydd (m,) from actuator forces.

        Args:
            method: ``"cluster_aba"`` (default), or the references ``"projection"`` and
                ``"lagrange"`` (these with the model's own parameters only).
        """
        if method != "cluster_aba":
            if payload is not None or parameters is not None:
                raise InvalidInput(f"method '{method}' takes no payload and no parameters")
            inputs = self.programs, method, y, yd, tau_u, wrenches, guess
            return on_threads(1 if threads is None else threads, forward_dynamics_by, *inputs)
        if wrenches is None and guess is None and payload is None and parameters is None:
            if threads is None:
                return self._forward_dynamics(y, yd, tau_u)
            return on_threads(threads, self._forward_dynamics, y, yd, tau_u)
        at, more = (guess, y, yd, tau_u), self._more(wrenches, payload, parameters)
        return on_threads(threads, self.programs.dynamics, FORWARD_DYNAMICS, *at, **more)

    # -- derivatives ----------------------------------------------------------------------------
    #
    # Columns are those of yd; see docs/derivatives.md for a floating base.

    @threaded
    def state_derivatives(
        self, y: Vec, yd: Vec, ydd: Vec, guess: Guess = None, threads: Threads = None
    ) -> StateDerivatives:
        """How q, qd and qdd of :meth:`state` change with y and yd, each (n, m)."""
        return StateDerivatives.of(self.programs.named("state_derivatives", guess, y, yd, ydd))

    @threaded
    def inverse_dynamics_derivatives(
        self,
        y: Vec,
        yd: Vec,
        ydd: Vec,
        wrenches: Wrenches = None,
        guess: Guess = None,
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> ForceDerivatives:
        """(dtau_dy, dtau_dyd, dtau_dydd) of the actuator forces, each (p, m), analytically.

        Arguments and errors as for :meth:`inverse_dynamics`.
        """
        require_actuators(self.programs)
        at, more = (guess, y, yd, ydd), self._more(wrenches, payload, parameters)
        found = self.programs.dynamics_parts(INVERSE_DYNAMICS_DERIVATIVES, *at, **more)
        return ForceDerivatives(*found)

    @threaded
    def generalized_force_derivatives(
        self,
        y: Vec,
        yd: Vec,
        ydd: Vec,
        wrenches: Wrenches = None,
        guess: Guess = None,
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> ForceDerivatives:
        """(dtau_dy, dtau_dyd, dtau_dydd) of :meth:`generalized_forces`, each (m, m)."""
        at, more = (guess, y, yd, ydd), self._more(wrenches, payload, parameters)
        found = self.programs.dynamics_parts(GENERALIZED_FORCE_DERIVATIVES, *at, **more)
        return ForceDerivatives(*found)

    @threaded
    def forward_dynamics_derivatives(
        self,
        y: Vec,
        yd: Vec,
        tau_u: Vec,
        wrenches: Wrenches = None,
        guess: Guess = None,
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> AccelerationDerivatives:
        """(dydd_dy, dydd_dyd, dydd_dtau) of :meth:`forward_dynamics`: (m, m), (m, m), (m, p)."""
        at, more = (guess, y, yd, tau_u), self._more(wrenches, payload, parameters)
        found = self.programs.dynamics_parts(FORWARD_DYNAMICS_DERIVATIVES, *at, **more)
        return AccelerationDerivatives(*found)

    def casadi(self, name: str, link: str | None = None, symbolic: bool = False) -> Any:
        """A ``casadi.Function`` that runs the native code, for optimisers.

        Its first and second derivatives are exact. Keep it as long as expressions that use it live.

        Args:
            name: ``"inverse_dynamics"`` or ``"generalized_forces"`` of (y, yd, ydd),
                ``"forward_dynamics"`` of (y, yd, tau_u), ``"link"`` (its R, p and J) of y, or any
                other program of ``dynamics/catalogue`` that gives vectors and matrices.
            link: which one.
            symbolic: the SX expression itself, for who generates code (acados), where all loops
                have closed forms; its last output, checks, is positive where the others hold.
        """
        from .quantities.casadi_functions import casadi_function

        return casadi_function(self.programs, name, link, symbolic)

    @threaded
    def jvp(
        self,
        name: str,
        at: Sequence[Vec],
        along: Sequence[Vec],
        link: str | None = None,
        guess: Guess = None,
        threads: Threads = None,
    ) -> Any:
        """What a program gives, differentiated along a direction: a derivative times a vector.

        Args:
            name, link: as for :meth:`casadi`.
            at: the vectors that it takes; along: a direction of each, of y a velocity (m,).

        Returns:
            An array shaped like its output; of several outputs all, by name.
        """
        return jvp(self.programs, name, at, along, link, guess)

    @threaded
    def vjp(
        self,
        name: str,
        at: Sequence[Vec],
        weights: Vec | Mapping[str, Vec],
        link: str | None = None,
        guess: Guess = None,
        threads: Threads = None,
    ) -> tuple[Array, ...]:
        """Gradients of a weighted sum of what a program gives, by every vector that it takes.

        Args:
            name, at, link: as for :meth:`jvp`.
            weights: one for every number of its output, or by name of the outputs that count.
        """
        return vjp(self.programs, name, at, weights, link, guess)

    @threaded
    def link_derivatives(
        self, link: str, y: Vec, guess: Guess = None, threads: Threads = None
    ) -> LinkDerivatives:
        """(dR_dy, dp_dy, dJ_dy) of :meth:`pose` and :meth:`jacobian`: (3,3,m), (3,m), (6,m,m)."""
        return link_derivatives(self.programs, link, y, guess)

    @threaded
    def center_of_mass_derivatives(
        self, y: Vec, yd: Vec, guess: Guess = None, threads: Threads = None
    ) -> CenterOfMassDerivatives:
        """(dcom_dy, dvelocity_dy) of the centre of mass and its velocity, each (3, m)."""
        return center_of_mass_derivatives(self.programs, y, yd, guess)

    # -- inertia, force responses ---------------------------------------------------------------

    @threaded
    def mass_matrix(
        self,
        y: Vec,
        guess: Guess = None,
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> Array:
        """M_y (m, m) in independent coordinates."""
        pi = self._parameters.given(payload, parameters)
        if pi is None:
            return self.programs.run(MASS_MATRIX.plain, guess, y)
        return self.programs.run(MASS_MATRIX.parameters, guess, y, pi)

    @threaded
    def inverse_mass_matrix(self, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """M_y^-1 (m, m) = W^T D^-1 W by innovations (R. Kumar et al. 2022, Eq. 27).

        From the articulated inertias D and U of the clusters; M_y is not formed.
        """
        return self.programs.run("inverse_mass_matrix", guess, y)

    @threaded
    def mass_matrix_factors(
        self, y: Vec, guess: Guess = None, threads: Threads = None
    ) -> MassMatrixFactors:
        """W and D of M_y^-1 = W^T D^-1 W, each (m, m); det M_y = det D.

        W is the identity plus entries for joints further inwards, D is block-diagonal (one block
        per cluster), so both are cheap to multiply with or to solve.
        """
        return MassMatrixFactors(**self.programs.named("mass_matrix_factors", guess, y))

    @threaded
    def inverse_osim(
        self, links: Sequence[str], y: Vec, guess: Guess = None, threads: Threads = None
    ) -> Array:
        """Inverse operational-space inertia Lambda^-1 = J M_y^-1 J^T (6k, 6k) of k links.

        By extended force propagators (cluster EFPA), without J and M_y. A program is compiled
        for every list of links that is asked for.

        Args:
            links: names, in the order of the blocks; a name may come twice, and the root link of a
                fixed base gives zeros. Blocks are [angular; linear] in the frame of each link.
        """
        return self.programs.run(osim_program(self.programs, links), guess, y)

    @threaded
    def apply_test_force(
        self, link: str, wrench: Vec, y: Vec, guess: Guess = None, threads: Threads = None
    ) -> ForceResponse:
        """Accelerations that a force alone causes: no motion, no gravity, no actuator forces.

        Args:
            wrench: (6,) [moment; force] at the origin of the link, in its frame.

        Returns:
            ``ydd`` (m,) = M_y^-1 J^T f, and ``acceleration`` (6,) of the link = Lambda^-1 f.
        """
        return run_test_force(self.programs, link, wrench, y, guess)

    @threaded
    def bias(self, y: Vec, yd: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """C_y (m,): Coriolis, centrifugal, gravity, friction and spring forces."""
        return self.programs.run("bias", guess, y, yd)

    @threaded
    def gravity(self, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """What holds the robot at rest (m,): against gravity, and springs if there are any."""
        return self.programs.run("gravity", guess, y)

    def _more(self, wrenches: Wrenches, payload: Payloads, parameters: Guess) -> dict[str, Any]:
        """What a program of a family takes besides its usual vectors."""
        forces = None if wrenches is None else self.body_wrenches(wrenches)
        return {"wrenches": forces, "parameters": self._parameters.given(payload, parameters)}

    def body_wrenches(self, wrenches: Mapping[str, Vec]) -> Array:
        """Wrenches on links as one vector of wrenches on bodies, (6 * bodies,) or (N, ...)."""
        return body_wrenches(self.mechanism, wrenches)

    @threaded
    def internal_loads(
        self,
        y: Vec,
        yd: Vec | None = None,
        ydd: Vec | None = None,
        tau_u: Vec | None = None,
        wrenches: Wrenches = None,
        guess: Guess = None,
        threads: Threads = None,
        *,
        payload: Payloads = None,
        parameters: Vec | None = None,
    ) -> InternalLoads:
        """Wrenches in all joints and cuts, and forces along rods; see docs/internal_loads.md.

        Args:
            yd: (m,) velocities; None: at rest.
            ydd: (m,) accelerations; None: none, or with ``tau_u`` those that they cause.
            tau_u: (p,) actuator forces; None: those of inverse dynamics.

        Raises:
            InvalidInput: both ``ydd`` and ``tau_u`` are given and contradict each other.
            Underactuated: the motion takes forces that no actuator has; give ``tau_u``.
        """
        more = self._more(wrenches, payload, parameters)
        return self._loads.loads(y, yd, ydd, tau_u, guess, **more)

    @threaded
    def step(
        self,
        y: Vec,
        yd: Vec,
        tau_u: Vec,
        h: float,
        wrenches: Wrenches = None,
        steps: int = 1,
        friction: Friction | None = None,
        guess: Guess = None,
        threads: Threads = None,
    ) -> tuple[Array, Array]:
        """(y, yd) after ``steps`` Runge-Kutta steps of ``h`` seconds under constant forces.

        Args:
            tau_u: (p,) actuator forces.
            wrenches: link -> (6,) [moment; force] at the link origin in the link frame; they turn
                with the link.
            friction: of joints, besides that of the file.

        Raises:
            ClosureNotFound: the way leads out of the assembly mode. Steps one by one
                (``steps=1``) show the last good state.
        """
        return self._integration.step(y, yd, tau_u, h, wrenches, steps, friction, guess)

    @threaded
    def step_derivatives(
        self,
        y: Vec,
        yd: Vec,
        tau_u: Vec,
        h: float,
        wrenches: Wrenches = None,
        steps: int = 1,
        guess: Guess = None,
        threads: Threads = None,
    ) -> StepDerivatives:
        """The state after :meth:`step` and its derivatives, for shooting."""
        return self._integration.derivatives(y, yd, tau_u, h, wrenches, steps, guess)

    def equilibrium(
        self, y0: Vec, tau_u: Vec | None = None, wrenches: Wrenches = None, guess: Guess = None
    ) -> Equilibrium:
        """Where the robot, let go at ``y0`` (n_y,), creeps to rest under gravity and springs.

        Position limits and dry friction do not hold it.

        Args:
            tau_u: (p,) constant actuator forces; None: none.
            wrenches: link -> (6,) [moment; force]; they turn with the link.

        Raises:
            EquilibriumNotFound: nothing holds it, or the way is too long; carries the last y.
        """
        return find_equilibrium(self.programs, y0, tau_u, self.body_wrenches(wrenches or {}), guess)

    # -- dynamic parameters ---------------------------------------------------------------------

    @property
    def dynamic_parameters(self) -> Array:
        """pi of the model files: ten per body, then three per joint, see ``parameter_names``."""
        return self._parameters.model.copy()

    @property
    def inertial_parameters(self) -> Array:
        """(10 * bodies,) the first part of ``dynamic_parameters``: m, h, I of every body."""
        return self._parameters.view().bodies.flatten()

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``"shank.m"`` ... ``"knee.viscous_friction"``, in the order of ``dynamic_parameters``."""
        return parameter_names(self.mechanism)

    def parameter_view(self, parameters: Vec | None = None) -> ParameterView:
        """``parameters`` (default: the model's) by name: ``.mass[i]``, ``.first_moment[i]`` ...

        Bodies are in the order of ``mechanism.tree.bodies``; the arrays are views.
        """
        return self._parameters.view(parameters)

    def parameters_with(
        self, payload: Mapping[str, Payload], parameters: Vec | None = None
    ) -> Array:
        """``parameters`` (default: the model's) with payloads on links added.

        In a control loop do this once and pass the result as ``parameters=``.
        """
        return self._parameters.loaded(payload, parameters)

    @threaded
    def regressor(
        self, y: Vec, yd: Vec, ydd: Vec, guess: Guess = None, threads: Threads = None
    ) -> Array:
        """W (p, parameters): W @ dynamic_parameters = inverse_dynamics(y, yd, ydd).

        Friction and rotor inertia have columns of their own, after those of the bodies. Springs
        have none: their part is inverse_dynamics(..., parameters=zeros), to be added to W @ pi.

        Raises:
            Underactuated, ActuationSingular: as inverse dynamics; ``generalized_regressor`` never.
        """
        require_actuators(self.programs)
        return self.programs.run("regressor", guess, y, yd, ydd)

    @threaded
    def generalized_regressor(
        self, y: Vec, yd: Vec, ydd: Vec, guess: Guess = None, threads: Threads = None
    ) -> Array:
        """W_y (m, parameters): W_y @ dynamic_parameters = generalized_forces(y, yd, ydd), but for
        springs as in :meth:`regressor`."""
        return self.programs.run("generalized_regressor", guess, y, yd, ydd)

    # -- the whole robot ------------------------------------------------------------------------

    @property
    def total_mass(self) -> float:
        """Mass of all moving links [kg]; of a fixed base, the root link does not count."""
        return total_mass(self.mechanism.tree)

    @threaded
    def center_of_mass(self, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """(3,) centre of mass of the moving links in the root frame (world, floating base) [m]."""
        return center_of_mass(self.programs, y, guess)

    @threaded
    def center_of_mass_velocity(
        self, y: Vec, yd: Vec, guess: Guess = None, threads: Threads = None
    ) -> Array:
        """(3,) its velocity [m/s]."""
        return centroidal(self.programs, y, yd, guess)["velocity"]

    @threaded
    def centroidal_momentum(
        self, y: Vec, yd: Vec, guess: Guess = None, threads: Threads = None
    ) -> Array:
        """(6,) [angular; linear] momentum about the centre of mass, in world axes."""
        return centroidal(self.programs, y, yd, guess)["momentum"]

    @threaded
    def centroidal_matrix(self, y: Vec, guess: Guess = None, threads: Threads = None) -> Array:
        """A_G (6, m): centroidal momentum = A_G yd."""
        return centroidal_matrix(self.programs, y, guess)

    @threaded
    def energy(self, y: Vec, yd: Vec, guess: Guess = None, threads: Threads = None) -> Energy:
        """Kinetic and potential energy [J]: of gravity, zero in the root's plane z = 0; of springs,
        zero where they are at rest."""
        found = centroidal(self.programs, y, yd, guess)
        return Energy(found["kinetic"], found["potential"])

    # -- what is built on it --------------------------------------------------------------------

    @cached_property
    def actuation(self) -> Actuation:
        """Redundant actuators, limits, stiffness, statics: between u and y as hardware has it."""
        return Actuation(self.programs, self._parameters)

    def report(self) -> Report:
        """The linter's findings, per submechanism."""
        return lint(self.programs)

    def submechanism(self, name: str) -> SubmechanismGeometry:
        """Assembly modes, singularities, reachable set and transmission ratio of a closed loop.

        Args:
            name: of the entry in the submechanism file, or of an independent joint of the loop. An
                entry with several unrelated loops needs the joint: each of them is one geometry.
        """
        return SubmechanismGeometry(self.programs, component_called(self.branches, name))

    def task_space(self, scheme: str = "nested", tolerance: float = 1e-10) -> TaskSpace:
        """The robot in the coordinates of its platform, for a parallel manipulator.

        Args:
            scheme: ``"nested"`` (loops of a limb are closed before each of its Newton steps) or
                ``"compound"`` (all in one step): Mueller 2022, Algorithms 1 and 2, or 3.
            tolerance: of every residual [m, rad]; smaller takes more iterations.

        Raises:
            SubmechanismError: no entry has a ``task_space``, or it does not fit the mechanism.
        """
        return TaskSpace(self.programs, scheme, tolerance)

    def random_independent(
        self, rng: np.random.Generator, count: int | None = None, everywhere: bool = False
    ) -> Array:
        """Random y within limits and reachable on the branch (continuous joints: one turn).

        They come from a box around the reference in which every loop closes; ``everywhere``: from
        all that loops with several independent joints reach, which takes a search for each.
        """
        return random_independent(self.mechanism, self.branches, rng, count, everywhere)
