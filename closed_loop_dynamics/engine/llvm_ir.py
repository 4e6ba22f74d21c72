"""Instruction list -> LLVM IR text, for one sample (``double``) or for SIMD lanes.

The list is cut into functions of a few thousand instructions: one giant basic block makes the
compiler superlinear and buys no speed. Values that cross a cut go through a workspace.
"""

from __future__ import annotations

import itertools

from .emitter import LIBM1, LIBM2, Emitter, Lanes
from .instructions import InstructionList

CHUNK = 3000
_COMPARE = {"lt": "olt", "le": "ole", "eq": "oeq", "ne": "une"}


def emit_straight_line(code: InstructionList, symbol: str, lanes: Lanes) -> tuple[str, int]:
    """IR of ``void symbol(ptr in, ptr out, ptr workspace)``; returns it and the workspace length.

    Blocks hold one ``lanes.real`` per element.
    """
    chunks = _cut(code)
    slot = _crossing_values(code, chunks)
    outputs_of: dict[int, list[int]] = {}
    for position, value in enumerate(code.outputs):
        outputs_of.setdefault(value, []).append(position)

    texts = []
    for number, (start, stop) in enumerate(chunks):
        body = _emit_chunk(code, start, stop, slot, outputs_of, lanes)
        texts.append(
            f"define internal void @{symbol}_{number}(ptr noalias readonly %in, "
            f"ptr noalias %out, ptr noalias %ws) noinline {{\n{body}\n"
            "  ret void\n}"
        )
    calls = "\n".join(
        f"  call void @{symbol}_{number}(ptr %in, ptr %out, ptr %ws)"
        for number in range(len(chunks))
    )
    texts.append(f"define void @{symbol}(ptr %in, ptr %out, ptr %ws) {{\n{calls}\n  ret void\n}}")
    return "\n\n".join(texts), len(slot)


def _cut(code: InstructionList) -> list[tuple[int, int]]:
    total = len(code.operations)
    pieces = max(1, -(-total // CHUNK))
    bounds = [total * i // pieces for i in range(pieces + 1)]
    return list(itertools.pairwise(bounds))


def _crossing_values(code: InstructionList, chunks: list[tuple[int, int]]) -> dict[int, int]:
    """Workspace slot of every computed value that is used in a later chunk than its own."""
    chunk_of = [0] * len(code.operations)
    for number, (start, stop) in enumerate(chunks):
        chunk_of[start:stop] = [number] * (stop - start)
    slot: dict[int, int] = {}
    for index, (name, a, b) in enumerate(code.operations):
        if name in ("input", "const"):
            continue
        for operand in (a, b):
            if operand < 0 or code.operations[operand][0] in ("input", "const"):
                continue
            if chunk_of[operand] != chunk_of[index]:
                slot.setdefault(operand, len(slot))
    return slot


def _emit_chunk(
    code: InstructionList,
    start: int,
    stop: int,
    slot: dict[int, int],
    outputs_of: dict[int, list[int]],
    lanes: Lanes,
) -> str:
    emit = Emitter(lanes)
    name_of: dict[int, str] = {}
    trig: dict[int, tuple[str, str]] = {}

    def operand(index: int) -> str:
        if index in name_of:
            return name_of[index]
        kind, a, _ = code.operations[index]
        if kind == "const":
            name = lanes.const(code.constants[index])
        elif kind == "input":
            name = emit.load("%in", a)
        else:
            name = emit.load("%ws", slot[index])
        name_of[index] = name
        return name

    for index in range(start, stop):
        kind, a, b = code.operations[index]
        if kind in ("input", "const"):
            if index in outputs_of:
                for position in outputs_of[index]:
                    emit.store(operand(index), "%out", position)
            continue
        x = operand(a)
        y = operand(b) if b >= 0 else ""
        if kind in ("sin", "cos"):
            if a not in trig:
                trig[a] = emit.sincos(x)
            name = trig[a][0 if kind == "sin" else 1]
        else:
            name = _emit_operation(emit, kind, x, y)
        name_of[index] = name
        if index in slot:
            emit.store(name, "%ws", slot[index])
        for position in outputs_of.get(index, ()):
            emit.store(name, "%out", position)
    return "\n".join(emit.lines)


def _emit_operation(emit: Emitter, kind: str, x: str, y: str) -> str:
    lanes = emit.lanes
    if kind in ("add", "sub", "mul", "div"):
        return emit.arithmetic("f" + kind, x, y)
    if kind == "neg":
        return emit.value(f"fneg {lanes.real} {x}")
    if kind in ("sqrt", "fabs", "floor", "ceil"):
        return emit.intrinsic(kind, x)
    if kind in ("fmin", "fmax"):
        return emit.intrinsic("minnum" if kind == "fmin" else "maxnum", x, y)
    if kind == "copysign":
        return emit.intrinsic("copysign", x, y)
    if kind in _COMPARE:
        return emit.as_real(emit.compare(_COMPARE[kind], x, y))
    if kind == "not":
        return emit.as_real(emit.compare("oeq", x, lanes.const(0.0)))
    if kind in ("and", "or"):
        flag = emit.value(f"{kind} {lanes.flag} {emit.as_flag(x)}, {emit.as_flag(y)}")
        return emit.as_real(flag)
    if kind == "if_else_zero":
        return emit.select(emit.as_flag(x), y, lanes.const(0.0))
    if kind == "sign":
        one = emit.intrinsic("copysign", lanes.const(1.0), x)
        return emit.select(emit.compare("one", x, lanes.const(0.0)), one, x)
    if kind in LIBM1 or kind in LIBM2:
        return emit.libm(kind, *([x, y] if y else [x]))
    raise NotImplementedError(f"no LLVM code for operation '{kind}'")
