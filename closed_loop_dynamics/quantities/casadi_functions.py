"""The dynamics as CasADi functions that run our native code and bring exact Jacobians.

For optimisers: loops are closed inside, also those without a closed form, and the Jacobians are
those of ``dynamics/cluster_rnea_derivatives.py``. Imported when asked for, as it needs CasADi.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..arrays import Array
from ..dynamics.catalogue import INPUTS, RECIPES
from ..errors import InvalidInput, did_you_mean
from ..mechanism import Mechanism
from ..programs import Programs
from ..se3 import conjugate, product, rotate

#: Function -> the program of its derivatives.
DERIVATIVES = {
    "inverse_dynamics": "inverse_dynamics_derivatives",
    "generalized_forces": "generalized_force_derivatives",
    "forward_dynamics": "forward_dynamics_derivatives",
}


def casadi_function(programs: Programs, name: str) -> Any:
    """See :meth:`Robot.casadi`."""
    if name not in DERIVATIVES:
        raise InvalidInput(f"no CasADi function '{name}'; {did_you_mean(name, DERIVATIVES)}")
    mech, letters = programs.mechanism, RECIPES[name].inputs
    inputs = [(INPUTS[letter].name, INPUTS[letter].size(mech)) for letter in letters]
    ((output, (size,)),) = RECIPES[name].shapes(mech).items()

    def jacobians(y: Array, *others: Array) -> list[Array]:
        by_y, *rest = programs.named(DERIVATIVES[name], None, y, *others).values()
        return [by_y @ tangent(mech, y), *rest]

    parts = [(f"jac_{output}_{of}", (size, columns)) for of, columns in inputs]
    given = [*inputs, (f"out_{output}", size)]
    jacobian = _Signature(f"jac_{name}", given, parts, lambda *v: jacobians(*v[:-1]), None)
    call = _Signature(
        name, inputs, [(output, (size, 1))], lambda *v: [programs.run(name, None, *v)], jacobian
    )
    return _Native(call)


def tangent(mech: Mechanism, y: Array) -> Array:
    """(m, n_y) body twists of changes of y: of a floating base those of its quaternion too."""
    if not mech.floating:
        return np.eye(mech.m)
    result = np.zeros((mech.m, mech.n_y))
    back = conjugate(y[3:7])
    squared = float(y[3:7] @ y[3:7])
    result[3:6, :3] = rotate(back / np.sqrt(squared), np.eye(3)).T
    # dQ = Q (omega, 0) / 2; changes of length, along Q itself, turn nothing.
    result[:3, 3:7] = 2.0 / squared * np.array([product(back, e)[:3] for e in np.eye(4)]).T
    result[6:, 7:] = np.eye(mech.m - 6)
    return result


class _Signature(NamedTuple):
    """What a callback is: names and sizes of what goes in and comes out, and who does it."""

    name: str
    inputs: Sequence[tuple[str, int]]
    outputs: Sequence[tuple[str, tuple[int, int]]]
    run: Callable[..., list[Array]]
    jacobian: _Signature | None


class _Native(ca.Callback):
    """One function; the names of the methods are CasADi's."""

    def __init__(self, signature: _Signature) -> None:
        super().__init__()
        self._signature = signature
        self._kept: list[_Native] = []  # CasADi does not own the Jacobians that it is given
        self.construct(signature.name, {})

    def get_n_in(self) -> int:
        return len(self._signature.inputs)

    def get_n_out(self) -> int:
        return len(self._signature.outputs)

    def get_name_in(self, i: int) -> str:
        return self._signature.inputs[i][0]

    def get_name_out(self, i: int) -> str:
        return self._signature.outputs[i][0]

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self._signature.inputs[i][1], 1)

    def get_sparsity_out(self, i: int) -> Any:
        return ca.Sparsity.dense(*self._signature.outputs[i][1])

    def eval(self, arg: Sequence[Any]) -> list[Any]:
        found = self._signature.run(*(np.array(value, dtype=float).ravel() for value in arg))
        return [ca.DM(np.atleast_1d(part)) for part in found]

    def has_jacobian(self) -> bool:
        return self._signature.jacobian is not None

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        assert self._signature.jacobian is not None
        self._kept.append(_Native(self._signature.jacobian._replace(name=name)))
        return self._kept[-1]
