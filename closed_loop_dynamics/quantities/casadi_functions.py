"""Programs as CasADi functions that run our native code, with exact first and second derivatives.

For optimisers: loops are closed inside, also those without a closed form. First derivatives of the
dynamics are those of ``dynamics/cluster_rnea_derivatives.py``, of anything else its traced
Jacobian; second ones are these differentiated along each number that goes in
(``dynamics/differentiated.py``). Imported when asked for, as it needs CasADi.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from itertools import product as pairs
from typing import Any, NamedTuple

import casadi as ca
import numpy as np

from ..arrays import Array
from ..engine.symbolic import tracing
from ..errors import InvalidInput
from ..programs import Programs
from .coordinates import tangent, tangent_rates
from .differentiation import derived, known

#: Function -> the program of its derivatives, where there is an algorithm for them.
DERIVATIVES = {
    "inverse_dynamics": "inverse_dynamics_derivatives",
    "generalized_forces": "generalized_force_derivatives",
    "forward_dynamics": "forward_dynamics_derivatives",
}


def casadi_function(programs: Programs, name: str, link: str | None, symbolic: bool) -> Any:
    """See :meth:`Robot.casadi`."""
    name = known(programs, name, link)
    mech, recipe = programs.mechanism, programs.recipes[name]
    inputs = [(vector, (size, 1)) for vector, size in recipe.vectors(mech).items()]
    shapes = recipe.outputs(mech).shapes
    if any(len(shape) > 2 for shape in shapes.values()):
        raise InvalidInput(f"'{name}' gives more than matrices, which CasADi has not")
    outputs = []
    for output, shape in shapes.items():
        rows, columns, *_ = (*shape, 1, 1)
        outputs.append(_Output(output, (rows, columns)))
    if symbolic:
        return _expression(programs, name, outputs)
    of = _Derivatives(programs, name)
    value = _Signature(_word(name), inputs, outputs, of.value)
    return _Native(value, [of.first, of.second])


def _expression(programs: Programs, name: str, outputs: Sequence[_Output]) -> Any:
    """The traced program itself; behind its outputs the checks, which must be positive."""
    mech, recipe = programs.mechanism, programs.recipes[name]
    if mech.numerical:
        loops = ", ".join(f"'{mech.components[c].entry.name}'" for c in mech.numerical)
        raise InvalidInput(
            f"'{name}' closes {loops} by Newton's method, which is no expression; leave out "
            "`symbolic` for a function that runs it"
        )
    with tracing():
        x, *vectors = (body := recipe.trace(mech, name)).sx_in()
        *found, checks = body.call([x, *vectors])
        shaped = [
            ca.reshape(flat, *o.shape[::-1]).T for flat, o in zip(found, outputs, strict=True)
        ]
        words = list(recipe.vectors(mech)), [*(o.name for o in outputs), "checks"]
        return ca.Function(_word(name), vectors, [*shaped, checks], *words)


class _Derivatives:
    """A program and its derivatives by the numbers that go in: of a quaternion, all four.

    Every result is a list of arrays, outputs first, then the vectors that they are differentiated
    by; a matrix is in CasADi's order, column by column, where it is differentiated.
    """

    def __init__(self, programs: Programs, name: str) -> None:
        self._programs, self._name = programs, name
        #: Of each output: it is q, which holds the quaternions of y as they are, lengths included;
        #: everything else is told by velocities and knows no lengths.
        outputs = programs.recipes[name].outputs(programs.mechanism).shapes
        self._passed_on = [word == "q" for word in outputs]
        self._jacobian = DERIVATIVES.get(name) or derived(programs, "jacobian", name)

    def value(self, *at: Array) -> list[Array]:
        return list(self._programs.named(self._name, None, *at).values())

    def first(self, *at: Array) -> list[Array]:
        found = self._programs.named(self._jacobian, None, *at).values()
        mech, count = self._programs.mechanism, len(at)
        T, parts = tangent(mech, at[0]), []
        for n, J in enumerate(found):
            if n % count == 0:  # by y
                J = J @ T
                for b in mech.turning if self._passed_on[n // count] else ():
                    J[mech.q.rows[b], mech.y.rows[b]] = np.eye(mech.tree.bodies[b].joint.n_q)
            parts.append(_column_by_column(J))
        return parts

    def second(self, *at: Array) -> list[Array]:
        mech, count = self._programs.mechanism, len(at)
        program = derived(self._programs, "jvp", self._jacobian)
        T, T_rates = tangent(mech, at[0]), tangent_rates(mech, at[0])
        found = self._programs.named(self._jacobian, None, *at).values()
        still = [np.zeros(mech.m), *map(np.zeros_like, at[1:])]
        result, sizes = [], [part.size for part in self.first(*at)]
        for i, ways_of in enumerate([T.T, *(np.eye(len(v)) for v in at[1:])]):
            moved = []
            for k, along in enumerate(ways_of):
                ways = [*still[:i], along, *still[i + 1 :]]
                changes = self._programs.named(program, None, *at, *ways).values()
                parts = []
                for n, (J, dJ) in enumerate(zip(found, changes, strict=True)):
                    if n % count == 0:  # by y
                        dJ = dJ @ T + J @ T_rates[k] if i == 0 else dJ @ T
                        for b in mech.turning if self._passed_on[n // count] else ():
                            dJ[mech.q.rows[b]] = 0.0
                    parts.append(_column_by_column(dJ))
                moved.append(parts)
            # A vector of no numbers is differentiated by, too, where nothing is driven.
            columns = [[m[n].T.ravel() for m in moved] for n in range(len(found))]
            result.append(
                [
                    np.stack(each, axis=-1) if each else np.zeros((size, 0))
                    for each, size in zip(columns, sizes, strict=True)
                ]
            )
        return [result[i][n] for n in range(len(found)) for i in range(count)]


def _column_by_column(J: Array) -> Array:
    """(numbers, k) derivatives (..., k) of a number, vector or matrix, in CasADi's order."""
    return np.swapaxes(J, 0, 1).reshape(-1, J.shape[-1]) if J.ndim == 3 else np.atleast_2d(J)


def _word(name: str) -> str:
    """A name as CasADi allows it: letters, figures and single underscores."""
    return "_".join("".join(c if c.isascii() and c.isalnum() else " " for c in name).split())


class _Output(NamedTuple):
    """One matrix that comes out; ``zero`` where nothing makes a difference."""

    name: str
    shape: tuple[int, int]
    zero: bool = False


class _Signature(NamedTuple):
    """What a callback is: names and shapes of what goes in and comes out, and who does it.

    Attributes:
        run: takes what the value takes, gives the outputs that are not zero.
    """

    name: str
    inputs: Sequence[tuple[str, tuple[int, int]]]
    outputs: Sequence[_Output]
    run: Callable[..., list[Array]]

    def jacobian(self, name: str, run: Callable[..., list[Array]]) -> _Signature:
        """CasADi's convention: it takes the outputs too, which say nothing new."""
        given = [(f"out_{o.name}", o.shape) for o in self.outputs]
        own = {i for i, _ in self.inputs if not i.startswith("out_")}
        outputs = [
            _Output(f"jac_{o.name}_{i}", (math.prod(o.shape), math.prod(s)), o.zero or i not in own)
            for o, (i, s) in pairs(self.outputs, self.inputs)
        ]
        return _Signature(name, [*self.inputs, *given], outputs, run)


class _Native(ca.Callback):
    """One function; the names of the methods are CasADi's.

    ``further`` are its derivatives, of rising order.
    """

    def __init__(
        self, signature: _Signature, further: Sequence[Callable[..., list[Array]]]
    ) -> None:
        super().__init__()
        self._signature, self._further = signature, further
        self._own = sum(not i.startswith("out_") for i, _ in signature.inputs)
        self._kept: list[_Native] = []  # CasADi does not own the Jacobians that it is given
        self.construct(signature.name, {})

    def get_n_in(self) -> int:
        return len(self._signature.inputs)

    def get_n_out(self) -> int:
        return len(self._signature.outputs)

    def get_name_in(self, i: int) -> str:
        return self._signature.inputs[i][0]

    def get_name_out(self, i: int) -> str:
        return self._signature.outputs[i].name

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(*self._signature.inputs[i][1])

    def get_sparsity_out(self, i: int) -> Any:
        output = self._signature.outputs[i]
        return ca.Sparsity(*output.shape) if output.zero else ca.Sparsity.dense(*output.shape)

    def eval(self, arg: Sequence[Any]) -> list[Any]:
        at = (np.array(value, dtype=float).ravel() for value in arg[: self._own])
        found = iter(self._signature.run(*at))
        outputs = self._signature.outputs
        return [ca.DM(*o.shape) if o.zero else ca.DM(np.atleast_1d(next(found))) for o in outputs]

    def has_jacobian(self) -> bool:
        return bool(self._further)

    def get_jacobian(self, name: str, inames: Any, onames: Any, opts: Any) -> Any:
        run, *further = self._further
        self._kept.append(_Native(self._signature.jacobian(name, run), further))
        return self._kept[-1]
