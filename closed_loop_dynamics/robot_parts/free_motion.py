"""Motion of the robot as a whole: moving on the manifold of y, stepping through time, momentum.

Part of :class:`~closed_loop_dynamics.robot.Robot`; a fixed base is the special case in which the
manifold is flat.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..arrays import Array, as_finite_vectors, as_rows, as_vectors
from ..errors import ClosureNotFound, InvalidInput, SingularInertia
from ..mechanism import Mechanism
from ..programs.compiled import CompiledRobot
from ..simulation.stepping import Friction, Stepper, checked_step, step_on_mode
from .manifold import difference, integrate


class Energy(NamedTuple):
    """Energy of the whole robot [J]; of a batch, arrays (N,)."""

    kinetic: Any
    potential: Any


class FreeMotion(CompiledRobot):
    """Integration and centroidal quantities of a robot."""

    def __init__(self, mechanism: Mechanism, key: str, solver: str | None = None) -> None:
        super().__init__(mechanism, key, solver)
        self._stepping = threading.local()

    if TYPE_CHECKING:

        def body_wrenches(self, wrenches: Mapping[str, ArrayLike]) -> Array: ...

    # -- moving on the manifold -----------------------------------------------------------------

    def integrate(self, y: ArrayLike, dy: ArrayLike) -> Array:
        """Where y (n_y,) leads in one unit of time at the constant velocity ``dy`` (m,).

        The base moves along the screw of its body twist, by any angle; joints simply add.
        """
        return integrate(self.mechanism, y, dy)

    def difference(self, y0: ArrayLike, y1: ArrayLike) -> Array:
        """dy (m,) with integrate(y0, dy) = y1; the base turns the short way, at most pi."""
        return difference(self.mechanism, y0, y1)

    def step(
        self,
        y: ArrayLike,
        yd: ArrayLike,
        tau_u: ArrayLike,
        h: float,
        wrenches: Mapping[str, ArrayLike] | None = None,
        steps: int = 1,
        friction: Friction | None = None,
        guess: ArrayLike | None = None,
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
        mech = self.mechanism
        h, steps = checked_step(h, steps)
        arrays = [
            as_vectors(y, "y", mech.n_y),
            as_vectors(yd, "yd", mech.m),
            as_vectors(tau_u, "tau_u", mech.p),
        ]
        if wrenches is not None:
            arrays.append(self.body_wrenches(wrenches))
        modes = None if guess is None else as_finite_vectors(guess, "guess", mech.n_q)
        rows = as_rows("step", arrays if modes is None else [*arrays, modes])
        if friction is not None and not isinstance(friction, Friction):
            raise InvalidInput("friction is not a Friction(viscous={joint: ...}, coulomb={...})")
        rubbing = None if friction is None else friction.coefficients(mech)
        if rows is None:
            return self._steps(h, steps, rubbing, modes, *arrays)
        ends = np.zeros((len(rows[0]), mech.n_y + mech.m))
        for sample, row in enumerate(zip(*rows, strict=True)):
            mode = None if modes is None else row[-1]
            try:
                moved = self._steps(h, steps, rubbing, mode, *row[: len(arrays)])
            except ClosureNotFound as error:
                error.sample = sample
                raise
            ends[sample] = np.concatenate(moved)
        return ends[:, : mech.n_y], ends[:, mech.n_y :]

    def _steps(
        self,
        h: float,
        steps: int,
        friction: Array | None,
        guess: ArrayLike | None,
        y: Array,
        yd: Array,
        tau_u: Array,
        wrenches: Array | None = None,
    ) -> tuple[Array, Array]:
        if guess is not None:
            mech = self.mechanism
            pushed = np.zeros(6 * len(mech.tree.bodies)) if wrenches is None else wrenches
            rubbed = np.zeros(2 * mech.n) if friction is None else friction
            for _ in range(steps):
                y, yd = step_on_mode(self, guess, y, yd, [tau_u, pushed, rubbed], h)
            return y, yd
        done = self._stepper(wrenches is not None, friction).run(y, yd, tau_u, h, steps, wrenches)
        if done.error is not None:
            raise done.error
        return done.y, done.yd

    def _stepper(self, wrenches: bool, friction: Array | None) -> Stepper:
        """This thread's stepper of that kind; the one with friction only for the last friction."""
        kept: dict[Any, Stepper] = self._stepping.__dict__.setdefault("kept", {})
        key = wrenches if friction is None or not friction.any() else friction.tobytes()
        if key not in kept:
            for other in [k for k in kept if isinstance(k, bytes) and isinstance(key, bytes)]:
                del kept[other]
            kept[key] = Stepper(self, wrenches, friction)
        return kept[key]

    # -- the whole robot ------------------------------------------------------------------------

    @property
    def total_mass(self) -> float:
        """Mass of all moving links [kg]; of a fixed base, the root link does not count."""
        return float(sum(body.mass for body in self.mechanism.tree.bodies))

    def center_of_mass(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """(3,) centre of mass of the moving links in the root frame (world, floating base) [m]."""
        self._check_mass()
        return self.run("center_of_mass", guess, y)

    def center_of_mass_velocity(
        self, y: ArrayLike, yd: ArrayLike, guess: ArrayLike | None = None
    ) -> Array:
        """(3,) its velocity [m/s]."""
        self._check_mass()
        return self.run("centroidal", guess, y, yd)[..., 3:6]

    def centroidal_momentum(
        self, y: ArrayLike, yd: ArrayLike, guess: ArrayLike | None = None
    ) -> Array:
        """(6,) [angular; linear] momentum about the centre of mass, in world axes."""
        self._check_mass()
        return self.run("centroidal", guess, y, yd)[..., 6:12]

    def centroidal_matrix(self, y: ArrayLike, guess: ArrayLike | None = None) -> Array:
        """A_G (6, m): centroidal momentum = A_G yd."""
        self._check_mass()
        return self.matrix("centroidal_matrix", (6, self.m), guess, y)

    def energy(self, y: ArrayLike, yd: ArrayLike, guess: ArrayLike | None = None) -> Energy:
        """Kinetic and potential energy [J]; the potential is zero in the root's plane z = 0."""
        self._check_mass()
        values = self.run("centroidal", guess, y, yd).T
        return Energy(values[12], values[13])

    def _check_mass(self) -> None:
        if self.total_mass <= 0.0:
            raise SingularInertia("no moving link has mass: there is no centre of mass")
