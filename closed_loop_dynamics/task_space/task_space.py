"""A parallel manipulator in task space: ``robot.task_space()``.

Inverse kinematics limb by limb with nested Newton loops, task-space equations of motion and the
feedforward u = J_IK^-T(...) of Mueller 2022. x are the free coordinates of the platform.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..arrays import Array, Vec, as_finite_vectors, as_rows
from ..engine import Program
from ..engine.symbolic import tracing
from ..engine.threads import Threads, threaded
from ..errors import ClosureNotFound, InvalidInput, SubmechanismError, Underactuated, did_you_mean
from ..model.poses import body_poses, link_pose
from ..programs import Programs
from .equations import TaskModel, actuation_determinant, limb_output
from .limb import separate
from .limb_kinematics import plan_limb
from .platform import Platform
from .programs import TaskPrograms
from .task_state import Conditioning, LimbConditioning, Rounds, TaskState
from .topology import find_limbs

SCHEMES = ("nested", "compound")


class TaskSpace:
    """Kinematics and dynamics of one parallel manipulator in the coordinates x of its platform.

    Attributes:
        axes: names of x, of x, y, z [m], roll, pitch, yaw [rad] in the root frame.
        platform: the link they belong to.
        limbs: as the manipulator is cut into them; names: of the limbs.
        rows: limb -> components of the platform twist [angular; linear] that it commands (P_t).
        coordinates_of: limb -> its generalized coordinates.
    """

    def __init__(
        self, programs: Programs, scheme: str = "nested", tolerance: float = 1e-10
    ) -> None:
        if scheme not in SCHEMES:
            raise InvalidInput(f"scheme '{scheme}'; {did_you_mean(scheme, SCHEMES)}")
        if not isinstance(tolerance, int | float):
            raise InvalidInput(f"tolerance {tolerance!r} is not a number")
        if not 1e-14 <= tolerance <= 1e-4:
            raise InvalidInput(f"tolerance {tolerance:g} is not between 1e-14 and 1e-4")
        mech = programs.mechanism
        entry = next((e for e in mech.entries if e.task_space is not None), None)
        if entry is None or entry.task_space is None:
            files = {e.file for e in mech.entries}
            raise SubmechanismError(
                "no submechanism has a task_space",
                file=", ".join(sorted(files)),
                remedy="add `task_space: {platform: link, axes: [x, z]}` to the entry of the "
                "parallel manipulator",
            )
        if mech.turning:
            raise SubmechanismError(
                "a task space needs a fixed base and no ball joints",
                remedy="load without floating_base",
            )
        self._robot, self.name, self.scheme = programs, entry.name, scheme
        self.platform, self.axes = entry.task_space.platform, entry.task_space.axes
        with tracing():
            q_ref = self._reference()
            poses = body_poses(mech.tree, q_ref)
            self._platform = Platform(self.axes, link_pose(mech.tree, poses, self.platform))
            limbs = [separate(mech, t, q_ref, programs.key) for t in find_limbs(mech, entry)]
            planned = tuple(plan_limb(limb, self._platform, entry) for limb in limbs)
            model = TaskModel(mech, self.platform, self._platform, planned)
            self._programs = TaskPrograms(model, self.name, programs.key, scheme, tolerance)
        self._model, self.limbs = model, planned
        self.names = tuple(limb.name for limb in limbs)
        self.rows = {p.limb.name: p.rows for p in planned}
        self.coordinates_of = {
            limb.name: tuple(map(limb.mechanism.joint_name, limb.mechanism.independent))
            for limb in limbs
        }
        #: (m,) task coordinates of the reference configuration.
        self.reference = self._platform.x_ref
        if mech.p >= model.m:
            self._programs.actuation = actuation_determinant(self.actuator_jacobian(self.reference))

    def __repr__(self) -> str:
        limbs = ", ".join(f"{n} ({len(self.coordinates_of[n])} dof)" for n in self.names)
        return (
            f"TaskSpace('{self.name}', {'-'.join(self.axes)} of '{self.platform}', limbs {limbs})"
        )

    def _reference(self) -> dict[str, float]:
        mech = self._robot.mechanism
        q_ref = dict.fromkeys(mech.tree.joint_names, 0.0)
        for c in mech.loops:
            closure = mech.closures[c].loop_closure
            assert closure is not None
            names = closure.system.names(range(len(closure.system.joints)))
            q_ref.update(zip(names, closure.plan.q_ref, strict=True))
        return q_ref

    # -- poses ----------------------------------------------------------------------------------

    def pose(self, x: Vec) -> Array:
        """(4, 4) pose of the platform in the root frame, or (N, 4, 4)."""
        values = as_finite_vectors(x, "x", self._model.m)
        if values.ndim == 1:
            return self._platform.pose(values)
        return np.array([self._platform.pose(each) for each in values])

    def coordinates(self, pose: Vec, tolerance: float = 1e-6) -> Array:
        """x (m,) of a platform pose (4, 4); InvalidInput when the platform cannot have it."""
        return self._platform.coordinates(pose, tolerance)

    # -- kinematics -----------------------------------------------------------------------------

    @threaded
    def inverse_kinematics(
        self,
        x: Vec,
        xd: Vec | None = None,
        xdd: Vec | None = None,
        guess: TaskState | None = None,
        threads: Threads = None,
    ) -> TaskState:
        """Joint and actuator positions, velocities and accelerations for a platform motion.

        Args:
            x, xd, xdd: (m,) task coordinates and derivatives (zero when left out), or (N, m).
            guess: a state to start from, on the same assembly mode; by default this thread's
                previous solution when it is near, else the reference configuration. All methods
                below take it; with many samples it is the start of the first.

        Raises:
            ClosureNotFound: a limb cannot reach x without passing a singularity; carries the
                farthest q on the straight way from the reference, and what misses there.
        """
        m = self._model.m
        given = [x, np.zeros(m) if xd is None else xd, np.zeros(m) if xdd is None else xdd]
        names = ("x", "xd", "xdd")
        values = [as_finite_vectors(v, n, m) for v, n in zip(given, names, strict=True)]
        rows = as_rows("inverse_kinematics", values)
        if rows is None:
            return self._solve(values, guess)
        states: list[TaskState] = []
        for sample, row in enumerate(zip(*rows, strict=True)):
            try:
                states.append(self._solve(list(row), None if states else guess))
            except ClosureNotFound as error:
                error.sample = sample
                raise
        return TaskState.stacked(states) if states else self._no_states()

    def _no_states(self) -> TaskState:
        """The answer to an empty batch."""
        mech, model = self._robot.mechanism, self._model
        x, q, u, theta = (np.zeros((0, size)) for size in (model.m, mech.n, mech.p, model.n_theta))
        iterations = np.zeros((0, len(model.limbs)), dtype=np.int64)
        return TaskState(x, q, q, q, u, u, u, theta, np.zeros(0), np.zeros(0), iterations)

    def _flat(self, name: str, guess: TaskState | None, values: Sequence[Vec]) -> Array:
        program = self._programs[name]
        if guess is not None:
            self._start(program, guess)
        return program(*values)

    def _call(self, name: str, guess: TaskState | None, *values: Vec) -> Array:
        """The output of a program that has one."""
        return self._programs.outputs[name].only(self._flat(name, guess, values))

    def _named(self, name: str, guess: TaskState | None, *values: Vec) -> Mapping[str, Array]:
        return self._programs.outputs[name].views(self._flat(name, guess, values))

    def _solve(self, values: list[Array], guess: TaskState | None) -> TaskState:
        out = self._named("inverse_kinematics", guess, *values)
        program = self._programs["inverse_kinematics"]
        context = program.context()
        q, qd, qdd = out["q"], out["qd"], out["qdd"]
        rows = self._robot.actuator_rows[0]
        layout, thetas, rounds = program.shape.layout, [], []
        for k, log in enumerate(self._programs.logs):
            solver = program.shape.solvers[k].solver
            at, rec = layout.solver_out[k], solver.record
            thetas.append(context.records[k][rec.x0 : rec.x0 + rec.n_x])
            block = context.memory[at : at + solver.n_out].copy()
            rounds.append(Rounds(log, block, int(context.counts[k])))
        return TaskState(
            values[0].copy(),
            *(q, qd, qdd, q[rows], qd[rows], qdd[rows]),
            np.concatenate(thetas),
            np.array(out["platform_residual"]),
            np.array(out["loop_residual"]),
            context.counts - 1,
            tuple(rounds),
        )

    def _start(self, program: Program, guess: TaskState) -> None:
        """Make ``guess`` the newest solution of this thread."""
        if not isinstance(guess, TaskState) or guess.x.ndim != 1:
            raise InvalidInput("guess is not one state of inverse_kinematics")
        if guess.x.shape != (self._model.m,) or guess.theta.shape != (self._model.n_theta,):
            raise InvalidInput("guess is a state of another manipulator")
        layouts = [bound.solver.record for bound in program.shape.solvers]
        thetas = np.split(guess.theta, np.cumsum([rec.n_x for rec in layouts])[:-1])
        for rec, record, theta in zip(layouts, program.context().records, thetas, strict=True):
            rec.write(record, guess.x, theta, 0.0)

    @threaded
    def actuator_jacobian(
        self, x: Vec, guess: TaskState | None = None, threads: Threads = None
    ) -> Array:
        """J_IK (p, m): ud = J_IK xd."""
        return self._call("actuator_jacobian", guess, x)

    def conditioning(self, x: Vec, guess: TaskState | None = None) -> Conditioning:
        """Singular values that vanish at singularities; lengths over that of the manipulator."""
        one = as_finite_vectors(x, "x", self._model.m)
        if one.ndim != 1:
            raise InvalidInput("conditioning takes one x")
        found = self._named("conditioning", guess, one)
        m, p = self._model.m, self._robot.p
        length = self._model.limbs[0].length
        task_scale = np.array([length if a in "xyz" else 1.0 for a in self.axes])
        joints = [self._model.robot.tree.bodies[b].joint for b in self._model.robot.actuator]
        own = np.array([1.0 / length if j.kind == "prismatic" else 1.0 for j in joints])
        sigma = _singular_values(found["J_IK"] * task_scale * own[:, None])
        limbs = {}
        for k, limb in enumerate(self._model.limbs):
            scale = np.array([1.0 if r < 3 else 1.0 / length for r in limb.rows])
            F = _singular_values(found[limb_output("F", k)])
            loops = (found[limb_output("K_d", k, i)] for i in range(len(limb.loops)))
            limbs[limb.limb.name] = LimbConditioning(
                float(_singular_values(found[limb_output("L_t", k)] * scale[:, None])[-1]),
                float(F[0] / max(F[-1], 1e-300)),
                tuple(float(_singular_values(K_d)[-1]) for K_d in loops),
            )
        smallest = float(sigma[-1]) if p >= m else 0.0
        ratio = float(sigma[0] / max(smallest, 1e-300))
        return Conditioning(smallest, float(1.0 / max(sigma[0], 1e-300)), ratio, limbs)

    # -- dynamics -------------------------------------------------------------------------------

    @threaded
    def inverse_dynamics(
        self,
        x: Vec,
        xd: Vec,
        xdd: Vec,
        wrench: Vec | None = None,
        guess: TaskState | None = None,
        threads: Threads = None,
    ) -> Array:
        """Actuator forces u (p,) of a platform motion (Eq. 45), or (N, p).

        Args:
            wrench: (6,) [moment; force] on the platform link, at its origin in its frame.

        Raises:
            ActuationSingular: J_IK has lost rank. Underactuated: there are too few actuators.
        """
        if self._robot.p < self._model.m:
            raise Underactuated(
                f"'{self.name}' has {self._robot.p} actuators for {self._model.m} task "
                "coordinates: use generalized_forces"
            )
        return self._call("inverse_dynamics", guess, x, xd, xdd, _wrench(wrench))

    @threaded
    def generalized_forces(
        self,
        x: Vec,
        xd: Vec,
        xdd: Vec,
        wrench: Vec | None = None,
        guess: TaskState | None = None,
        threads: Threads = None,
    ) -> Array:
        """J_IK^T u (m,) of a platform motion (Eq. 39), or (N, m)."""
        return self._call("generalized_forces", guess, x, xd, xdd, _wrench(wrench))

    @threaded
    def mass_matrix(self, x: Vec, guess: TaskState | None = None, threads: Threads = None) -> Array:
        """M_t (m, m): what the platform feels of all bodies."""
        return self._call("mass_matrix", guess, x)

    @threaded
    def bias(
        self, x: Vec, xd: Vec, guess: TaskState | None = None, threads: Threads = None
    ) -> Array:
        """C_t xd + W_t^grav (m,)."""
        zero = np.zeros(self._model.m)
        return self._call("generalized_forces", guess, x, xd, zero, np.zeros(6))


def _singular_values(matrix: Array) -> Array:
    """From the largest to the smallest."""
    return np.asarray(np.linalg.svd(matrix, compute_uv=False))


def _wrench(wrench: Vec | None) -> Array:
    return np.zeros(6) if wrench is None else as_finite_vectors(wrench, "wrench", 6)
