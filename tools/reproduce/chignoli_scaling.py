"""Chignoli et al., Figs. 11 and 13: costs over the length of a chain."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..benchmark.checks import Check
from ..benchmark.scaling import CHAINS, OURS, Growth, grow
from .claims import Claim, Section, Studio

#: Equally spaced, so that differences tell the degree; the chains repeat after four links.
LENGTHS = (4, 8, 12, 16, 20, 24)
QUICK = (2, 6, 10, 14)
#: Every length is timed by itself: long enough that a noisy moment does not tell.
SWEEPS = 200
FIGURES = {"forward dynamics": "Fig. 11", "inverse OSIM": "Fig. 13"}
PAPER = {True: "linear", False: "cubic"}


def scaling(section: Section, studio: Studio) -> None:
    """The claims and the plots of both figures."""
    growths: list[Growth] = []
    checks: list[Check] = []
    lengths, sweeps = (QUICK, 0) if studio.quick else (LENGTHS, SWEEPS)
    for chain in list(CHAINS)[: 1 if studio.quick else None]:
        studio.step(f"Figs. 11 and 13: {chain}, up to {lengths[-1]} links")
        found, agreement = grow(chain, lengths, sweeps)
        growths += found
        checks += agreement
    section.claims += [_claim(growth) for growth in growths]
    if checks:
        worst = max(checks, key=lambda check: check.error)
        section.claims.append(
            Claim(
                "Figs. 11 and 13, agreement",
                "all exact",
                f"largest relative difference {worst.error:.1e}",
                all(check.ok for check in checks),
            )
        )
    for what, figure in FIGURES.items():
        _plot(section, studio, figure, [g for g in growths if g.what == what])


def degree(costs: Sequence[int]) -> int | None:
    """1 or 3 when costs at equally spaced lengths are a polynomial of that degree, else None.

    The shortest chain does not count for the linear ones: zeros at the base fold away. Cubic: the
    last third differences are positive and equal within a tenth.
    """
    if not np.diff(costs, 2)[1:].any():
        return 1
    third = np.diff(costs, 3)[-2:]
    return 3 if third.min() > 0.9 * third.max() > 0 else None


def _claim(growth: Growth) -> Claim:
    linear = growth.method == OURS[growth.what]
    assert growth.instructions is not None  # all of these are our own programs
    order, what = (1, "four links more") if linear else (3, "third differences")
    numbers = ", ".join(map(str, np.diff(growth.instructions, order)[-2:]))
    times = "" if growth.time_exponent is None else f", of the time {growth.time_exponent:.2f}"
    lengths = growth.lengths
    return Claim(
        f"{FIGURES[growth.what]}, {growth.what}, {growth.chain}, {growth.method}",
        PAPER[linear],
        f"instructions, {what}: {numbers}; fitted exponent {growth.exponent:.2f}{times}",
        degree(growth.instructions) == (1 if linear else 3),
        f"exponents over the longer half of {lengths[0]} to {lengths[-1]} links (the paper: 2 to "
        "24), where lower powers still count",
    )


def _plot(section: Section, studio: Studio, figure: str, growths: Sequence[Growth]) -> None:
    timed = growths[0].seconds is not None
    caption = f"{figure}: {growths[0].what} over the number of links"
    name = f"chignoli_{figure.lower().replace('. ', '')}"
    chains = list(dict.fromkeys(growth.chain for growth in growths))
    with studio.plot(section, name, caption, 2 if timed else 1, len(chains)) as axes:
        for column, chain in enumerate(chains):
            for growth in (g for g in growths if g.chain == chain):
                label = f"{growth.method} (∝ N^{growth.exponent:.2f})"
                axes[0, column].plot(growth.lengths, growth.instructions, "o-", ms=3, label=label)
                if growth.seconds is not None:
                    times = 1e6 * np.array(growth.seconds)
                    axes[1, column].plot(growth.lengths, times, "o-", ms=3)
                    axes[1, column].set(ylabel="µs per call")
            axes[0, column].set(title=chain, ylabel="instructions")
            axes[0, column].legend(fontsize=7)
            axes[-1, column].set(xlabel="links")
