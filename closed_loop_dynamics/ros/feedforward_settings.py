"""What the feedforward node can be told: its parameters, and what follows from them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..arrays import Array
from ..inspection.drive import DRIVE_BAR
from ..model.joint_limits import Limits
from ..motion.feedback import ActuatorFeedback, Feedback
from ..motion.manner import Manner
from ..motion.policy import Policy
from ..motion.streaming import StreamManner
from ..motion.trajectory import Spline
from ..motion.trajectory_check import Checker, Rules
from ..robot import Robot
from .parameters import DOUBLES, NodeParameters, ParameterError, Spec
from .payload import PAYLOAD

FEEDFORWARD, MEASURED = "feedforward", "measured"
INDEPENDENT, ACTUATOR = "independent", "actuator"

SETTINGS = (
    Spec("mode", FEEDFORWARD, "state of the efforts", choices=(FEEDFORWARD, MEASURED)),
    Spec("control_rate", 500.0, "commands per second [Hz]", 1.0, 10000.0),
    Spec("thread_priority", 0, "real-time priority of the control thread; 0: none", 0, 98),
    Spec("lockstep", False, "answer each actuator_states message, in place of a timer"),
    Spec("hold_compensation", True, "efforts for the middle of the period they are held"),
    Spec("feedback_frequency", 0.0, "measured mode: stiffness of feedback [rad/s]", 0.0, 1000.0),
    Spec("feedback_space", INDEPENDENT, "joints of the gains", choices=(INDEPENDENT, ACTUATOR)),
    Spec("velocity_filter", 50.0, "cut-off of speeds by differences [Hz]; 0: zero", 0.0, 1e4),
    Spec("initial_position", DOUBLES, "independent joints; empty: as measured [rad or m]"),
    Spec("state_timeout", 0.1, "older measurements prove nothing [s]", 0.001, 60.0),
    Spec("max_jump", 0.2, "largest step of a measurement beyond its speed [rad or m]", 1e-6, 100.0),
    Spec("patience", 0.5, "start anew after nothing believable for [s]", 0.0, 3600.0),
    Spec("limit_tolerance", 0.05, "share of its range a joint may leave it by", 0.0, 10.0),
    Spec("min_singular_value", 1e-3, "refuse trajectories nearer to a singularity", 0.0, 1.0),
    Spec("min_drive_margin", DRIVE_BAR, "refuse trajectories nearer to a dead point", 0.0, 1.0),
    Spec("max_start_jump", 0.1, "refuse a trajectory that starts further away", 0.0, 100.0),
    Spec("start_tolerance", 0.02, "further away, a motion begins at the robot", 0.0, 100.0),
    Spec("allow_nonzero_velocity_at_trajectory_end", False, "the last point may move"),
    Spec("trajectory_follower", False, "a controller follows ~/actuator_trajectory, by the clock"),
    Spec("trajectory_period", 0.01, "spacing of checked and mapped samples [s]", 1e-4, 1.0),
    Spec("publish_joint_states", True, "publish the commanded spanning tree"),
    Spec("joint_states_rate", 100.0, "joint_states per second, at most [Hz]", 0.1, 10000.0),
    Spec("state_publish_rate", 50.0, "controller_state per second [Hz]; 0: none", 0.0, 1000.0),
    Spec("publish_markers", False, "publish cut points, residuals and forces for RViz"),
    Spec("marker_rate", 20.0, "markers per second [Hz]", 0.1, 100.0),
    Spec("action_monitor_rate", 20.0, "feedback and results of goals per second [Hz]", 0.1, 1000.0),
    Spec("path_tolerance", 0.2, "distance of a joint from its reference [rad or m]", 0.0, 100.0),
    Spec("constraints.goal_time", 0.0, "to settle at the goal [s]; 0: any time", 0.0, 3600.0),
    Spec("constraints.stopped_velocity_tolerance", 0.01, "speed of a joint at rest", 0.0, 100.0),
    Spec("overspeed", 1.5, "speed that is out of control, as a multiple of the limit", 1.0, 100.0),
    Spec("max_effort_rate", 20.0, "change of efforts, in limits per second [1/s]", 0.01, 1e6),
    Spec("stop_time", 0.3, "within which a motion comes to rest [s]", 0.001, 60.0),
    Spec("damping_frequency", 30.0, "speeds die out with this while damping [1/s]", 0.0, 1000.0),
    Spec("damping_time", 1.0, "of damping before all efforts cease [s]", 0.0, 3600.0),
    Spec("calm_time", 0.2, "known and calm for so long before holding again [s]", 0.0, 3600.0),
    Spec("stream.acceleration_time", 0.3, "to the speed limit, for streams [s]", 0.001, 60.0),
    Spec("stream.jerk_time", 0.05, "to full acceleration, for streams [s]", 0.001, 60.0),
    Spec("stream.timeout", 0.2, "a stream without a message has ended after [s]", 0.001, 60.0),
    Spec("impedance.timeout", 0.1, "an impedance command counts for [s]", 0.001, 60.0),
    *PAYLOAD,
)


def joint_settings(p: NodeParameters, robot: Robot) -> tuple[Spec, ...]:
    """The parameters that each independent joint has, and each joint that has feedback."""
    gains = (
        spec
        for name in _feedback_names(p, robot)
        for spec in (
            Spec(f"gains.{name}.frequency", 0.0, "[rad/s]; 0: feedback_frequency", 0.0, 1000.0),
            Spec(f"gains.{name}.damping", 1.0, "ratio; 1: critical", 0.0, 100.0),
            Spec(f"gains.{name}.integral", 0.0, "[1/s]; 0: none", 0.0, 1000.0),
        )
    )
    return (*gains, *_constraints(robot.names.independent))


def _feedback_names(p: NodeParameters, robot: Robot) -> Sequence[str]:
    in_actuators = p["feedback_space"] == ACTUATOR
    return robot.names.actuator if in_actuators else robot.names.independent


def feedback(p: NodeParameters, robot: Robot) -> Feedback:
    """Of each independent joint, or of each actuator."""
    names = _feedback_names(p, robot)
    frequency, damping, integral = (
        np.array([p[f"gains.{name}.{what}"] for name in names])
        for what in ("frequency", "damping", "integral")
    )
    frequency = np.where(frequency > 0.0, frequency, p["feedback_frequency"])
    gains = frequency, damping, integral, 1.0 / p["control_rate"]
    return ActuatorFeedback(robot, *gains) if p["feedback_space"] == ACTUATOR else Feedback(*gains)


def _constraints(names: Sequence[str]) -> tuple[Spec, ...]:
    return tuple(
        Spec(f"constraints.{name}.{what}", 0.0, f"{text} of {name}; 0: {default}", 0.0, 100.0)
        for name in names
        for what, text, default in (
            ("trajectory", "distance from the reference", "path_tolerance"),
            ("goal", "distance from the goal at the end", "not looked at"),
        )
    )


def policy(p: NodeParameters, limits: Limits) -> Policy:
    """When the robot counts as disobedient."""
    path, goal = (
        np.array([p[f"constraints.{name}.{what}"] for name in limits.names])
        for what in ("trajectory", "goal")
    )
    return Policy(
        names=limits.names,
        path=np.where(path > 0.0, path, p["path_tolerance"] or np.inf),
        goal=np.where(goal > 0.0, goal, np.inf),
        fastest=p["overspeed"] * limits.velocity,
        goal_time=p["constraints.goal_time"] or np.inf,
        stopped=p["constraints.stopped_velocity_tolerance"] or np.inf,
        timeout=p["state_timeout"],
        damping_time=p["damping_time"],
        calm_time=p["calm_time"],
    )


def manner(p: NodeParameters) -> Manner:
    """How the controller acts."""
    period = 1.0 / p["control_rate"]
    return Manner(
        period=period,
        lead=0.5 * period if p["hold_compensation"] else 0.0,
        stop_time=p["stop_time"],
        damping=p["damping_frequency"],
        needs_measurement=p["mode"] == MEASURED,
        timeless=p["lockstep"],
    )


def stream_manner(p: NodeParameters) -> StreamManner:
    """How a stream of references is followed."""
    return StreamManner(
        acceleration_time=p["stream.acceleration_time"],
        jerk_time=p["stream.jerk_time"],
        timeout=p["stream.timeout"],
        stop_time=p["stop_time"],
    )


def rules(p: NodeParameters) -> Rules:
    """What a trajectory must respect."""
    return Rules(
        min_singular_value=p["min_singular_value"],
        min_drive_margin=p["min_drive_margin"],
        moving_end=p["allow_nonzero_velocity_at_trajectory_end"],
        max_start_jump=p["max_start_jump"],
        period=p["trajectory_period"],
    )


def initial_position(p: NodeParameters, checker: Checker) -> Array | None:
    """(m,) where the robot is before the first command; None: as measured.

    Raises:
        ClosedLoopError: the robot cannot be there.
    """
    given, names = p["initial_position"], checker.robot.names.independent
    if not given:
        return None
    if len(given) != len(names):
        raise ParameterError(
            f"parameter 'initial_position': {len(given)} numbers for {len(names)} joints "
            f"({', '.join(names)})"
        )
    y = np.array(given)
    checker.check(Spline.resting(y, 0.0), 0.0)
    return y
