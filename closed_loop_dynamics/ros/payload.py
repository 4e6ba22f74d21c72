"""The payload parameters of a node: which link carries, what, and the vector for the dynamics.

The link is chosen when the node is configured (its programs are compiled then); mass, centre of
mass and inertia may be set at any time, and a value that no body can have is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from rcl_interfaces.msg import SetParametersResult
from rclpy.parameter import Parameter

from ..arrays import Array
from ..errors import ClosedLoopError
from ..robot import Robot
from ..simulation.payload import Payload
from .parameters import DOUBLES, NodeParameters, ParameterError, Spec

PAYLOAD = (
    Spec("payload_link", "", "link that carries a payload; empty: none ever does"),
    Spec("payload_mass", 0.0, "its mass, settable at run time [kg]", 0.0, 1e6, live=True),
    Spec("payload_com", DOUBLES, "its centre of mass in the link frame [m]", live=True),
    Spec("payload_inertia", DOUBLES, "ixx ixy ixz iyy iyz izz about it [kg·m²]", live=True),
)
#: What is carried, as opposed to by what.
BODY = ("payload_mass", "payload_com", "payload_inertia")


class CarriedPayload:
    """What a node's robot carries.

    Attributes:
        parameters: (parameters,) for ``inverse_dynamics(..., parameters=...)``; None: no payload.
    """

    def __init__(self, node: Any, values: NodeParameters) -> None:
        self.parameters: Array | None = None
        self._values = values
        self._robot: Robot | None = None
        self._link = ""
        node.add_on_set_parameters_callback(self._check)
        # Humble knows only the callback before the change; what it accepts is applied there.
        self._at_once = not hasattr(node, "add_post_set_parameters_callback")
        if not self._at_once:
            node.add_post_set_parameters_callback(self._apply)

    def configure(self, robot: Robot) -> None:
        """Read the parameters for a robot that has been loaded.

        Raises:
            ClosedLoopError: there is no such link, no such body, or a body and no link.
        """
        self._link, self._robot = self._values["payload_link"], None
        self.parameters = None
        self._need_link({name: self._values[name] for name in BODY})
        if self._link:
            self.parameters = self._vector(robot, {})
            self._robot = robot

    def _need_link(self, values: dict[str, Any]) -> None:
        """Without a link a payload would be accepted and do nothing."""
        given = [name for name in BODY if np.any(values.get(name) or 0.0)]
        if given and not self._link:
            raise ParameterError(
                f"parameter '{given[0]}' is given without 'payload_link': name the link that "
                "carries the payload (it is read when the node is configured)"
            )

    def _vector(self, robot: Robot, changes: dict[str, Any]) -> Array:
        def value(name: str) -> Any:
            return changes.get(name, self._values[name])

        com = list(value("payload_com") or ()) or [0.0] * 3
        numbers = list(value("payload_inertia") or ()) or [0.0] * 6
        if len(numbers) != 6:
            raise ParameterError(f"parameter 'payload_inertia': {len(numbers)} numbers, not 6")
        xx, xy, xz, yy, yz, zz = numbers
        inertia = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        payload = Payload(value("payload_mass"), com, inertia)
        return robot.parameters_with({self._link: payload})

    def _check(self, changes: list[Parameter]) -> SetParametersResult:
        new = {change.name: change.value for change in changes}
        try:
            if self._values.locked:
                self._need_link(new)
            if self._robot is not None:
                parameters = self._vector(self._robot, new)
                if self._at_once:
                    self.parameters = parameters
        except ClosedLoopError as error:
            return SetParametersResult(successful=False, reason=str(error))
        return SetParametersResult(successful=True)

    def _apply(self, changes: list[Parameter]) -> None:
        if self._robot is not None and any(c.name.startswith("payload_") for c in changes):
            self.parameters = self._vector(self._robot, {})
