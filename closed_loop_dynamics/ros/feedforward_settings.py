"""What the feedforward node can be told: its parameters, and what follows from them."""

from __future__ import annotations

import numpy as np

from ..arrays import Array
from ..motion.trajectory import Spline
from ..motion.trajectory_check import Checker, Rules
from .parameters import DOUBLES, NodeParameters, ParameterError, Spec
from .payload import PAYLOAD

FEEDFORWARD, MEASURED = "feedforward", "measured"

SETTINGS = (
    Spec("mode", FEEDFORWARD, "state of the efforts", choices=(FEEDFORWARD, MEASURED)),
    Spec("control_rate", 500.0, "commands per second [Hz]", 1.0, 10000.0),
    Spec("thread_priority", 0, "real-time priority of the control thread; 0: none", 0, 98),
    Spec("lockstep", False, "answer each actuator_states message, in place of a timer"),
    Spec("hold_compensation", True, "efforts for the middle of the period they are held"),
    Spec("feedback_frequency", 0.0, "measured mode: stiffness of feedback [rad/s]", 0.0, 1000.0),
    Spec("initial_position", DOUBLES, "independent joints; empty: as measured [rad or m]"),
    Spec("state_timeout", 0.1, "older measurements are not used [s]", 0.001, 60.0),
    Spec("max_jump", 0.2, "largest believable step of a measurement [rad or m]", 1e-6, 100.0),
    Spec("limit_tolerance", 0.05, "share of its range a joint may leave it by", 0.0, 10.0),
    Spec("min_singular_value", 1e-3, "refuse trajectories nearer to a singularity", 0.0, 1.0),
    Spec("max_start_jump", 0.1, "refuse a trajectory that starts further away", 0.0, 100.0),
    Spec("allow_nonzero_velocity_at_trajectory_end", False, "the last point may move"),
    Spec("trajectory_period", 0.01, "spacing of checked and mapped samples [s]", 1e-4, 1.0),
    Spec("publish_joint_states", True, "publish the commanded spanning tree"),
    Spec("publish_markers", False, "publish cut points, residuals and forces for RViz"),
    Spec("marker_rate", 20.0, "markers per second [Hz]", 0.1, 100.0),
    *PAYLOAD,
)


def rules(p: NodeParameters) -> Rules:
    """What a trajectory must respect."""
    return Rules(
        min_singular_value=p["min_singular_value"],
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
