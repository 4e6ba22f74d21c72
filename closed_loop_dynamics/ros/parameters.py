"""Parameters with descriptions and ranges, declared from one table per node.

A bad value given at start-up (wrong type, out of range) does not kill the node: it is remembered,
and the node refuses to configure until the parameter is set to something good. An integer is taken
where a real number is meant. While the node is configured only parameters that it reads live may
change; the others are refused, so that what a parameter says is what the node does.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from rcl_interfaces.msg import (
    FloatingPointRange,
    IntegerRange,
    ParameterDescriptor,
    SetParametersResult,
)
from rclpy.exceptions import ParameterException, ParameterUninitializedException
from rclpy.node import Node
from rclpy.parameter import Parameter

from ..errors import ClosedLoopError, did_you_mean

#: Defaults for lists that are empty unless given.
DOUBLES = Parameter.Type.DOUBLE_ARRAY
STRINGS = Parameter.Type.STRING_ARRAY


class ParameterError(ClosedLoopError):
    """A parameter has a value that the node cannot work with."""


@dataclass(frozen=True)
class Spec:
    """One parameter.

    Attributes:
        default: its value, or ``DOUBLES`` / ``STRINGS`` for a list that is empty by default.
        text: description with unit.
        low, high: inclusive range of a number.
        choices: allowed words.
        live: may change while the node is configured.
    """

    name: str
    default: Any
    text: str
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()
    live: bool = False


class NodeParameters:
    """The declared parameters of a node; read when it is configured.

    Attributes:
        locked: the node is configured.
    """

    def __init__(self, node: Node, specs: Iterable[Spec]) -> None:
        self._node = node
        self._specs: dict[str, Spec] = {}
        self._problems: dict[str, str] = {}
        self.locked = False
        self.add(specs)
        node.add_on_set_parameters_callback(self._on_set)

    def add(self, specs: Iterable[Spec]) -> None:
        """Declare more of them, such as those of joints, which are known late."""
        for spec in specs:
            if spec.name not in self._specs:
                self._specs[spec.name] = spec
                self._declare(spec)

    def __getitem__(self, name: str) -> Any:
        value = self._node.get_parameter(name).value
        return list(value) if self._specs[name].default in (DOUBLES, STRINGS) else value

    def get(self, name: str, default: Any) -> Any:
        """Of a parameter that the node may not have."""
        return self[name] if name in self._specs else default

    def check(self) -> None:
        """Raise for the first parameter with a bad value.

        Raises:
            ParameterError: with its name and what is allowed.
        """
        for problem in self._problems.values():
            raise ParameterError(problem)
        for spec in self._specs.values():
            problem = _wrong_word(spec, self[spec.name])
            if problem:
                raise ParameterError(problem)

    def _declare(self, spec: Spec) -> None:
        try:
            self._node.declare_parameter(spec.name, spec.default, _descriptor(spec))
            self._give_value(spec)
        except ParameterException as error:
            given = self._given(spec.name)
            self._node.declare_parameter(
                spec.name, spec.default, _descriptor(spec), ignore_override=True
            )
            self._give_value(spec)
            if not self._set_as_real(spec, given):
                self._problems[spec.name] = f"parameter '{spec.name}': {error}"

    def _give_value(self, spec: Spec) -> None:
        """A list that was not given is empty, and not without a value.

        rclpy takes a default of [] for bytes, so a list is declared by its type alone. But one
        parameter without a value makes the answer to everything ``ros2 param dump`` asks for empty.
        """
        if spec.default not in (DOUBLES, STRINGS):
            return
        try:
            self._node.get_parameter(spec.name)
        except ParameterUninitializedException:
            self._node.set_parameters([Parameter(spec.name, spec.default, [])])

    def _given(self, name: str) -> Any:
        """What was given at start-up for a parameter that is not declared yet, of any type."""
        anything = ParameterDescriptor(dynamic_typing=True)
        value = self._node.declare_parameter(name, None, anything).value
        self._node.undeclare_parameter(name)
        return value

    def _set_as_real(self, spec: Spec, value: Any) -> bool:
        if isinstance(spec.default, float) and isinstance(value, int):
            value = float(value)
        elif spec.default == DOUBLES and isinstance(value, (list, tuple)) and _numbers(value):
            value = [float(x) for x in value]
        else:
            return False
        return bool(self._node.set_parameters([Parameter(spec.name, value=value)])[0].successful)

    def _on_set(self, changes: list[Parameter]) -> SetParametersResult:
        for change in changes:
            spec = self._specs.get(change.name)
            problem = _wrong_word(spec, change.value) if spec else ""
            problem = problem or self._too_late(change)
            if problem:
                return SetParametersResult(successful=False, reason=problem)
        for change in changes:
            self._problems.pop(change.name, None)
        return SetParametersResult(successful=True)

    def _too_late(self, change: Parameter) -> str:
        spec = self._specs.get(change.name)
        fixed = change.name == "use_sim_time" if spec is None else not spec.live
        if not self.locked or not fixed:
            return ""
        value, now = change.value, self._node.get_parameter_or(change.name).value
        if spec is not None and spec.default in (DOUBLES, STRINGS):
            value, now = list(value or ()), self[change.name]
        if value == now:
            return ""
        return (
            f"parameter '{change.name}' is read when the node is configured: deactivate and clean "
            "up first, then set it and configure again"
        )


def _numbers(values: Iterable[Any]) -> bool:
    return all(isinstance(x, (int, float)) and not isinstance(x, bool) for x in values)


def _wrong_word(spec: Spec, value: Any) -> str:
    if not spec.choices or value in spec.choices:
        return ""
    return f"parameter '{spec.name}': '{value}'; {did_you_mean(str(value), spec.choices)}"


def _descriptor(spec: Spec) -> ParameterDescriptor:
    descriptor = ParameterDescriptor(description=spec.text)
    if spec.choices:
        descriptor.additional_constraints = "one of " + ", ".join(spec.choices)
    if spec.low is None or spec.high is None:
        return descriptor
    if isinstance(spec.default, int):
        bounds = IntegerRange(from_value=int(spec.low), to_value=int(spec.high), step=1)
        descriptor.integer_range = [bounds]
    else:
        limits = FloatingPointRange(from_value=float(spec.low), to_value=float(spec.high))
        descriptor.floating_point_range = [limits]
    return descriptor


#: Of every node.
COMMON = (
    Spec("autostart", True, "configure and activate without being asked"),
    Spec("robot_description", "", "the URDF as text"),
    Spec("urdf_file", "", "path of the URDF, in place of robot_description"),
    Spec("submechanism_file", "", "path of the submechanism file; empty: no closed loops"),
    Spec("submechanisms", "", "the submechanism file as text, in place of submechanism_file"),
    Spec("search_path", STRINGS, "folders in which the submechanism file's file_path is looked up"),
    Spec("diagnostics_period", 1.0, "time between diagnostics [s]", 0.05, 60.0),
)
