"""The C source: tables, straight lines, loops, and the functions of the header."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from ..arrays import MAX_ANGLE
from ..closure.continuation import LARGEST_BEND, LONGEST_STEP
from ..closure.numerical import REACH
from ..engine.newton import NewtonSolver
from .dialect import Dialect
from .functions import Encoders, Exported
from .loops import Loop, constants, loop_code
from .statements import Vector, straight_line

#: The step that ends Newton's method on encoders [rad or m; beyond 1 in units of the position].
ENCODER_TOLERANCE, SINGLE_ENCODER_TOLERANCE = 1e-11, 1e-5
#: Positions of a joint that differ by less are one [rad or m].
SAME_CONFIGURATION, SINGLE_SAME_CONFIGURATION = 1e-8, 1e-3


#: Most steps to a first configuration, and what may be off the curve (in reaches).
LOCATE_STEPS = 200
CURVE_TOLERANCE, SINGLE_CURVE_TOLERANCE = 1e-9, 1e-4


@dataclass(frozen=True)
class Cost:
    """What a call needs at most: sums, products, quotients and calls of <math.h>; iterations."""

    operations: int
    iterations: int


@dataclass
class Source:
    """The text, and what it needs.

    Attributes:
        workspace, out, unknowns, history: lengths of the blocks of the memory.
        costs: function -> its worst case.
    """

    parts: list[str] = field(default_factory=list)
    workspace: int = 1
    out: int = 1
    unknowns: int = 1
    history: int = 0
    costs: dict[str, Cost] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """All of it."""
        return "\n".join(self.parts)


def prototype(name: str, inputs: Sequence[Vector], outputs: Sequence[Vector]) -> str:
    """The head of a function of the header, for a robot called ``robot``."""
    arguments = ["robot_memory *memory"]
    arguments += [f"const real *{v.name}" for v in inputs] + [f"real *{v.name}" for v in outputs]
    return f"int robot_{name}({', '.join(arguments)})"


def write_source(
    c: Dialect, functions: Sequence[Exported], encoders: Encoders | None, data: str
) -> Source:
    """Everything but the header; ``data`` defines the constants that it declares."""
    source = Source()
    forward = functions[0].loops if functions else ()
    loops: list[Loop] = [*forward, *(encoders.start.loops if encoders else ())]
    source.parts += [
        c.adapted('#include "robot.h"\n'),
        "#include <math.h>\n",
        f"#define LARGEST_INPUT {c.literal(MAX_ANGLE)}",
        constants(c, loops) if loops else "",
        data,
        c.template("common.c"),
    ]
    judged = [*functions, *([encoders.start] if encoders else [])]
    if any(function.checks for function in judged):
        source.parts.append(c.template("judge.c"))
    if loops:
        code = loop_code(c, loops)
        source.parts += [c.template("loops.c"), code.text]
        source.workspace = max(source.workspace, code.workspace)
        source.history = sum(loop.history for loop in loops)
    source.parts.append(_init(c, len(forward), len(loops) - len(forward)))
    for function in functions:
        _function(c, source, function, public=True)
    if encoders:
        _function(c, source, encoders.start, public=False)
        _encoders(c, source, encoders)
    return source


def _init(c: Dialect, forward: int, backward: int) -> str:
    lines = ["", "    memory->where = 0;", "    memory->iterations = 0;"]
    for of, count in (("y", forward), ("u", backward)):
        if count:
            lines += [
                f"    for (int k = 0; k < {count}; k++) {{",
                f"        forget(memory, loops_of_{of} + k);",
                "    }",
            ]
    inside = "\n".join(lines[1:])
    return c.adapted(f"void robot_init(robot_memory *memory)\n{{\n{inside}\n}}\n")


def _function(c: Dialect, source: Source, f: Exported, public: bool) -> None:
    """The straight line of ``f`` and the function around it."""
    loops = f.loops
    n_x, n_slopes = sum(loop.n_x for loop in loops), sum(loop.n_slope for loop in loops)
    n_checks = len(f.checks)
    unknowns = [name for loop in loops for name in loop.unknowns]
    notes = [
        f"{v.name} {v.words[i] if i < len(v.words) else i}"
        for v in f.outputs
        for i in range(v.size)
    ]
    out = Vector("out", f.n_out + n_checks + n_slopes, notes)
    lines = straight_line(c, f.name, f.body, [Vector("x", n_x, unknowns), *f.inputs], out)
    source.workspace = max(source.workspace, lines.workspace)
    source.out = max(source.out, out.size)
    source.unknowns = max(source.unknowns, n_x)
    looked_over = sum(v.size for v in f.inputs)
    closing = sum(loop.operations for loop in loops)
    source.costs[f.name] = Cost(
        looked_over + closing + lines.instructions, NewtonSolver.max_iterations * len(loops)
    )
    source.parts += [f"/* ---- {f.name} */\n", lines.functions]
    if n_checks:
        rows = "\n".join(f"    {{ROBOT_{check.status}, {check.where}}}," for check in f.checks)
        head = f"static const struct check {f.name}_checks[] = {{"
        source.parts.append(c.adapted(f"{head}\n{rows}\n}};\n"))
    head, follow = prototype(f.name, f.inputs, f.outputs), "0"
    if not public:
        head, follow = f"static {head.replace(f'robot_{f.name}', f.name)}", "follow"
        head = head.replace("memory,", "memory, int follow,", 1)
    source.parts.append(c.adapted("\n".join([head, "{", *_inside(f, lines.calls, follow), "}\n"])))


def _inside(f: Exported, calls: Sequence[str], follow: str) -> list[str]:
    """The statements of a function of the header; ``follow``: see templates/loops.c."""
    loops, n_x = f.loops, sum(loop.n_x for loop in f.loops)
    lines = ["    real *const out = memory->out;"]
    works = any(call.endswith("work);") for call in calls)
    lines += ["    real *const work = memory->work;"] if works else []
    lines += ["    real *const x = memory->x;"] if n_x else []
    lines += ["    int status = ROBOT_OK;", "    memory->iterations = 0;"]
    first = 0
    for v in f.inputs:
        lines += _then(f"look_over(memory, {v.name}, {v.size}, {first})")
        first += v.size
    if loops:
        of = loops[0].of
        lines += _then(f"close_loops(memory, loops_of_{of}, {len(loops)}, {of}, {follow}, x)")
    lines += ["    if (status != ROBOT_OK) {", "        return status;", "    }"]
    lines += [f"    {call}" for call in calls]
    if f.checks:
        lines += [
            f"    status = judge(memory, out + {f.n_out}, {f.name}_checks, {len(f.checks)});",
            "    if (status != ROBOT_OK) {",
            "        return status;",
            "    }",
        ]
    if loops:
        slopes = f.n_out + len(f.checks)
        lines.append(f"    remember(memory, loops_of_{of}, {len(loops)}, {of}, x, out + {slopes});")
    at = 0
    for v in f.outputs:
        lines.append(f"    copy(out + {at}, {v.name}, {v.size});")
        at += v.size
    lines += [f"    (void){follow};"] if follow != "0" and not loops else []
    return [*lines, "    return status;"]


def _then(call: str) -> list[str]:
    return ["    if (status == ROBOT_OK) {", f"        status = {call};", "    }"]


def _encoders(c: Dialect, source: Source, encoders: Encoders) -> None:
    single = c.single
    exact = [f"{{{place}, {component}}}" for place, component in encoders.exact] or ["{0, 0}"]
    source.parts += [
        f"#define ENCODER_STEPS {encoders.steps}",
        f"#define ENCODER_TOLERANCE "
        f"{c.literal(SINGLE_ENCODER_TOLERANCE if single else ENCODER_TOLERANCE)}",
        f"#define SAME_CONFIGURATION "
        f"{c.literal(SINGLE_SAME_CONFIGURATION if single else SAME_CONFIGURATION)}",
        f"#define FIRST_JOINT {encoders.free} /* in yd: no encoder sees a free base */",
        f"#define N_EXACT {len(encoders.exact)}",
        f"#define N_ENCODER_LOOPS {len(encoders.start.loops)}",
        "static const struct {",
        "    int place, submechanism;",
        f"}} exact[] = {{{', '.join(exact)}}};",
        _locate(c, encoders),
        with_sizes(c.template("encoders.c"), encoders.sizes),
    ]
    start = source.costs.pop(encoders.start.name)
    step, last = source.costs["encoder_step"], source.costs["velocities"]
    loops, p = encoders.start.loops, encoders.start.inputs[0].size
    along = start.operations + sum(loop.curve_operations for loop in loops)
    way = p + 5 * sum(loop.sizes[0] for loop in loops)
    rounds = LOCATE_STEPS if loops else 0
    source.costs["locate"] = Cost(way + rounds * (along + 3 * p + 5), rounds * start.iterations)
    starts = 2 if loops else 1  # from the table, then from the newest reading
    refined = step.operations + 2 * len(encoders.exact) + 6 * encoders.sizes["M1"]
    source.costs["encoders"] = Cost(
        p + starts * along + encoders.steps * refined + last.operations,
        starts * start.iterations + encoders.steps * step.iterations + last.iterations,
    )


def _locate(c: Dialect, encoders: Encoders) -> str:
    """Following the loops to u; where there are none, every u will do."""
    loops = encoders.start.loops
    if not loops:
        head = prototype("locate", encoders.start.inputs, ())
        return c.adapted(f"\n{head}\n{{\n    return look_over(memory, u, ROBOT_P, 0);\n}}")
    numbers = {
        "LONGEST_STEP": LONGEST_STEP,
        "LARGEST_BEND": LARGEST_BEND / REACH,  # the template's unit is the reach
        "CURVE_TOLERANCE": SINGLE_CURVE_TOLERANCE if c.single else CURVE_TOLERANCE,
    }
    lines = [f"#define LOCATE_STEPS {LOCATE_STEPS}"]
    lines += [f"#define {name} {c.literal(value)}" for name, value in numbers.items()]
    return "\n".join([*lines, with_sizes(c.template("locate.c"), encoders.sizes)])


def with_sizes(text: str, sizes: dict[str, int]) -> str:
    """Lengths of arrays, at least one as C asks for."""
    for name, size in sizes.items():
        text = text.replace(f"@{name}@", str(max(size, 1)))
    return text
