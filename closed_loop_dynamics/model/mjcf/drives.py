"""Which joints the actuators of an MJCF drive.

Their gains, gears and limits turn a control signal into a force; a force at the joint is what is
given here. A fixed tendon over joints that a linear equality couples drives them as one.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..remark import Remark
from ..submechanism import Coupling
from ..urdf.unread import shortened
from .tendons import WRAP_JOINT, wraps
from .tree import BALL, FREE, MjcfTree

_AT_JOINT, _AT_TENDON = (0, 1), 3


def driven_joints(
    parts: MjcfTree, couplings: Sequence[Coupling]
) -> tuple[list[str] | None, list[Remark]]:
    """Names in the order of the actuators, None where the file has none; and what is to be said."""
    model = parts.model
    if model.nu == 0:
        message = "the file has no actuators: all independent joints are taken to be driven"
        return None, [Remark("info", "actuators-assumed", message)]
    driven: list[str] = []
    remarks: list[Remark] = []
    unread: list[str] = []
    for a in range(model.nu):
        name = model.actuator(a).name or f"actuator {a}"
        kind, target = int(model.actuator_trntype[a]), int(model.actuator_trnid[a][0])
        joint = None
        if kind in _AT_JOINT and model.jnt_type[target] not in (FREE, BALL):
            joint = parts.joints[target]
        elif kind == _AT_TENDON:
            joint = _tendon_joint(parts, target, couplings)
            if joint is not None:
                message = f"'{name}' pulls a tendon over coupled joints: a force at '{joint}' here"
                remarks.append(Remark("info", "tendon-as-joint", message))
        if joint is None:
            unread.append(name)
        elif joint not in driven:
            driven.append(joint)
    if unread:
        message = (
            f"what {shortened(unread)} drives is not read: only hinges, sliders and fixed tendons "
            "over joints that a linear equality couples"
        )
        remarks.append(Remark("warning", "unread-actuator", message))
    return driven, remarks


def _tendon_joint(parts: MjcfTree, tendon: int, couplings: Sequence[Coupling]) -> str | None:
    """The joint that stands for a fixed tendon: the first one, if the others are coupled to it."""
    names = [parts.joints[j] for j in wraps(parts, tendon, WRAP_JOINT)]
    if not names:
        return None
    tied = [{c.joint, *c.terms} for c in couplings]
    together = {names[0]}
    for _ in tied:
        together = together.union(*(tie for tie in tied if tie & together))
    return names[0] if together.issuperset(names) else None
