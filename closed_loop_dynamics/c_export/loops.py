"""Newton loops as C: their step, their table of starts and what a struct says about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..arrays import Array
from ..engine.instructions import InstructionList
from ..engine.newton import NewtonSolver
from ..engine.seeds import AGREEMENT, AHEAD, CLOSE, ONE_CELL, Seeds
from .dialect import Dialect, comment
from .statements import Vector, straight_line

#: Of single precision: the step after which the rest is below rounding, and half a cell.
SINGLE_TOLERANCE, SINGLE_CELL = 2e-4, 0.5001


@dataclass(frozen=True)
class Loop:
    """A loop that Newton's method closes.

    Attributes:
        name: of its submechanism; submechanism: its place among the names.
        unknowns, independent: names of its unknowns and parameters.
        parameters: places of its parameters in the input vector ``of``.
        step: traced (p, sign, x) -> (dx, err, guard).
        size: (n_p,) natural sizes of the parameters.
    """

    name: str
    submechanism: int
    unknowns: Sequence[str]
    independent: Sequence[str]
    parameters: Sequence[int]
    of: str
    step: InstructionList
    seeds: Seeds
    size: Array

    @property
    def sizes(self) -> tuple[int, int, int]:
        """(n_p, n_sign, n_x)."""
        n_p, n_sign, n_x = self.step.input_sizes
        return n_p, n_sign, n_x

    @property
    def n_x(self) -> int:
        """Unknowns."""
        return self.sizes[2]

    @property
    def n_slope(self) -> int:
        """Length of dx/dp."""
        return self.sizes[0] * self.sizes[2]

    @property
    def operations(self) -> int:
        """Most that ``templates/loops.c`` takes: to find a start, and in all iterations."""
        n_p, _, n_x = self.sizes
        start = 28 * n_p + 5 + 12 * n_x + 18 * n_p * n_x
        return start + NewtonSolver.max_iterations * (self.step.count() + 1 + n_x)

    @property
    def curve_operations(self) -> int:
        """Of one step along its curve (``templates/locate.c: continues``), besides closing it."""
        n_p, _, n_x = self.sizes
        return n_x * (6 * n_p + 11)

    @property
    def history(self) -> int:
        """Reals that its newest two solutions take."""
        n_p, _, n_x = self.sizes
        return 2 * (n_p + n_x + n_x * n_p)

    def table_size(self, c: Dialect) -> int:
        """Bytes of its table of starts."""
        return int(self.seeds.nodes.size) * (4 if c.single else 8) if self.seeds.has_table else 0


@dataclass(frozen=True)
class LoopCode:
    """C of some loops.

    Attributes:
        text: tables, steps, and an array of ``struct loop`` for each vector of parameters.
        workspace: reals that ``work`` needs.
    """

    text: str
    workspace: int


def constants(c: Dialect, loops: Sequence[Loop]) -> str:
    """The numbers by which ``templates/loops.c`` judges."""
    n_p, n_sign, n_x = (max(sizes) for sizes in zip(*(loop.sizes for loop in loops), strict=True))
    numbers = {
        "NEWTON_TOLERANCE": SINGLE_TOLERANCE if c.single else NewtonSolver.tolerance,
        "LONGEST_FIRST_STEP": NewtonSolver.max_step,
        "CONTRACTION": NewtonSolver.contraction,
        "CLOSE": CLOSE,
        "AHEAD": AHEAD,
        "AGREEMENT": AGREEMENT,
        "ONE_CELL": SINGLE_CELL if c.single else ONE_CELL,
    }
    lines = [f"#define {name} {c.literal(value)}" for name, value in numbers.items()]
    lines += [
        f"#define MOST_PARAMETERS {max(n_p, 1)}",
        f"#define MOST_UNKNOWNS {n_x}",
        f"#define MOST_STEP_OUTPUTS {n_x + 1 + n_sign}",
    ]
    return "\n".join(lines) + "\n"


def loop_code(c: Dialect, loops: Sequence[Loop]) -> LoopCode:
    """Everything about ``loops``; equal steps (two arms) are written once."""
    parts: list[str] = []
    rows: dict[str, list[str]] = {}
    same: dict[str, int] = {}
    workspace, history = 0, 0
    for k, loop in enumerate(loops):
        first = same.setdefault(loop.step.digest(), k)
        title = comment(
            f"{loop.name}: {', '.join(loop.unknowns)} from {', '.join(loop.independent)}"
        )
        parts.append(f"/* ---- {title} */\n")
        if first == k:
            step = _step(c, k, loop)
            parts.append(step.text)
            workspace = max(workspace, step.workspace)
        parts.append(_tables(c, k, loop))
        nodes = f"loop_{k}_nodes" if loop.seeds.has_table else "0"
        pointers = ("parameters", "size", "sign", "reach", "low", "step", "last", "stride")
        fields = [
            *map(str, loop.sizes),
            *(f"loop_{k}_{name}" for name in pointers),
            *(nodes, f"loop_{k}_reference", str(history), str(loop.submechanism)),
            f"loop_{first}_newton",
        ]
        rows.setdefault(loop.of, []).append(f"    {{{', '.join(fields)}}},")
        history += loop.history
    for of, lines in rows.items():
        inside = "\n".join(lines)
        parts.append(f"static const struct loop loops_of_{of}[] = {{\n{inside}\n}};\n")
    return LoopCode("\n".join(parts), workspace)


def _step(c: Dialect, k: int, loop: Loop) -> LoopCode:
    n_p, n_sign, n_x = loop.sizes
    inputs = [
        Vector("p", n_p, loop.independent),
        Vector("sign", n_sign),
        Vector("x", n_x, loop.unknowns),
    ]
    lines = straight_line(c, f"loop_{k}_newton", loop.step, inputs, Vector("out", n_x + 1 + n_sign))
    calls = "\n".join(f"    {call}" for call in lines.calls)
    r = c.real
    whole = (
        f"static void loop_{k}_newton(const {r} *p, const {r} *sign, const {r} *x, {r} *out, "
        f"{r} *work)\n{{\n    (void)p, (void)sign, (void)x, (void)work;\n{calls}\n}}\n"
    )
    return LoopCode(f"{lines.functions}\n{whole}", lines.workspace)


def _tables(c: Dialect, k: int, loop: Loop) -> str:
    seeds = loop.seeds
    count = np.maximum(seeds.count, 1)
    stride = np.append(np.cumprod(count[:0:-1])[::-1], 1)[: len(count)]
    reach = np.zeros(loop.n_x) if seeds.reach is None else 1.0 / seeds.reach
    reals: dict[str, Any] = {
        "size": loop.size,
        "sign": seeds.sign,
        "reach": reach,
        "low": seeds.low,
        "step": seeds.step,
        "reference": np.concatenate([np.ravel(part) for part in seeds.reference]),
    }
    if seeds.has_table:
        reals["nodes"] = seeds.nodes.ravel()
    whole = {"parameters": loop.parameters, "last": count - 1, "stride": stride}
    parts = [
        c.array("int", f"loop_{k}_{name}", [str(int(v)) for v in values])
        for name, values in whole.items()
    ]
    parts += [
        c.numbers(f"loop_{k}_{name}", list(map(float, values))) for name, values in reals.items()
    ]
    return "\n".join(parts)
