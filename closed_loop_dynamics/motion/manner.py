"""How the controller acts: times and strengths that its parameters give. No ROS in here."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Manner:
    """How the controller acts.

    Attributes:
        period: of the cycle [s].
        lead: efforts are those of the reference this much later [s].
        stop_time: within which the reference comes to rest [s].
        damping: frequency with which speeds die out while it is damped [1/s].
        compensating: the same while a hand leads the robot.
        fresh: age up to which a measurement counts fully, as a multiple of the period; from there
            to the supervisor's timeout it counts less and less.
        needs_measurement: no proof, no motion, from the first cycle on.
        timeless: measurements do not age (lockstep: time waits for them).
    """

    period: float
    lead: float = 0.0
    stop_time: float = 0.3
    damping: float = 30.0
    compensating: float = 2.0
    fresh: float = 5.0
    needs_measurement: bool = False
    timeless: bool = False
