"""Generated texts side by side: words exactly, numbers but for the last digit of a machine."""

from __future__ import annotations

import re

#: A number that is no part of a name, and whether it is a moment of inertia.
NUMBER = re.compile(r'(i[xyz]{2}=")?(?<![\w.])(-?\d+(?:\.\d+)?(?:e[+-]?\d+)?)(?![\w.])')


def differences(found: str, expected: str) -> list[str]:
    """What is different in the words, or else in the numbers, of two texts."""
    if NUMBER.sub("#", found) != NUMBER.sub("#", expected):
        lines = zip(found.splitlines(), expected.splitlines(), strict=False)
        other = [f"{a} / {b}" for a, b in lines if NUMBER.sub("#", a) != NUMBER.sub("#", b)]
        return other or ["one text is longer"]
    pairs = zip(NUMBER.findall(found), NUMBER.findall(expected), strict=True)
    return [f"{a} / {b}" for (inertia, a), (_, b) in pairs if not same(float(a), float(b), inertia)]


def same(a: float, b: float, inertia: str) -> bool:
    """Equal but for the last digit: the twelfth decimal, of inertias the eleventh that counts."""
    if a == 0.0 or b == 0.0:
        return a == b
    return abs(a - b) <= (2e-10 * abs(b) if inertia else 2e-12)
