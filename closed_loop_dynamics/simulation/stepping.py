"""Integration in minimal coordinates: Runge-Kutta steps of (y, yd) under constant forces.

Loops are closed at every stage, so nothing drifts apart and nothing has to be stabilised. Native
code (``engine/rk4.py``) takes the steps; beyond the domain of a closed form with all loops
numerical. Where a loop refuses to close there too, or where there is no native code, :func:`rk4`
takes the step with the same formula and with the rescue of every call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ..arrays import Array
from ..dynamics.catalogue import FORWARD_DYNAMICS
from ..dynamics.motion import trace_kinematics
from ..engine import make_stepper
from ..engine.layout import CHECK, SOLVER
from ..errors import ClosedLoopError, InvalidInput, did_you_mean
from ..mechanism import Mechanism
from ..programs import Programs
from ..quantities.coordinates import normalised, position_rate

#: Steps taken with numerical loops before the closed forms are tried again.
PATCH = 50


@dataclass(frozen=True)
class Friction:
    """Friction of spanning joints, on top of what the submechanism file gives to its actuators.

    Attributes:
        viscous: joint -> [N·m·s/rad or N·s/m].
        coulomb: joint -> [N·m or N]; smoothed, 76 % of it at the ``coulomb_speed`` that the file
            gives to the joint (0.01 rad/s or m/s unless it says otherwise).
    """

    viscous: Mapping[str, float] = field(default_factory=dict)
    coulomb: Mapping[str, float] = field(default_factory=dict)

    def coefficients(self, mech: Mechanism) -> Array:
        """(2 n,) viscous, then Coulomb, in the order of qd.

        Raises:
            InvalidInput: an unknown joint, or a negative number.
        """
        at = {mech.joint_name(b): mech.qd.at[b] for b in mech.scalar_joints(mech.spanning)}
        result = np.zeros((2, mech.n))
        for row, values in zip(result, (self.viscous, self.coulomb), strict=True):
            if not isinstance(values, Mapping):
                raise InvalidInput("friction is not a mapping from joint names to numbers")
            for name, value in values.items():
                if name not in at:
                    raise InvalidInput(
                        f"friction of unknown joint '{name}'; {did_you_mean(name, at)}"
                    )
                if not isinstance(value, int | float | np.number) or not 0.0 <= value < np.inf:
                    raise InvalidInput(
                        f"friction of '{name}' must be a number that is not negative: {value!r}"
                    )
                row[at[name]] = value
        return result.ravel()


@dataclass(frozen=True, eq=False)
class Progress:
    """What came of a number of steps.

    Attributes:
        y, yd: the last good state.
        steps: good steps, fewer than asked for when a bound or an error ended the run.
        error: why the next step failed.
    """

    y: Array
    yd: Array
    steps: int
    error: ClosedLoopError | None = None


def rk4(rate: Callable[[Array], Array], z: Array, h: float) -> Array:
    """One classical Runge-Kutta step of dz/dt = rate(z)."""
    k1 = rate(z)
    k2 = rate(z + 0.5 * h * k1)
    k3 = rate(z + 0.5 * h * k2)
    k4 = rate(z + h * k3)
    return np.asarray(z + h / 6.0 * (k1 + 2.0 * (k2 + k3) + k4))


def step_in_python(
    mech: Mechanism, y: Array, yd: Array, h: float, ydd_of: Callable[[Array, Array], Array]
) -> tuple[Array, Array]:
    """(y, yd) one step later; ``ydd_of`` gives the acceleration of a state."""

    def rate(z: Array) -> Array:
        y, yd = z[: mech.n_y], z[mech.n_y :]
        return np.concatenate([position_rate(mech, y, yd), ydd_of(y, yd)])

    z = rk4(rate, np.concatenate([y, yd]), h)
    return normalised(mech, z[: mech.n_y]), z[mech.n_y :]


class Stepper:
    """Steps of one robot in memory of its own: for one thread.

    Args:
        wrenches: wrenches on bodies can act.
        friction: friction of the joints; needs no ``wrenches``, which can then act as well.
        parameters: every run is given the dynamic parameters; wrenches can then act as well.
    """

    def __init__(
        self,
        programs: Programs,
        wrenches: bool = False,
        friction: Array | None = None,
        parameters: bool = False,
    ) -> None:
        mech = self._mech = programs.mechanism
        self._programs, self._options = programs, (wrenches, friction, parameters)
        self._twin: Stepper | None = None
        rubs = friction is not None and bool(np.any(friction))
        if rubs and parameters:
            raise ValueError("friction is part of the parameters")
        name = _variant(wrenches, parameters, rubs)
        self._program, self._closing = programs.program(name), programs.program("positions")
        self._context, self._closing_context = (
            program.new_context() for program in (self._program, self._closing)
        )
        names = self._program.source.input_names
        self._inputs = dict(zip(names, self._context.inputs, strict=True))
        if friction is not None and rubs:
            self._inputs["friction"][:] = friction
        self.takes_wrenches, self._takes_parameters = rubs or wrenches or parameters, parameters
        # Statuses that say that a loop was not closed by its closed form.
        first = CHECK + len(mech.turning)
        count = sum(mech.closures[c].n_checks for c in mech.loops)
        self._unproved = range(first, first + count) if programs.has_closed_forms else range(0)
        self._native = make_stepper(
            self._program,
            self._context,
            self._closing,
            self._closing_context,
            lambda: trace_kinematics(mech),
            programs.key,
        )
        if self._native is None:
            self._z = np.zeros(mech.n_y + mech.m)
            self._lower, self._upper = (np.full(mech.n_y, x) for x in (-np.inf, np.inf))
        else:
            native = self._native
            self._z, self._lower, self._upper = native.z, native.lower, native.upper
        self._y, self._yd = self._z[: mech.n_y], self._z[mech.n_y :]

    def stop_outside(self, lower: Array, upper: Array) -> None:
        """End a run after the step that leaves these positions (n_y,)."""
        self._lower[:], self._upper[:] = lower, upper

    def prepare(self) -> None:
        """Compile what is needed where a closed form has not been proved."""
        if self._twin is None and self._programs.has_closed_forms:
            self._twin = Stepper(self._programs.numerical_twin(), *self._options)

    def forget(self) -> None:
        """Drop what earlier runs found: equal runs then give equal bits, wherever they lead."""
        self._context.forget()
        self._closing_context.forget()
        if self._twin is not None:
            self._twin.forget()

    def run(
        self,
        y: Array,
        yd: Array,
        tau_u: Array,
        h: float,
        steps: int,
        wrenches: Array | None = None,
        parameters: Array | None = None,
        natively: bool = False,
    ) -> Progress:
        """Up to ``steps`` steps of length ``h`` from (y, yd); all arrays finite and of their sizes.

        ``wrenches`` (6 bodies,) act on bodies, in body frames; None: no forces. ``parameters`` are
        given if and only if the stepper was made for them. ``natively``: no more than native code.
        """
        self._inputs["tau_u"][:] = tau_u
        if self._takes_parameters != (parameters is not None):
            raise ValueError("parameters are given if and only if the stepper was made for them")
        if parameters is not None:
            self._inputs["parameters"][:] = parameters
        if self.takes_wrenches:
            self._inputs["wrenches"][:] = 0.0 if wrenches is None else wrenches
        elif wrenches is not None:
            raise ValueError("this stepper was made without wrenches")
        self._y[:], self._yd[:] = normalised(self._mech, y), yd
        done, error = 0, None
        try:
            while done < steps:
                # Without native code as where a loop does not close in it: step by step.
                status, good = self._native.run(h, steps - done) if self._native else (SOLVER, 0)
                done += good
                if status <= 0 or natively:
                    break
                if status in self._unproved:
                    there = self._beyond(h, min(steps - done, PATCH), wrenches, parameters)
                    self._y[:], self._yd[:] = there.y, there.yd
                    done += there.steps
                    if there.error is not None:
                        raise there.error
                else:
                    self._long_step(h)
                    done += 1
                if self._outside():
                    break
        except ClosedLoopError as failure:
            error = failure
        return Progress(self._y.copy(), self._yd.copy(), done, error)

    def _beyond(
        self, h: float, steps: int, wrenches: Array | None, parameters: Array | None
    ) -> Progress:
        """Steps where a closed form has not been proved: with every loop numerical."""
        self.prepare()
        assert self._twin is not None
        self._twin.stop_outside(self._lower, self._upper)
        tau_u = self._inputs["tau_u"]
        return self._twin.run(self._y, self._yd, tau_u, h, steps, wrenches, parameters)

    def _outside(self) -> bool:
        return bool(np.any((self._y < self._lower) | (self._y > self._upper)))

    def _long_step(self, h: float) -> None:
        """One step in Python, every evaluation with rescue."""
        others = [vector.copy() for vector in self._context.inputs[2:]]

        def ydd_of(y: Array, yd: Array) -> Array:
            return self._program.evaluate_in(self._context, y, yd, *others)

        y, yd = step_in_python(self._mech, self._y, self._yd, h, ydd_of)
        self._closing.evaluate_in(self._closing_context, y)  # stages may close where this does not
        self._y[:], self._yd[:] = y, yd


def _variant(wrenches: bool, parameters: bool, friction: bool) -> str:
    """The program of forward dynamics that takes these."""
    family = FORWARD_DYNAMICS
    if friction:
        return family.friction
    return family.parameters if parameters else family.wrenches if wrenches else family.plain
