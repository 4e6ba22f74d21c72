"""The feedback law of computed torque: one frequency, critically damped. No ROS in here."""

from __future__ import annotations

from ..arrays import Array


def feedback_acceleration(
    frequency: float, ydd: Array, position_error: Array, velocity_error: Array
) -> Array:
    """ydd (m,) to ask of inverse dynamics so that errors die out like exp(-frequency t).

    Args:
        frequency: stiffness of the feedback [rad/s]; raising it makes errors die out faster and
            noise of the sensors louder; 0: none.
        ydd: (m,) of the wanted motion.
        position_error, velocity_error: (m,) wanted minus measured.
    """
    return ydd + frequency * frequency * position_error + 2.0 * frequency * velocity_error
