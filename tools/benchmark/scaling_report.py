"""The growth of costs with the length of a chain or the number of loops, as tables and JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .checks import Check
from .report import heading, table
from .scaling import Growth

#: What is counted -> the title of its section.
TITLES = {
    "links": "Scaling: serial chains with their rotors",
    "loops": "Scaling: how cost grows with the number of loops",
}
EXPLANATION = (
    "all methods traced and compiled alike,",
    "zeros folded away. Exponent: slope on logarithmic axes over the longer half (instructions, "
    "time).",
)

BESIDE = "Pinocchio (completed states) and MuJoCo (soft) are timed as they are called from Python."


def scaling_text(
    growths: Sequence[Growth], checks: Sequence[Check], markdown: bool, unit: str = "links"
) -> str:
    """One table for every kind of chain and quantity; of loops also the costs per loop."""
    alike, exponent = EXPLANATION
    lines = ["", heading(TITLES[unit], 2, markdown), ""]
    lines += [f"Instructions per call, then µs, over the number of {unit}; {alike}", exponent]
    if unit == "loops":
        lines.append(BESIDE)
    for chain, what in dict.fromkeys((g.chain, g.what) for g in growths):
        group = [g for g in growths if (g.chain, g.what) == (chain, what)]
        lines += ["", heading(f"{what}, {chain}", 3, markdown), ""]
        rows = [(unit, *map(str, group[0].lengths), "exponent")]
        rows += [
            (g.method, *map(str, g.instructions), f"{g.exponent:.2f}")
            for g in group
            if g.instructions
        ]
        for g in group:
            if g.seconds is not None:
                times = (f"{1e6 * s:.3g}" for s in g.seconds)
                rows.append((f"{g.method} [µs]", *times, f"{g.time_exponent:.2f}"))
        if unit == "loops":
            rows += _per_loop(group)
        lines += table(rows, markdown)
    if checks:
        worst = max(check.error for check in checks)
        verdict = "ok" if all(check.ok for check in checks) else "WRONG"
        lines += ["", f"Largest relative difference between the methods: {worst:.1e} {verdict}"]
    return "\n".join(lines) + "\n"


def _per_loop(group: Sequence[Growth]) -> list[tuple[str, ...]]:
    """Instructions of every method divided by the number of loops, then times likewise."""
    rows: list[tuple[str, ...]] = []
    for g in group:
        if g.instructions:
            each = (f"{i / k:.0f}" for i, k in zip(g.instructions, g.lengths, strict=True))
            rows.append((f"{g.method}, per loop", *each, ""))
    for g in group:
        if g.seconds is not None:
            each = (f"{1e6 * s / k:.3g}" for s, k in zip(g.seconds, g.lengths, strict=True))
            rows.append((f"{g.method}, per loop [µs]", *each, ""))
    return rows


def scaling_json(growths: Sequence[Growth]) -> list[dict[str, Any]]:
    """Everything, times in seconds per call."""
    return [
        {
            "chain": g.chain,
            "what": g.what,
            "method": g.method,
            "links": list(g.lengths),
            "instructions": list(g.instructions) or None,
            "exponent": g.exponent if g.instructions else None,
            "seconds": None if g.seconds is None else list(g.seconds),
            "time_exponent": g.time_exponent,
        }
        for g in growths
    ]
