"""Writing LLVM IR as text: values, lanes, loops, and an inline sine and cosine.

Sine and cosine are emitted inline as one polynomial kernel, so that both cost little more than one
and vectorise like the rest.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass

# Cody-Waite splitting of pi/2 into three doubles, and the minimax polynomials of the classic
# sine and cosine kernels on [-pi/4, pi/4].
_PIO2 = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591833e-33)
_SIN = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
_COS = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
_ROUND = 6755399441055744.0  # 1.5 * 2**52: adding it leaves the rounded integer in the low bits
LIBM1 = ("tan", "asin", "acos", "atan", "exp", "log", "sinh", "cosh", "tanh")
LIBM2 = ("atan2", "pow", "hypot")
#: Functions that compiled code may call: by name above, or because a CPU has no instruction for it.
LIBM_NAMES = (*LIBM1, *LIBM2, "fma", "fmin", "fmax", "floor", "ceil")


def literal(value: float) -> str:
    """A double as LLVM spells it exactly."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


@dataclass(frozen=True)
class Lanes:
    """The type a value has: ``double`` for one lane, ``<L x double>`` for L."""

    count: int

    @property
    def real(self) -> str:
        """LLVM type of a number."""
        return "double" if self.count == 1 else f"<{self.count} x double>"

    @property
    def integer(self) -> str:
        """LLVM type of a 64-bit integer per lane."""
        return "i64" if self.count == 1 else f"<{self.count} x i64>"

    @property
    def flag(self) -> str:
        """LLVM type of a truth value per lane."""
        return "i1" if self.count == 1 else f"<{self.count} x i1>"

    @property
    def suffix(self) -> str:
        """Suffix of overloaded intrinsics."""
        return "f64" if self.count == 1 else f"v{self.count}f64"

    @property
    def align(self) -> int:
        """Alignment of memory accesses in bytes."""
        return 8 if self.count == 1 else min(64, 8 * self.count)

    def const(self, value: float) -> str:
        """A constant in every lane."""
        if self.count == 1:
            return literal(value)
        return "<" + ", ".join([f"double {literal(value)}"] * self.count) + ">"

    def const_int(self, value: int) -> str:
        """An integer constant in every lane."""
        if self.count == 1:
            return str(value)
        return "<" + ", ".join([f"i64 {value}"] * self.count) + ">"


class Emitter:
    """Writes the lines of one function body; every method returns the name of its result."""

    def __init__(self, lanes: Lanes) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        self._next = 0

    def fresh(self) -> str:
        """A new value name."""
        self._next += 1
        return f"%t{self._next}"

    def line(self, text: str) -> None:
        """Append a line as it is."""
        self.lines.append("  " + text)

    def value(self, text: str) -> str:
        """Append ``%new = text`` and return the new name."""
        name = self.fresh()
        self.lines.append(f"  {name} = {text}")
        return name

    def load(self, pointer: str, index: int) -> str:
        """Element ``index`` of a block."""
        real = self.lanes.real
        address = self.value(f"getelementptr inbounds {real}, ptr {pointer}, i64 {index}")
        return self.value(f"load {real}, ptr {address}, align {self.lanes.align}")

    def store(self, value: str, pointer: str, index: int) -> None:
        """Write element ``index`` of a block."""
        real = self.lanes.real
        address = self.value(f"getelementptr inbounds {real}, ptr {pointer}, i64 {index}")
        self.line(f"store {real} {value}, ptr {address}, align {self.lanes.align}")

    def arithmetic(self, name: str, a: str, b: str) -> str:
        """``fadd``, ``fsub``, ``fmul``, ``fdiv``, free to fuse into multiply-add."""
        return self.value(f"{name} contract {self.lanes.real} {a}, {b}")

    def fma(self, a: str, b: str, c: str) -> str:
        """a*b + c with one rounding, whatever the flags."""
        t = self.lanes.real
        return self.value(f"call {t} @llvm.fma.{self.lanes.suffix}({t} {a}, {t} {b}, {t} {c})")

    def intrinsic(self, name: str, *arguments: str) -> str:
        """Call an overloaded LLVM intrinsic of reals."""
        t = self.lanes.real
        inside = ", ".join(f"{t} {a}" for a in arguments)
        return self.value(f"call {t} @llvm.{name}.{self.lanes.suffix}({inside})")

    def libm(self, name: str, *arguments: str) -> str:
        """Call the C library, lane by lane."""
        if self.lanes.count == 1:
            inside = ", ".join(f"double {a}" for a in arguments)
            return self.value(f"call double @{name}({inside})")
        t = self.lanes.real
        result = "poison"
        for lane in range(self.lanes.count):
            parts = [self.value(f"extractelement {t} {a}, i32 {lane}") for a in arguments]
            inside = ", ".join(f"double {p}" for p in parts)
            single = self.value(f"call double @{name}({inside})")
            result = self.value(f"insertelement {t} {result}, double {single}, i32 {lane}")
        return result

    def select(self, flag: str, a: str, b: str) -> str:
        """a where flag, else b."""
        ln = self.lanes
        return self.value(f"select {ln.flag} {flag}, {ln.real} {a}, {ln.real} {b}")

    def compare(self, predicate: str, a: str, b: str) -> str:
        """Truth value per lane."""
        return self.value(f"fcmp {predicate} {self.lanes.real} {a}, {b}")

    def as_real(self, flag: str) -> str:
        """1.0 where flag, else 0.0."""
        return self.select(flag, self.lanes.const(1.0), self.lanes.const(0.0))

    def as_flag(self, value: str) -> str:
        """Non-zero."""
        return self.compare("une", value, self.lanes.const(0.0))

    def sincos(self, x: str) -> tuple[str, str]:
        """Sine and cosine of x, |x| <= MAX_ANGLE, to about one unit in the last place."""
        ln = self.lanes
        # No `contract` here: the rounding trick must happen exactly as written.
        scaled = self.value(f"fmul {ln.real} {x}, {ln.const(0.6366197723675814)}")
        shifted = self.value(f"fadd {ln.real} {scaled}, {ln.const(_ROUND)}")
        k = self.value(f"fsub {ln.real} {shifted}, {ln.const(_ROUND)}")
        bits = self.value(f"bitcast {ln.real} {shifted} to {ln.integer}")
        minus_k = self.value(f"fneg {ln.real} {k}")
        r = x
        for part in _PIO2:
            r = self.fma(minus_k, ln.const(part), r)
        z = self.arithmetic("fmul", r, r)
        sine = self._polynomial(z, _SIN)
        sine = self.fma(self.arithmetic("fmul", z, r), sine, r)
        cosine = self._polynomial(z, _COS)
        cosine = self.arithmetic("fmul", self.arithmetic("fmul", z, z), cosine)
        half = self.fma(z, ln.const(-0.5), ln.const(1.0))
        cosine = self.arithmetic("fadd", half, cosine)
        odd_bit = self.value(f"and {ln.integer} {bits}, {ln.const_int(1)}")
        odd = self.value(f"icmp ne {ln.integer} {odd_bit}, {ln.const_int(0)}")
        next_bits = self.value(f"add {ln.integer} {bits}, {ln.const_int(1)}")
        return (
            self._flip(self.select(odd, cosine, sine), bits),
            self._flip(self.select(odd, sine, cosine), next_bits),
        )

    def _flip(self, value: str, bits: str) -> str:
        """Change the sign where bit 1 of ``bits`` is set."""
        ln = self.lanes
        bit = self.value(f"and {ln.integer} {bits}, {ln.const_int(2)}")
        sign = self.value(f"shl {ln.integer} {bit}, {ln.const_int(62)}")
        raw = self.value(f"bitcast {ln.real} {value} to {ln.integer}")
        flipped = self.value(f"xor {ln.integer} {raw}, {sign}")
        return self.value(f"bitcast {ln.integer} {flipped} to {ln.real}")

    def _polynomial(self, z: str, coefficients: tuple[float, ...]) -> str:
        result = self.lanes.const(coefficients[-1])
        for c in reversed(coefficients[:-1]):
            result = self.fma(result, z, self.lanes.const(c))
        return result


def declarations(lanes: Lanes) -> str:
    """Declarations of everything an :class:`Emitter` may call."""
    t, s = lanes.real, lanes.suffix
    lines = [f"declare {t} @llvm.fma.{s}({t}, {t}, {t})"]
    lines += [f"declare {t} @llvm.{n}.{s}({t})" for n in ("sqrt", "fabs", "floor", "ceil")]
    lines += [f"declare {t} @llvm.{n}.{s}({t}, {t})" for n in ("minnum", "maxnum", "copysign")]
    return "\n".join(lines)


def libm_declarations() -> str:
    """Declarations of the C library functions (once per module)."""
    one = [f"declare double @{n}(double)" for n in LIBM1]
    two = [f"declare double @{n}(double, double)" for n in LIBM2]
    return "\n".join(one + two)


class FunctionEmitter(Emitter):
    """An emitter that also knows its current block, for loops and early returns."""

    def __init__(self, lanes: Lanes) -> None:
        super().__init__(lanes)
        self.block = "entry"
        self._labels = 0

    def label(self, name: str) -> None:
        """Start a block."""
        self.lines.append(f"{name}:")
        self.block = name

    def new_label(self, stem: str) -> str:
        """An unused label."""
        self._labels += 1
        return f"{stem}{self._labels}"

    def at(self, pointer: str, index: int | str, kind: str) -> str:
        """Address of element ``index`` of type ``kind``."""
        return self.value(f"getelementptr inbounds {kind}, ptr {pointer}, i64 {index}")

    def loop(self, count: int | str, body: Callable[[str], None]) -> None:
        """``for i in range(count): body(i)``, count > 0."""
        head = self.new_label("head")
        index, following = self.fresh(), self.fresh()
        previous = self.block
        self.line(f"br label %{head}")
        self.label(head)
        place = len(self.lines)
        self.lines.append("")
        body(index)
        self.line(f"{following} = add i64 {index}, 1")
        again = self.value(f"icmp ult i64 {following}, {count}")
        tail = self.new_label("tail")
        self.lines[place] = (
            f"  {index} = phi i64 [ 0, %{previous} ], [ {following}, %{self.block} ]"
        )
        self.line(f"br i1 {again}, label %{head}, label %{tail}")
        self.label(tail)

    def leave_if(self, flag: str, label: str) -> None:
        """Go to block ``label``, to be started later, when ``flag``."""
        stay = self.new_label("stay")
        self.line(f"br i1 {flag}, label %{label}, label %{stay}")
        self.label(stay)

    def return_if(self, flag: str, code: str) -> None:
        """Leave the function with ``code`` when ``flag``."""
        leave, stay = self.new_label("leave"), self.new_label("stay")
        self.line(f"br i1 {flag}, label %{leave}, label %{stay}")
        self.label(leave)
        self.line(f"ret i64 {code}")
        self.label(stay)
