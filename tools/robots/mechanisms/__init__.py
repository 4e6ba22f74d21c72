"""A library of mechanisms as examples: each one a URDF and a submechanism file, from dimensions.

``urdf, yaml = MECHANISMS["four_bar"].build(crank=0.1)``, then ``load(urdf, yaml)``. What each one
is, with a drawing, is in ``docs/mechanisms``; ``python -m tools.robots.mechanisms``
writes those pages.
"""

from __future__ import annotations

from . import (
    active_ankle,
    antiparallelogram,
    belt_pair,
    differential,
    four_bar,
    geared_rotor,
    irsbot_4u,
    lambda_rrpr,
    parallelogram,
    parallelogram_chain,
    pus2_u,
    rrr3,
    rus6,
    sprr2_u,
    spu2_u,
    ups6,
    wrist,
)
from .description import Example

__all__ = ["MECHANISMS", "Example"]

#: Name -> mechanism: planar loops, universal platforms, more freedom, couplings.
MECHANISMS: dict[str, Example] = {
    module.MECHANISM.name: module.MECHANISM
    for module in (
        four_bar,
        parallelogram,
        antiparallelogram,
        lambda_rrpr,
        parallelogram_chain,
        spu2_u,
        sprr2_u,
        pus2_u,
        wrist,
        rrr3,
        active_ankle,
        ups6,
        rus6,
        irsbot_4u,
        geared_rotor,
        belt_pair,
        differential,
    )
}
