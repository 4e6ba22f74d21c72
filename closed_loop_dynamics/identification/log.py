"""What was measured: motion and actuator forces of a robot over time, made smooth and complete."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..arrays import Array, Vec
from ..errors import InvalidInput

#: Cut-off of the low-pass filter for measured motions [Hz]: motions that people design for
#: identification end near 1 Hz, and what encoder noise adds to accelerations grows with its square.
CUTOFF = 10.0
#: Of the Butterworth filter; it runs forwards and backwards: no phase, twice the order.
ORDER = 4
#: What is left out at both ends, where the filter knows one side only, in periods of the cut-off.
EDGE = 2.0


@dataclass(frozen=True, eq=False)
class Log:
    """A motion and the forces that caused it, one row per time.

    Attributes:
        times: (N,) increasing [s].
        y, yd, ydd: (N, m) positions, velocities, accelerations of the independent joints.
        tau_u: (N, p) measured forces of the actuators [N or N m].
    """

    times: Array
    y: Array
    yd: Array
    ydd: Array
    tau_u: Array

    def __post_init__(self) -> None:
        _check(self.times, y=self.y, yd=self.yd, ydd=self.ydd, tau_u=self.tau_u)

    @property
    def period(self) -> float:
        """Mean time between two rows [s]."""
        return float(self.times[-1] - self.times[0]) / (len(self.times) - 1)


def measured(times: Vec, y: Vec, tau_u: Vec, yd: Vec | None = None, cutoff: float = CUTOFF) -> Log:
    """A log of measured positions: what is noisy is filtered, what is missing differentiated.

    Positions (and velocities, where they are given) pass a Butterworth low-pass filter forwards and
    backwards, which shifts nothing in time; the rest are central differences. Forces stay as they
    are: they enter linearly, and are averaged later together with what they are compared with.

    Args:
        cutoff: of the filter [Hz]; several times the highest frequency of the motion.
    """
    from scipy.signal import butter, sosfiltfilt

    t, positions, forces = (np.asarray(a, dtype=float) for a in (times, y, tau_u))
    speeds = None if yd is None else np.asarray(yd, dtype=float)
    _check(t, y=positions, tau_u=forces, **({} if speeds is None else {"yd": speeds}))
    step = float(t[-1] - t[0]) / (len(t) - 1)
    even = t[0] + step * np.arange(len(t))
    if np.abs(np.diff(t) - step).max() > 0.01 * step:  # stamps jitter; the filter wants a raster
        positions, forces = _at(even, t, positions), _at(even, t, forces)
        speeds = None if speeds is None else _at(even, t, speeds)
    if not cutoff > 0.0:
        raise InvalidInput(f"the cut-off must be positive: {cutoff!r}")
    if cutoff >= 0.4 / step:
        raise InvalidInput(
            f"a cut-off of {cutoff:g} Hz needs a log of more than {2.5 * cutoff:g} Hz; this one "
            f"has {1.0 / step:.4g} Hz: lower the cut-off, or give accelerations"
        )
    edge = int(np.ceil(EDGE / (cutoff * step)))
    if len(t) < 4 * edge:
        raise InvalidInput(
            f"a log of {len(t) * step:.3g} s is too short for a cut-off of {cutoff:g} Hz"
        )
    sections = butter(ORDER, cutoff, fs=1.0 / step, output="sos")
    q = sosfiltfilt(sections, positions, axis=0)
    v = np.gradient(q, step, axis=0)
    v = v if speeds is None else sosfiltfilt(sections, speeds, axis=0)
    a = np.gradient(v, step, axis=0)
    inner = slice(edge, len(t) - edge)
    return Log(even[inner], q[inner], v[inner], a[inner], forces[inner])


def _check(times: Array, **columns: Array) -> None:
    if len(times) < 2 or not np.all(np.diff(times) > 0.0):
        raise InvalidInput("a log needs two rows or more, and times that increase")
    for name, values in columns.items():
        if values.ndim != 2 or len(values) != len(times):
            raise InvalidInput(
                f"{name} of a log has shape {values.shape}; it needs a row for each of "
                f"{len(times)} times, and a column per joint"
            )
        wrong = np.flatnonzero(~np.isfinite(values).all(axis=1))
        if len(wrong):
            raise InvalidInput(f"{name} of a log is not finite in row {wrong[0]}; leave it out")


def _at(even: Array, times: Array, values: Array) -> Array:
    """Straight lines between the rows."""
    return np.stack([np.interp(even, times, column) for column in values.T], axis=1)
