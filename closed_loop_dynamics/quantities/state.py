"""The spanning tree that belongs to independent positions, velocities and accelerations."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..arrays import Array, Guess, Vec
from ..errors import InvalidInput
from ..programs import Programs


class State:
    """A completed state of the spanning tree; with a batch every array has a leading axis.

    Velocities and accelerations are None when they were not asked for.

    Attributes:
        iterations: Newton iterations of the call (of its last sample, for a batch).
    """

    def __init__(self, programs: Programs, outputs: Mapping[str, Array], iterations: int) -> None:
        self._programs, self._outputs = programs, outputs
        self.iterations = iterations

    def __repr__(self) -> str:
        """A line per joint: positions, velocities, accelerations [rad, m, s], and its part."""
        if np.ndim(self.q) > 1:
            return f"State({len(self.q)} samples, {self.q.shape[-1]} positions each)"
        mech = self._programs.mechanism
        rows = [["joint", *(name for name in ("q", "qd", "qdd") if name in self._outputs), ""]]
        for b in mech.spanning:
            parts = [self.q[mech.q.rows[b]]]
            parts += [v[mech.qd.rows[b]] for v in (self.qd, self.qdd) if v is not None]
            numbers = [" ".join(f"{value:.6g}" for value in part + 0.0) for part in parts]
            words = ["independent"] * (b in mech.independent) + ["driven"] * (b in mech.actuator)
            rows.append([mech.joint_name(b), *numbers, ", ".join(words)])
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([*map(str.rstrip, lines), f"residual {float(self.residual):.1e}"])

    @property
    def q(self) -> Array:
        """(n,) spanning positions."""
        return self._outputs["q"]

    @property
    def qd(self) -> Array | None:
        """(n,) spanning velocities."""
        return self._outputs.get("qd")

    @property
    def qdd(self) -> Array | None:
        """(n,) spanning accelerations."""
        return self._outputs.get("qdd")

    @property
    def residual(self) -> Any:
        """max|phi| over all loops [m, rad]."""
        return self._outputs["residual"]

    @property
    def u(self) -> Array:
        """(p,) positions of the driven joints."""
        return self.q.take(self._programs.actuator_rows[0], axis=-1)

    @property
    def ud(self) -> Array | None:
        """(p,) velocities of the driven joints."""
        return self._driven(self.qd)

    @property
    def udd(self) -> Array | None:
        """(p,) accelerations of the driven joints."""
        return self._driven(self.qdd)

    def _driven(self, vector: Array | None) -> Array | None:
        return None if vector is None else vector.take(self._programs.actuator_rows[1], axis=-1)

    @cached_property
    def singular_values(self) -> dict[str, Any]:
        """Submechanism -> smallest singular value of its scaled K_d (computed when asked for)."""
        q, mech = np.asarray(self.q), self._programs.mechanism
        return {
            branch.name: branch.smallest_singular_value(
                q[..., mech.q.slots(mech.components[c].joints)]
            )
            for c, branch in self._programs.branches.items()
        }

    @property
    def singularity(self) -> Any:
        """The smallest of :attr:`singular_values`, dimensionless; 1 for a robot without loops."""
        values = list(self.singular_values.values())
        return np.min(values, axis=0) if values else 1.0


def complete_state(
    programs: Programs, y: Vec, yd: Vec | None = None, ydd: Vec | None = None, guess: Guess = None
) -> State:
    """See :meth:`Robot.state`."""
    values: tuple[Vec, ...]
    if yd is None:
        if ydd is not None:
            raise InvalidInput("ydd without yd: accelerations need velocities")
        name, values = "positions", (y,)
    elif ydd is None:
        name, values = "velocities", (y, yd)
    else:
        name, values = "state", (y, yd, ydd)
    outputs = programs.named(name, guess, *values)
    return State(programs, outputs, programs.compiled[name].iterations())


def actuator_jacobian(programs: Programs, y: Vec, guess: Guess) -> Array:
    """G_u (..., p, m): the rows of G that belong to the actuators."""
    G = programs.run("loop_jacobian", guess, y)
    result: Array = G[..., programs.actuator_rows[1], :]
    return result
