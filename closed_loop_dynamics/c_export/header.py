"""The header, the C++ wrapper, the sample program: what a caller reads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..arrays import MAX_ANGLE
from ..engine.newton import NewtonSolver
from ..programs import Programs
from ..quantities.coordinates import reference_independent
from ..quantities.state import complete_state
from .dialect import Dialect, comment, string
from .functions import ENCODERS, LOCATE, Exported
from .source import Cost, Source, prototype, with_sizes
from .statements import Vector

#: What the sample program calls functions with; all else are ones.
_AT_REFERENCE = {"y": "robot_reference", "u": "robot_reference_u"}


@dataclass(frozen=True)
class Interface:
    """A function of the header."""

    name: str
    inputs: Sequence[Vector]
    outputs: Sequence[Vector]


def interfaces(functions: Sequence[Exported], encoders: bool) -> list[Interface]:
    """All of them; reading encoders is put together from others."""
    found = [Interface(f.name, f.inputs, f.outputs) for f in functions]
    if encoders:
        by_name = {f.name: f for f in functions}
        y, u, ud = by_name["encoder_step"].inputs
        q, _, qd = by_name["velocities"].outputs
        yd = by_name["velocities"].inputs[1]
        found += [Interface(LOCATE, [u], []), Interface(ENCODERS, [u, ud], [y, yd, q, qd])]
    return found


def definitions(c: Dialect, programs: Programs) -> str:
    """The constants that the header declares."""
    mech = programs.mechanism
    limits = [mech.joint(b) for b in mech.actuator]
    y = reference_independent(mech, programs.branches)
    tables = {
        "actuator_lower": [joint.lower for joint in limits],
        "actuator_upper": [joint.upper for joint in limits],
        "actuator_velocity": [joint.velocity for joint in limits],
        "actuator_effort": [joint.effort for joint in limits],
        "reference": y.tolist(),
        "reference_u": complete_state(programs, y).u.tolist(),
    }
    parts = [
        c.array("char *const", f"{c.robot}_{kind}_names", list(map(string, names)))
        for kind, names in _names(programs).items()
    ]
    parts += [c.numbers(f"{c.robot}_{name}", list(map(float, v))) for name, v in tables.items()]
    return "\n".join(part.replace("static const ", "const ", 1) for part in parts)


def _names(programs: Programs) -> dict[str, Sequence[str]]:
    names = programs.names
    submechanisms = [component.entry.name for component in programs.mechanism.components]
    return {
        "independent": names.independent,
        "spanning": names.spanning,
        "actuator": names.actuator,
        "submechanism": submechanisms,
    }


def write_header(
    c: Dialect, programs: Programs, functions: Sequence[Interface], source: Source, title: str
) -> str:
    """``robot.h``."""
    mech = programs.mechanism
    sizes = {"NY": mech.n_y, "M": mech.m, "NQ": mech.n_q, "N": mech.n, "P": mech.p}
    lengths = [f"#define ROBOT_{name} {size}" for name, size in sizes.items()]
    names = [
        f"extern const char *const robot_{kind}_names[{max(len(names), 1)}];"
        for kind, names in _names(programs).items()
    ]
    blocks = {"out": source.out, "x": source.unknowns, "work": source.workspace}
    if source.history:
        blocks["history"] = source.history
    memory = [f"    real {name}[{size}];" for name, size in blocks.items()]
    costs = [
        f" *   {name}: {cost.operations} operations, {cost.iterations} iterations"
        for name, cost in source.costs.items()
    ]
    declared = [_declaration(f, source.costs[f.name]) for f in functions]
    filled = {
        "TITLE": comment(title),
        "VECTORS": "\n".join(_layout(functions)),
        "COSTS": "\n".join(costs),
        "SIZES": c.adapted("\n".join(lengths)),
        "ITERATIONS": str(NewtonSolver.max_iterations),
        "LARGEST": f"{MAX_ANGLE:g}",
        "MEMORY": c.adapted("\n".join(memory)),
        "NAMES": c.adapted("\n".join(names)),
        "PROTOTYPES": c.adapted("\n".join(declared)),
    }
    text = with_sizes(c.template("robot.h"), {"P1": mech.p, "NY1": mech.n_y})
    # In one pass: a title may hold anything.
    return re.sub(r"@([A-Z]+)@", lambda word: filled[word[1]], text)


def _layout(functions: Sequence[Interface]) -> list[str]:
    """Every vector once: its name, its length, whose it is where others are called so, elements."""
    vectors, users = dict[tuple[str, int], Vector](), dict[tuple[str, int], list[str]]()
    for f in functions:
        for v in (*f.inputs, *f.outputs):
            vectors.setdefault((v.name, v.size), v)
            users.setdefault((v.name, v.size), []).append(f.name)
    names = [name for name, _ in vectors]
    lines = []
    for key, vector in vectors.items():
        line = f" *   {vector.name}[{vector.size}]"
        if names.count(vector.name) > 1:
            line += f" ({', '.join(users[key])})"
        for word in map(comment, vector.words):
            if len(line) + len(word) > 98:
                lines.append(line)
                line = " *      "
            line += f" {word}"
        lines.append(line)
    return lines


def _declaration(f: Interface, cost: Cost) -> str:
    inputs = ", ".join(f"{v.name} ({v.size})" for v in f.inputs)
    outputs = ", ".join(f"{v.name} ({v.size})" for v in f.outputs)
    upper = f.name.upper()
    return (
        f"/* {inputs} -> {outputs}. */\n"
        f"{prototype(f.name, f.inputs, f.outputs)};\n"
        f"#define ROBOT_{upper}_OPERATIONS {cost.operations}\n"
        f"#define ROBOT_{upper}_ITERATIONS {cost.iterations}\n"
    )


def write_wrapper(c: Dialect, functions: Sequence[Interface]) -> str:
    """``robot.hpp``."""
    methods = []
    for f in functions:
        arguments = [f"In<{max(v.size, 1)}> {v.name}" for v in f.inputs]
        arguments += [f"Out<{max(v.size, 1)}> {v.name}" for v in f.outputs]
        data = "".join(f", {v.name}.data()" for v in (*f.inputs, *f.outputs))
        methods.append(
            f"    Status {f.name}({', '.join(arguments)}) noexcept\n    {{\n"
            f"        return static_cast<Status>(robot_{f.name}(&memory_{data}));\n    }}"
        )
    return c.template("robot.hpp").replace("@METHODS@", c.adapted("\n\n".join(methods)))


def write_main(c: Dialect, functions: Sequence[Interface], title: str) -> str:
    """``main.c``."""
    calls = []
    for f in functions:
        lines = ["    {"]
        for v in f.inputs:
            if v.name in _AT_REFERENCE:
                lines.append(f"        const real *const {v.name} = {_AT_REFERENCE[v.name]};")
                continue
            value = "0.1" if v.name.endswith("d") else "1.0"
            values = ", ".join([value] * max(v.size, 1))
            lines.append(f"        const real {v.name}[] = {{{values}}};")
        lines += [f"        real {v.name}[{max(v.size, 1)}];" for v in f.outputs]
        names = ", ".join(v.name for v in (*f.inputs, *f.outputs))
        lines += [
            f"        status = robot_{f.name}(&memory, {names});",
            "        failures += status != 0;",
        ]
        lines += [
            f'        table("{f.name}", "{v.name}", status, {v.name}, {v.size});' for v in f.outputs
        ]
        calls.append("\n".join([*lines, "    }"]))
    text = c.template("main.c").replace("@CALLS@", c.adapted("\n".join(calls)))
    return text.replace("@TITLE@", string(title)[1:-1].replace("%", "%%"))
