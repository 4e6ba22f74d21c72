"""The exception behind a failed check of a native program."""

from __future__ import annotations

from ..arrays import Array
from ..dynamics.catalogue import ACTUATION, FUNCTION, ORIENTATION, RESIDUAL, SPRING
from ..dynamics.springs import directed
from ..errors import (
    ActuationSingular,
    ClosedLoopError,
    ClosureNotFound,
    InvalidInput,
    SingularInertia,
)
from ..mechanism import Mechanism


def check_failure(mech: Mechanism, kind: tuple[str, int], y: Array) -> ClosedLoopError:
    """The exception for check ``(kind, body, component or cluster)`` at positions ``y``."""
    what, index = kind
    if what == ORIENTATION:
        name = mech.joint_name(index)
        return InvalidInput(f"y: the quaternion of '{name}' (x, y, z, w) has no length")
    if what == RESIDUAL:
        name = mech.components[index].entry.name
        return ClosureNotFound(
            f"submechanism '{name}' does not close to tolerance at y = {y}", submechanism=name
        )
    if what == FUNCTION:
        name = mech.components[index].entry.name
        return ClosureNotFound(
            f"submechanism '{name}': its function or a derivative of it is not finite at y = {y}; "
            "stay inside its domain, or let it be defined there",
            submechanism=name,
        )
    if what == SPRING:
        return InvalidInput(
            f"{directed(mech)[index].name} has no length at y = {y}: it pulls in no direction; "
            "stay away from there, or give it ends that do not meet"
        )
    if what == ACTUATION:
        component = mech.components[index]
        joints = ", ".join(mech.joint_name(b) for b in component.active)
        return ActuationSingular(
            f"submechanism '{component.entry.name}': the actuators ({joints}) cannot drive its "
            "independent joints here, G_u has lost rank; stay away from this configuration or "
            "choose other active joints",
            submechanism=component.entry.name,
            y=y.copy(),
        )
    links = [mech.tree.bodies[b].link for b in mech.clusters[index].bodies]
    return SingularInertia(
        f"the reduced inertia of the cluster of links {', '.join(links)} is not positive definite; "
        "give these links (or what they carry) mass and inertia"
    )
