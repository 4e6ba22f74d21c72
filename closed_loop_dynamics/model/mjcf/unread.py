"""What an MJCF says about forces and nobody uses: named in the report."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..remark import Remark
from ..urdf.unread import shortened
from .springs import is_joint_spring, is_straight_spring
from .tree import BALL, FREE, MjcfTree

_GRAVITY = (0.0, 0.0, -9.81)


def remarks_on_model(parts: MjcfTree) -> Iterator[Remark]:
    """One for each kind of thing; contacts and what looks and sensors need are left alone."""
    model = parts.model
    free = [j for j in parts.joints if model.jnt_type[j] in (FREE, BALL)]
    springs = [j for j in parts.joints if _any(model, "jnt_stiffness", j)]
    springs += [j for j in parts.joints if _any(model, "jnt_stiffnesspoly", j) and j not in springs]
    others = [j for j in springs if not is_joint_spring(model, j)]
    yield from _named(parts, "unread-spring", "the spring (of a ball, free, or nonlinear)", others)
    curved = [j for j in parts.joints if _any(model, "dof_dampingpoly", model.jnt_dofadr[j])]
    yield from _named(parts, "unread-friction", "the nonlinear damping", curved)
    loose = [j for j in free if any(_of_dofs(parts, j, k) for k in ("damping", "frictionloss"))]
    yield from _named(parts, "unread-friction", "the friction", loose)
    for j in free:
        if _of_dofs(parts, j, "armature"):
            raise parts.error(
                f"joint '{parts.joints[j]}'",
                "armature of a ball or free joint is not read",
                "write it into the inertia of the bodies",
            )
    tendons = [t for t in range(model.ntendon) if _pulls(model, t)]
    if tendons:
        names = [model.tendon(t).name or f"tendon {t}" for t in tendons]
        message = (
            f"stiffness, friction and inertia of {shortened(names)} are not used, but for linear "
            "springs straight between two sites"
        )
        yield Remark("warning", "unread-tendon", message)
    heavy = [a for a in range(model.nu) if _any(model, "actuator_armature", a)]
    heavy += [a for a in range(model.nu) if _any(model, "actuator_damping", a)]
    if heavy:
        names = [model.actuator(a).name or f"actuator {a}" for a in heavy]
        message = (
            f"armature and damping of {shortened(names)} are not used: write them at the joint"
        )
        yield Remark("warning", "unread-actuator", message)
    floating = [parts.body_names[b] for b in range(1, model.nbody) if model.body_gravcomp[b]]
    if floating:
        message = f"gravcomp of {shortened(floating)} is not used"
        yield Remark("warning", "unread-force", message)
    if model.opt.density or model.opt.viscosity:
        yield Remark("warning", "unread-force", "density and viscosity of the medium are not used")
    if not np.allclose(model.opt.gravity, _GRAVITY):
        given = ", ".join(f"{g:g}" for g in model.opt.gravity)
        message = f"gravity of the file is not used: give load(..., gravity=({given}))"
        yield Remark("warning", "unread-gravity", message)


def _named(parts: MjcfTree, code: str, what: str, joints: list[int]) -> Iterator[Remark]:
    names = [parts.joints[j] for j in joints]
    if names:
        yield Remark("warning", code, f"{what} of {shortened(names)} is not used")


def _of_dofs(parts: MjcfTree, j: int, what: str) -> bool:
    """Whether a ball or free joint has a number other than zero."""
    model = parts.model
    first = int(model.jnt_dofadr[j])
    count = 6 if model.jnt_type[j] == FREE else 3
    return bool(np.any(getattr(model, f"dof_{what}")[first : first + count]))


def _pulls(model: object, t: int) -> bool:
    pulls = not is_straight_spring(model, t) and any(
        _any(model, f"tendon_{key}", t) for key in ("stiffness", "stiffnesspoly")
    )
    keys = ("damping", "dampingpoly", "frictionloss", "armature")
    return pulls or any(_any(model, f"tendon_{key}", t) for key in keys)


def _any(model: object, key: str, at: int) -> bool:
    """Whether an array of the model, which older versions may lack, is not zero there."""
    values = getattr(model, key, None)
    return values is not None and bool(np.any(values[at]))
