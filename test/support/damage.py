"""Damage for texts: nasty values, and wounds that a seed decides."""

from __future__ import annotations

import os
import random
import re

#: Damaged files per test; CLOSED_LOOP_FUZZ=10000 makes a campaign of it.
COUNT = int(os.environ.get("CLOSED_LOOP_FUZZ", "200"))

NASTY_TEXT = [
    *("nan", "inf", "-inf", "1e308", "-1e308", "1e400", "1e-320", "0", "-0", "-1", "", " ", "x"),
    *("0 0 0", "1e300 1e300 1e300", "nan nan nan", "a\tb", "ä", "\u0664", "0x10", "1_0"),
    *("crank", "base", "floating", "planar", "fixed", "9" * 5000, "${x}", "&amp;", "tip"),
]
ALPHABET = "<>/\"'&= \n\t\0{}[]:,-#*!|%@`?~\ud800\u20ac0.9naeinfE_"


def mutate(text: str, rng: random.Random) -> str:
    """One random wound: characters flipped, a piece cut out, lines swapped or a piece repeated."""
    i, j = sorted(rng.randrange(len(text) + 1) for _ in range(2))
    j = min(j, i + 40)
    lines = text.splitlines(keepends=True)
    kind = rng.randrange(6)
    if kind == 0:
        return text[:i] + rng.choice(ALPHABET) + text[i + 1 :]
    if kind == 1:
        return text[:i] + text[j:]
    if kind == 2:
        return text[:j] + text[i:]
    if kind == 3:
        return text[:i]
    if kind == 4:
        rng.shuffle(lines)
        return "".join(lines)
    words = re.findall(r"\w+", text) or [""]
    return text[:i] + rng.choice(words) + text[j:]
