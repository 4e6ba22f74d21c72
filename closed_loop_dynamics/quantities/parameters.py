"""The dynamic parameters that count: the model's, given ones, and what links carry on top."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

from ..arrays import Array, Vec, as_finite_vectors
from ..dynamics.parameters import ParameterView, model_parameters, parameter_count, parameter_view
from ..mechanism import Mechanism
from ..simulation.payload import Payload, Payloads, add_payloads


class DynamicParameters:
    """pi of one robot: inertias of its bodies, rotor inertia and friction of its joints."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mech = mechanism

    @cached_property
    def model(self) -> Array:
        """(parameters,) of the model files; not to be written to."""
        pi = model_parameters(self._mech)
        pi.flags.writeable = False
        return pi

    def view(self, parameters: Vec | None = None) -> ParameterView:
        """``parameters`` (default: the model's) by name; see :class:`ParameterView`."""
        return parameter_view(self._mech, self._checked(parameters))

    def loaded(self, payload: Mapping[str, Payload], parameters: Vec | None = None) -> Array:
        """``parameters`` (default: the model's) with payloads on links added."""
        return add_payloads(self._mech, self._checked(parameters), payload)

    def given(self, payload: Payloads, parameters: Vec | None) -> Vec | None:
        """What to pass to the programs that take pi; None when the model's numbers count."""
        return parameters if payload is None else self.loaded(payload, parameters)

    def _checked(self, parameters: Vec | None) -> Array:
        if parameters is None:
            return self.model
        return as_finite_vectors(parameters, "parameters", parameter_count(self._mech))
