"""``excite``: a periodic motion within all limits that shows the parameters of a robot.

Every independent joint follows a Fourier series (Swevers et al. 1997) that starts and ends at rest.
Random series are tried, the best are improved by a quasi-Newton method: the condition number of the
normalised regressor falls, what is beyond a limit costs. In the end the motion is shrunk towards a
pose that is far from all limits until it is within them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..arrays import Array, as_count
from ..errors import ClosedLoopError, InvalidInput
from ..model.joint_limits import Limits
from ..robot import Robot
from .base import brisk_states, condition_number, equations, free_parameters, structure

#: Share of every limit that a motion may use.
SHARE = 0.95
#: Price of being beyond a limit by its size, in logarithms of the condition number.
PRICE = 20.0
#: That of a motion on which a loop does not close.
IMPOSSIBLE = 1e3
#: Points of a period that are looked at while searching, per harmonic, and in the end.
COARSE, FINE = 16, 100
#: Starts of the quasi-Newton method, and random motions per start.
STARTS, TRIALS = 3, 10

#: y, yd, ydd, (N, m) each.
Motion = tuple[Array, Array, Array]


@dataclass(frozen=True, eq=False)
class Excitation:
    """A motion, one row per time; it may be repeated, the last row being the first one.

    Attributes:
        times: (N,) [s]; y, yd, ydd: (N, m) of the independent joints.
        condition: its excitation score; parameters: how many that is about.
        random_condition: the same of the median of random motions.
    """

    times: Array
    y: Array
    yd: Array
    ydd: Array
    condition: float
    parameters: int
    random_condition: float


def excite(
    robot: Robot,
    *,
    period: float = 10.0,
    harmonics: int = 5,
    rate: float = 100.0,
    evaluations: int = 3000,
    seed: int = 0,
    progress: Callable[[int], None] | None = None,
) -> Excitation:
    """Design a motion; the same arguments give the same one.

    Args:
        period: [s]; harmonics: of 1 / period, two or more: the fastest is harmonics / period [Hz].
        rate: rows per second of the result [Hz].
        evaluations: motions that are looked at, about; more take longer and find better ones.
        progress: told how many have been.

    Raises:
        InvalidInput: a floating base, no such series, too few actuators, or no pose in which the
            robot can rest.
    """
    for name, value in (("period", period), ("rate", rate)):
        if not 0.0 < value < np.inf:
            raise InvalidInput(f"{name} must be positive and finite: {value!r}")
    if as_count(harmonics, "harmonics", 1) < 2:
        raise InvalidInput("a motion that starts at rest needs two harmonics or more")
    if robot.p < robot.m:
        raise InvalidInput("a robot with fewer actuators than independent joints follows no motion")
    from scipy.optimize import minimize

    def series(count: int) -> _Series:
        return _Series(harmonics, period, np.linspace(0.0, period, count))

    search = _Search(robot, series(COARSE * harmonics), progress)
    rng = np.random.default_rng(seed)
    trials = [search.random(rng) for _ in range(STARTS * TRIALS)]
    scores = np.array([search.cost(x) for x in trials])
    best, least = trials[int(np.argmin(scores))], float(scores.min())
    each = max(1, (evaluations - len(trials)) // STARTS)
    for k in np.argsort(scores)[:STARTS]:
        found = minimize(
            search.cost,
            trials[k],
            method="L-BFGS-B",
            bounds=search.bounds,
            options={"maxfun": each, "eps": 1e-4},
        )
        if found.fun < least:
            best, least = found.x, float(found.fun)
    fine = _Search(robot, series(FINE * harmonics), None)
    share = fine.largest_share(best)
    times = np.linspace(0.0, period, round(period * rate) + 1)
    motion = fine.motion(best, _Series(harmonics, period, times), share)
    randoms = [fine.condition(fine.motion(x, share=fine.largest_share(x))) for x in trials[:9]]
    return Excitation(
        times,
        *motion,
        condition=fine.condition(fine.motion(best, share=share)),
        parameters=len(search.weighty),
        random_condition=float(np.median(randoms)),
    )


class _Series:
    """Fourier series with neither speed nor acceleration at both ends, at some times."""

    def __init__(self, harmonics: int, period: float, t: Array) -> None:
        w = 2.0 * np.pi / period * np.arange(1.0, harmonics + 1.0)
        sines, cosines = _orthogonal_to(w), _orthogonal_to(w**2)
        s, c = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
        self.functions = np.hstack([s @ sines, c @ cosines])
        self.velocities = np.hstack([(c * w) @ sines, (-s * w) @ cosines])
        self.accelerations = np.hstack([(-s * w**2) @ sines, (-c * w**2) @ cosines])


def _orthogonal_to(row: Array) -> Array:
    """(n, n - 1) columns that span what is orthogonal to ``row`` (n,)."""
    return np.linalg.svd(row[None])[2][1:].T


class _Search:
    """Motions as vectors of numbers: per joint coefficients, amplitude and middle."""

    def __init__(self, robot: Robot, series: _Series, progress: Callable[[int], None] | None):
        self._robot, self._series, self._progress = robot, series, progress
        self._count = 0
        self._pi = robot.dynamic_parameters
        tree = robot.mechanism.tree
        self._independent = Limits.of(tree, robot.names.independent)
        self._actuator = Limits.of(tree, robot.names.actuator)
        self.weighty = structure(robot, free_parameters(robot, robot.names.actuator))[1]
        states = brisk_states(robot, 400)
        self._sizes = np.sqrt(np.mean(np.square(equations(robot, *states) @ self._pi), axis=0))
        self._low, self._high = states[0].min(axis=0), states[0].max(axis=0)
        self._poses = states[0]
        own = series.functions.shape[1]
        self.bounds = [*[(-1.0, 1.0)] * own, (0.2, 1.0), (-1.0, 1.0)] * robot.m

    def random(self, rng: np.random.Generator) -> Array:
        """One within the bounds."""
        low, high = np.array(self.bounds).T
        return rng.uniform(low, high)

    def motion(self, x: Array, series: _Series | None = None, share: float = 1.0) -> Motion:
        """y, yd, ydd (N, m); with ``share`` < 1 shrunk towards the pose ``home``."""
        own = x.reshape(self._robot.m, -1)
        coefficients, amplitude, middle = own[:, :-2].T, own[:, -2], own[:, -1]
        at = self._series if series is None else series
        reach = self._series.functions @ coefficients
        half = np.maximum(np.ptp(reach, axis=0) / 2.0, 1e-9)
        center = (reach.max(axis=0) + reach.min(axis=0)) / 2.0
        width = SHARE * (self._high - self._low) / 2.0
        scale = width * amplitude / half
        y = (at.functions @ coefficients - center) * scale
        y += (self._high + self._low) / 2.0 + width * (1.0 - amplitude) * middle
        y = y if share == 1.0 else self.home + share * (y - self.home)
        scale = share * scale
        return y, at.velocities @ coefficients * scale, at.accelerations @ coefficients * scale

    def cost(self, x: Array) -> float:
        """Logarithm of the condition number, and the price of what is beyond limits."""
        self._count += 1
        if self._progress is not None:
            self._progress(self._count)
        motion = self.motion(x)
        try:
            W = equations(self._robot, *motion)
            beyond = self._beyond(motion)
        except ClosedLoopError:
            return IMPOSSIBLE
        return float(np.log(self._condition(W)) + PRICE * beyond)

    def condition(self, motion: Motion) -> float:
        """The excitation score of a motion."""
        return self._condition(equations(self._robot, *motion))

    def _condition(self, W: Array) -> float:
        columns = W[..., self.weighty] / np.maximum(self._sizes, 1e-9)[:, None]
        return min(condition_number(columns.reshape(-1, columns.shape[-1])), 1e15)

    def _beyond(self, motion: Motion) -> float:
        """How far a motion is beyond what may be used of limits: sum over them, relative."""
        y, yd, ydd = motion
        state = self._robot.state(y, yd)
        tau = self._robot.inverse_dynamics(y, yd, ydd)
        used = [
            _used(y, self._independent.lower, self._independent.upper),
            _used(state.u, self._actuator.lower, self._actuator.upper),
            np.abs(yd).max(axis=0) / self._independent.velocity,
            np.abs(np.asarray(state.ud)).max(axis=0) / self._actuator.velocity,
            np.abs(tau).max(axis=0) / self._actuator.effort,
        ]
        return float(sum(np.maximum(share - SHARE, 0.0).sum() for share in used))

    def _within(self, motion: Motion) -> bool:
        try:
            return self._beyond(motion) <= 1e-9
        except ClosedLoopError:
            return False

    @cached_property
    def home(self) -> Array:
        """(m,) the pose, of random ones, that can be held and is nearest to the middle."""
        middle, width = (self._high + self._low) / 2.0, np.maximum(self._high - self._low, 1e-9)
        order = np.argsort(np.max(np.abs(self._poses - middle) / width, axis=1))
        rest = np.zeros((1, self._robot.m))
        for k in order:
            if self._within((self._poses[k][None], rest, rest)):
                return np.asarray(self._poses[k])
        raise InvalidInput("the robot can rest nowhere within its limits; see `closed-loop check`")

    def largest_share(self, x: Array) -> float:
        """How much of a motion, seen from ``home``, is within the limits; by bisection."""
        if self._within(self.motion(x)):
            return 1.0
        low, high = 0.0, 1.0
        while high - low > 1e-3:
            middle = (low + high) / 2.0
            if self._within(self.motion(x, share=middle)):
                low = middle
            else:
                high = middle
        return low


def _used(positions: Array, lower: Array, upper: Array) -> Array:
    """(joints,) largest distance from the middle of the range, in halves of it; 0 without range."""
    half = (upper - lower) / 2.0
    ranged = np.isfinite(half)
    middle = np.where(ranged, (upper + lower) / 2.0, 0.0)
    share = np.abs(np.asarray(positions) - middle).max(axis=0) / np.where(ranged, half, np.inf)
    return np.asarray(np.where(ranged, share, 0.0))
