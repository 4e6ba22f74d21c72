"""What the simulator can be told: its parameters, and what follows from them."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..robot import Robot
from ..simulation.plant import Physics
from .parameters import DOUBLES, STRINGS, NodeParameters, ParameterError, Spec
from .payload import PAYLOAD

SETTINGS = (
    Spec("control_rate", 500.0, "states per second [Hz]", 1.0, 10000.0),
    Spec("step", 1e-3, "integration step [s]", 1e-6, 0.1),
    Spec("lockstep", False, "advance on commands and publish /clock, in place of a timer"),
    Spec("lockstep_timeout", 0.5, "repeat states without an answer after [s]", 0.01, 60.0),
    Spec("publish_clock", False, "real time: be the source of /clock"),
    Spec("real_time_factor", 1.0, "simulated per real second; needs publish_clock", 0.01, 100.0),
    Spec("command_timeout", 0.02, "real time: commands act for [s], or three periods", 0.001, 60.0),
    Spec("fallback", "hold", "without commands", choices=("hold", "limp")),
    Spec("hold_frequency", 20.0, "stiffness of the fallback [rad/s]", 0.1, 500.0),
    Spec("initial_position", DOUBLES, "independent joints; empty: all zero [rad or m]"),
    Spec("floating_base", False, "nothing holds the root link"),
    Spec("initial_base_pose", DOUBLES, "floating base: x, y, z, quaternion x, y, z, w"),
    Spec("world_frame", "world", "floating base: frame of its pose"),
    Spec("clip_effort", True, "keep efforts within the limits of the URDF"),
    Spec(
        "limit_speed",
        True,
        "hold back efforts that make joints too fast, or run them into their stops",
    ),
    Spec("end_stops", True, "stop at the position limits of the independent joints"),
    Spec("friction_joints", STRINGS, "spanning joints with friction"),
    Spec("viscous_friction", DOUBLES, "one per friction joint [N·m·s/rad or N·s/m]"),
    Spec("coulomb_friction", DOUBLES, "one per friction joint [N·m or N]"),
    Spec("wrench_timeout", 0.2, "a wrench acts for [simulated s]; 0: for ever", 0.0, 3600.0),
    Spec("publish_markers", False, "publish cut points, residuals and forces for RViz"),
    Spec("marker_rate", 20.0, "markers per second [Hz]", 0.1, 100.0),
    *PAYLOAD,
)


def check_times(p: NodeParameters, period: float, own_time: bool, use_sim_time: bool) -> None:
    """Refuse settings of time that contradict each other."""
    steps = period / p["step"]
    if round(steps) < 1 or abs(steps - round(steps)) > 1e-6 * steps:
        raise ParameterError(
            f"the control period {period:g} s is not a multiple of step {p['step']:g} s"
        )
    if own_time and use_sim_time:
        raise ParameterError("the source of /clock must not run with use_sim_time")
    if p["real_time_factor"] != 1.0 and not own_time:
        raise ParameterError("real_time_factor needs publish_clock")


def physics(p: NodeParameters) -> Physics:
    """The settings of the plant."""
    joints = p["friction_joints"]
    viscous, coulomb = p["viscous_friction"], p["coulomb_friction"]
    for name, values in (("viscous_friction", viscous), ("coulomb_friction", coulomb)):
        if values and len(values) != len(joints):
            raise ParameterError(
                f"parameter '{name}': {len(values)} numbers for {len(joints)} friction_joints"
            )
    return Physics(
        step=p["step"],
        viscous=dict(zip(joints, viscous, strict=False)),
        coulomb=dict(zip(joints, coulomb, strict=False)),
        clip_effort=p["clip_effort"],
        end_stops=p["end_stops"],
        hold_frequency=p["hold_frequency"],
        limit_speed=p["limit_speed"] and p["fallback"] != "limp",  # by drives without power
    )


def initial_position(p: NodeParameters, robot: Robot) -> Array:
    """(n_y,) where the simulation begins."""
    floating = bool(p["floating_base"])
    joints = robot.names.independent[floating:]
    given, base = p["initial_position"], p["initial_base_pose"]
    if given and len(given) != len(joints):
        raise ParameterError(
            f"parameter 'initial_position': {len(given)} numbers for {len(joints)} joints "
            f"({', '.join(joints)})"
        )
    if base and not floating:
        raise ParameterError("parameter 'initial_base_pose' needs floating_base")
    if base and len(base) != 7:
        raise ParameterError(
            f"parameter 'initial_base_pose': {len(base)} numbers, not 7 "
            "(x, y, z, quaternion x, y, z, w)"
        )
    y = robot.mechanism.neutral_y()
    y[: len(base)] = base
    y[len(y) - len(given) :] = given
    return robot.integrate(y, np.zeros(robot.m))  # the quaternion at length one
