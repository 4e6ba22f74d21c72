"""Efforts within their limits that change no faster than the drives should be made to. No ROS here.

Efforts of computed torque belong together: those of the wrist hold it against what those of the
shoulder do to it. If one of them is cut off, light joints are thrown about by those that are not.
So what is asked for is kept as well as the limits allow: as accelerations, not as efforts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..actuation.force_distribution import nearest
from ..arrays import Array
from ..errors import ClosedLoopError


class EffortRange:
    """What may follow the last efforts.

    Args:
        step: (p,) largest change from one cycle to the next [N or N·m]; infinite: any.
        most: (p,) largest efforts [N or N·m].
        speeds: (n_y,) of independent joints [rad/s or m/s]: accelerations count as shares of them.
    """

    def __init__(self, step: Array, most: Array, speeds: Array) -> None:
        self._step = step
        self._most = most
        self._weights = np.where(np.isfinite(speeds), 1.0 / speeds, 1.0)[:, None]
        self._last: Array | None = None

    def begin(self, efforts: Array | None) -> None:
        """The efforts that act now, (p,); None: whatever comes first."""
        self._last = efforts

    @property
    def cycles_to_zero(self) -> float:
        """How long it takes to take back what was said last."""
        last = self._last
        return 0.0 if last is None else float((np.abs(last) / self._step).max(initial=0.0))

    def limited(self, efforts: Array, answer: Callable[[], Array] | None = None) -> Array:
        """(p,) efforts in the range that give the robot nearly the accelerations of these.

        Args:
            answer: gives the (m, p) accelerations of unit efforts; None: nothing is known of the
                robot, and all efforts go the same share of their way.
        """
        lower, upper = -self._most, self._most
        if self._last is not None:
            lower = np.clip(self._last - self._step, lower, upper)
            upper = np.clip(self._last + self._step, -self._most, upper)
        if ((efforts < lower) | (efforts > upper)).any():
            efforts = self._nearest(efforts, lower, upper, answer)
        self._last = efforts
        return efforts

    def _nearest(
        self, efforts: Array, lower: Array, upper: Array, answer: Callable[[], Array] | None
    ) -> Array:
        if answer is not None:
            try:
                A = self._weights * answer()
                return np.clip(nearest(A, A @ efforts, lower, upper), lower, upper)
            except ClosedLoopError:  # nobody knows what the robot would do: as without an answer
                pass
        efforts = np.clip(efforts, -self._most, self._most)
        if self._last is None:
            return efforts
        change = efforts - self._last
        return self._last + change / max(1.0, float((np.abs(change) / self._step).max()))
