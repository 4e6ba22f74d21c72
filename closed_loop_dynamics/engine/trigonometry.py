"""Sine and cosine together, inline: both cost little more than one and fill lanes like the rest."""

from __future__ import annotations

from .code import Function
from .values import Int, Real

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


def sincos(f: Function, x: Real) -> tuple[Real, Real]:
    """Sine and cosine of x, |x| <= MAX_ANGLE, to about one unit in the last place."""
    with f.as_written():
        shifted = x * 0.6366197723675814 + _ROUND
        back = -(shifted - _ROUND)  # quarter turns to take away
    r = x
    for part in _PIO2:
        r = back.apply("fma", part, r)
    z = r * r
    sine = (z * r).apply("fma", _polynomial(f, z, _SIN), r)
    cosine = z.apply("fma", -0.5, 1.0) + z * z * _polynomial(f, z, _COS)
    bits = shifted.bits()
    odd = (bits & 1).differs(0)
    return (_flipped(odd.choose(cosine, sine), bits), _flipped(odd.choose(sine, cosine), bits + 1))


def _flipped(value: Real, bits: Int) -> Real:
    """The sign changed where bit 1 of ``bits`` is set."""
    return (value.bits() ^ ((bits & 2) << 62)).from_bits()


def _polynomial(f: Function, z: Real, coefficients: tuple[float, ...]) -> Real:
    result = f.real(coefficients[-1])
    for c in reversed(coefficients[:-1]):
        result = result.apply("fma", z, c)
    return result
