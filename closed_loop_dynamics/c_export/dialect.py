"""Numbers and functions as C spells them, in double or in single precision."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from pathlib import Path

#: Functions of <math.h>, by the engine's names of operations that are called so in C too.
MATH = {"sqrt", "exp", "log", "fabs", "floor", "ceil", "sin", "cos", "tan", "asin", "acos", "atan"}
MATH |= {"sinh", "cosh", "tanh", "fmin", "fmax", "pow", "atan2", "copysign", "hypot"}
#: What no robot can be called: keywords, headers, what these declare, a word of ours.
_TAKEN = """
main real std export memory alignas alignof and asm auto bool break case catch char class compl
concept const constexpr continue default delete do double else enum explicit extern false float for
friend goto if inline int long mutable namespace new noexcept not nullptr operator or private
protected public register requires restrict return short signed sizeof static struct switch template
this throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t while
xor array assert complex concepts ctype errno fenv functional inttypes iso646 limits locale math
numeric ratio setjmp signal span stdarg stdbool stddef stdint stdio stdlib string strings tgmath
thread threads time tuple types uchar unistd utility vector version wchar wctype abs acosh asinh
atanh cbrt div erf erfc exp2 expm1 fdim fma fmod frexp gamma hypot ilogb isfinite isnan isinf j0 j1
jn ldexp lgamma log10 log1p log2 logb lrint lround modf nan nearbyint nextafter remainder remquo
rint round scalbn signbit significand signgam tgamma trunc y0 y1 yn abort atexit atof atoi bsearch
calloc clock close connect exit free getc getenv gets index kill labs link listen malloc open pause
pipe printf putc puts qsort raise rand random read realloc remove rename rewind rindex select send
sleep socket srand stat sync system tmpfile truncate unix linux wait write
"""
TAKEN = MATH | {*_TAKEN.split()}
_FLOAT_MAX, _FLOAT_MIN = 3.4028234663852886e38, 1.1754943508222875e-38
_TEMPLATES = Path(__file__).parent / "templates"


@dataclass(frozen=True)
class Dialect:
    """C of one precision, for a robot of one name.

    Attributes:
        robot: prefix of everything that is visible outside.
        single: ``float`` in place of ``double``.
    """

    robot: str
    single: bool = False

    @property
    def real(self) -> str:
        """The type of numbers."""
        return "float" if self.single else "double"

    def literal(self, value: float) -> str:
        """A number, exactly (rounded to the precision)."""
        if math.isnan(value):
            return "NAN"
        if math.isinf(value) or (self.single and abs(value) > _FLOAT_MAX):
            return "INFINITY" if value > 0 else "-INFINITY"
        if self.single and abs(value) < _FLOAT_MIN:
            value = 0.0
        return f"{float(value)!r}f" if self.single else repr(float(value))

    def function(self, name: str) -> str:
        """A function of <math.h>."""
        return f"{name}f" if self.single else name

    def template(self, name: str) -> str:
        """A file of ``templates/``, adapted."""
        return self.adapted((_TEMPLATES / name).read_text(encoding="utf-8"))

    def adapted(self, text: str) -> str:
        """``text``, which is written for ``robot`` and numbers ``real``, for these; only once."""
        text = re.sub(r"\bROBOT_", f"{self.robot.upper()}_", text)
        text = re.sub(r"\b(export_)?robot(?=_|\.[ch])", rf"\g<1>{self.robot}", text)
        text = text.replace("namespace robot", f"namespace {self.robot}")
        text = re.sub(r"\breal\b", self.real, text)
        if self.single:
            text = re.sub(r"\b(fabs|fmin|fmax|copysign)\(", r"\1f(", text)
            text = re.sub(r"(?<![\w.])(\d+\.\d+(e[+-]?\d+)?)(?![\w.])", r"\1f", text)
        return text

    def array(self, kind: str, name: str, values: list[str]) -> str:
        """``static const kind name[] = {...};`` in lines of 100 columns; never empty, as C asks."""
        lines, line = [], "   "
        for value in values or ["0"]:
            if len(line) + len(value) + 2 > 100:
                lines.append(line)
                line = "   "
            line += f" {value},"
        inside = "\n".join([*lines, line])
        return f"static const {kind} {name}[] = {{\n{inside}\n}};\n"

    def numbers(self, name: str, values: list[float]) -> str:
        """:meth:`array` of reals."""
        return self.array(self.real, name, [self.literal(v) for v in values])


def identifier(name: str) -> str:
    """``name`` as the word that everything begins with, and that files and a namespace are called.

    Words of C and C++, of their headers and of what these declare are taken: ``main_robot``.
    """
    word = re.sub(r"\W", "_", name, flags=re.ASCII).lower()
    word = word if word[:1].isalpha() else f"robot_{word}"
    return f"{word}_robot" if word in TAKEN else word


def comment(text: str) -> str:
    """Joint names come from files: nothing in them ends a comment or begins another one."""
    printed = "".join(letter if letter.isprintable() else " " for letter in text)
    return printed.replace("*/", "* /").replace("/*", "/ *").replace("\\", "/")


def string(text: str) -> str:
    """A string literal; everything but plain letters escaped, in a way that needs no trigraphs."""
    spelled = []
    for byte in text.encode():
        plain = 32 <= byte < 127 and chr(byte) not in '"\\?'
        spelled.append(chr(byte) if plain else f"\\{byte:03o}")
    return f'"{"".join(spelled)}"'
