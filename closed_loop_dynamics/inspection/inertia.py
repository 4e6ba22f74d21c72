"""Inertia checks of the linter: what a rigid body cannot have."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..arrays import Array
from ..mechanism import Mechanism
from .report import Finding

#: Relative slack of the triangle inequality: files are rounded.
SLACK = 1e-3


def inertia_findings(mech: Mechanism) -> Iterator[Finding]:
    """Per link: positive, triangle inequality; per body: massless leaves."""
    for link, (mass, _, inertia) in mech.tree.link_inertias.items():
        problem = _problem(mass, inertia)
        if problem:
            yield Finding("warning", "inertia", "", f"link '{link}': {problem}")
    parents = {body.parent for body in mech.tree.bodies}
    for i, body in enumerate(mech.tree.bodies):
        massless = body.mass == 0.0 and not np.any(body.inertia)
        if massless and i not in parents:
            yield Finding(
                "info",
                "massless-leaf",
                "",
                f"link '{body.link}' at the end of a chain has neither mass nor inertia; fine only "
                "when its loop or gear gives it inertia",
            )


def _problem(mass: float, inertia: Array) -> str:
    values = np.linalg.eigvalsh(inertia)
    scale = max(float(np.max(np.abs(values))), 1e-300)
    if mass == 0.0 and not np.any(inertia):
        return ""
    if values[0] < -1e-9 * scale:
        return f"the rotational inertia has a negative principal moment ({values[0]:.3g})"
    if values[2] > (values[0] + values[1]) * (1.0 + SLACK):
        return (
            "the principal moments violate the triangle inequality "
            f"({values[0]:.3g} + {values[1]:.3g} < {values[2]:.3g})"
        )
    if mass > 0.0 and values[0] <= 0.0:
        return "mass without rotational inertia about every axis"
    return ""
