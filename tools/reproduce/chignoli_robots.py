"""The six robots of Chignoli et al., Sec. IX, and which of ours stands for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

from ..robots.chains import belt_chain, geared_chain
from ..robots.shipped import SHIPPED


@dataclass(frozen=True)
class Stand:
    """One column of the paper's tables; percentages are relative to the cluster algorithm.

    Attributes:
        paper, ours: the names of the robots.
        floating: on a free base.
        inverse: Table II: approximate, projected RNEA.
        forward: Table III: approximate ABA, projection, Lagrange multipliers.
        osim: Table IV: approximate EFPA, projection.
    """

    paper: str
    ours: str
    generate: Callable[[], tuple[str, str]]
    floating: bool
    inverse: tuple[float, float]
    forward: tuple[float, float, float]
    osim: tuple[float, float]


def stands(quick: bool) -> tuple[Stand, ...]:
    """All six in the paper's order; in haste the two chains with four links in place of twelve."""
    if not quick:
        return SIX
    short = ((SIX[0], geared_chain), (SIX[1], belt_chain))
    return tuple(
        replace(stand, ours=f"{chain.__name__}(4)", generate=partial(chain, 4))
        for stand, chain in short
    )


#: In the paper's order.
SIX = (
    Stand(
        "12 links, geared (GT)",
        "geared_chain(12)",
        partial(geared_chain, 12),
        False,
        (-40.3, 38.0),
        (-34.1, 86.8, 133.1),
        (-35.7, 51.8),
    ),
    Stand(
        "12 links, belts (PBT)",
        "belt_chain(12)",
        partial(belt_chain, 12),
        False,
        (-36.2, 37.8),
        (-34.6, 73.5, 119.8),
        (-52.1, 6.3),
    ),
    Stand(
        "Mini Cheetah",
        "geared_quadruped",
        SHIPPED["geared_quadruped"].generate,
        True,
        (-41.0, 36.7),
        (-35.3, 21.0, 76.3),
        (-28.6, 19.0),
    ),
    Stand(
        "MIT Humanoid",
        "belt_humanoid",
        SHIPPED["belt_humanoid"].generate,
        True,
        (-42.0, 35.9),
        (-38.6, 32.5, 106.2),
        (-37.4, 23.2),
    ),
    Stand(
        "Tello",
        "differential_humanoid",
        SHIPPED["differential_humanoid"].generate,
        True,
        (-59.6, 22.4),
        (-49.4, 22.2, 82.7),
        (-51.4, 7.8),
    ),
    Stand(
        "JVRC-1",
        "geared_humanoid",
        SHIPPED["geared_humanoid"].generate,
        True,
        (-37.7, 36.6),
        (-38.4, 87.3, 212.8),
        (-22.54, 107.4),
    ),
)
