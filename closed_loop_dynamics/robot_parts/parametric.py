"""The side of a robot that depends on its dynamic parameters: payloads, pi as input, regressor."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from numpy.typing import ArrayLike

from ..arrays import Array, as_finite_vectors
from ..dynamics.parameters import BODY, model_parameters, parameter_count, parameter_names
from ..errors import InvalidInput, did_you_mean
from ..programs.compiled import CompiledRobot
from ..simulation.payload import Payload, add_payloads


class ParametricRobot(CompiledRobot):
    """A compiled robot whose inertias and friction may be passed in place of the model's."""

    @property
    def dynamic_parameters(self) -> Array:
        """pi of the model files: ten per body, then three per joint, see ``parameter_names``."""
        return self._model_parameters.copy()

    @cached_property
    def _model_parameters(self) -> Array:
        return model_parameters(self.mechanism)

    @cached_property
    def _reachable(self) -> dict[int, tuple[float, float]]:
        """Component -> what ``position_limits`` found out about it: it takes milliseconds."""
        return {}

    @property
    def inertial_parameters(self) -> Array:
        """(10 * bodies,) the first part of ``dynamic_parameters``: m, h, I of every body."""
        return self.dynamic_parameters[: len(BODY) * len(self.mechanism.tree.bodies)]

    @property
    def parameter_names(self) -> tuple[str, ...]:
        """``"shank.m"`` ... ``"knee.viscous_friction"``, in the order of ``dynamic_parameters``."""
        return parameter_names(self.mechanism)

    def parameters_with(
        self, payload: Mapping[str, Payload], parameters: ArrayLike | None = None
    ) -> Array:
        """``parameters`` (default: the model's) with payloads on links added.

        In a control loop do this once and pass the result as ``parameters=``.
        """
        pi = self._model_parameters
        if parameters is not None:
            pi = as_finite_vectors(parameters, "parameters", parameter_count(self.mechanism))
        return add_payloads(pi, payload, self.frame)

    def regressor(
        self, y: ArrayLike, yd: ArrayLike, ydd: ArrayLike, guess: ArrayLike | None = None
    ) -> Array:
        """W (p, parameters): W @ dynamic_parameters = inverse_dynamics(y, yd, ydd).

        Friction and rotor inertia have columns of their own, after those of the bodies.

        Raises:
            Underactuated, ActuationSingular: as inverse dynamics; ``generalized_regressor`` never.
        """
        self._require_actuators()
        shape = (self.p, parameter_count(self.mechanism))
        return self.matrix("regressor", shape, guess, y, yd, ydd)

    def generalized_regressor(
        self, y: ArrayLike, yd: ArrayLike, ydd: ArrayLike, guess: ArrayLike | None = None
    ) -> Array:
        """W_y (m, parameters): W_y @ dynamic_parameters = generalized_forces(y, yd, ydd)."""
        shape = (self.m, parameter_count(self.mechanism))
        return self.matrix("generalized_regressor", shape, guess, y, yd, ydd)

    def _require_actuators(self) -> None:
        """Raise Underactuated when actuator forces are not determined."""
        if self._underactuated:
            from ..actuation.undriven import underactuated_error

            raise underactuated_error(self, self._underactuated[0])

    def _given_parameters(
        self, payload: Mapping[str, Payload] | None, parameters: ArrayLike | None
    ) -> ArrayLike | None:
        """What to pass to the programs that take pi; None when the model's numbers count."""
        if payload is None:
            return parameters
        return self.parameters_with(payload, parameters)

    def frame(self, link: str) -> tuple[int, Array]:
        """(body, pose in the body frame) of a link."""
        frames = self.mechanism.tree.frames
        if not isinstance(link, str) or link not in frames:
            raise InvalidInput(f"no link '{link}'; {did_you_mean(link, frames)}")
        return frames[link]
