"""R. Kumar, S. Kumar, Mueller, Kirchner 2022: hybrid numerical-analytical loop closure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from closed_loop_dynamics.arrays import Array
from closed_loop_dynamics.motion.trajectory import Points, Setpoint, Spline, cycloidal
from closed_loop_dynamics.robot import Robot

from ..benchmark.states import States, make_states
from ..benchmark.timing import Contender, row_by_row, take_turns
from ..robots.shipped import SHIPPED
from .claims import Claim, Section, Studio
from .upper_body import ELBOW, TORSO, WRIST, UpperBody, full, ours, reduced

ALL = (TORSO, ELBOW, WRIST)
#: Table II: root mean squares of the differences, left and right actuator of the torso.
TABLE_II = {
    "position [m]": (2.36e-08, 3.77e-08),
    "velocity [m/s]": (1.14e-09, 1.11e-09),
    "acceleration [m/s^2]": (2.47e-11, 4.64e-11),
    "force [N]": (1.15e-04, 1.13e-04),
}
#: Below this, relative to the largest value, two double-precision results are the same.
ROUNDING = 1e-9
#: Constraints n^c that are solved numerically (Sec. V), and with our own wrists of 14 each.
CONSTRAINTS = {"reduced": (10, 6), "full": (30, 20), "full, ours": (38, 28)}


def reproduce(studio: Studio) -> Section:
    """All of the paper's results."""
    body = reduced()
    section = Section(
        "R. Kumar, S. Kumar, Müller, Kirchner 2022: hybrid numerical-analytical approach",
        f"Reduced upper body: {body.source}; full upper body: {full().source}. Hybrid: the torso "
        "(in the full body the wrists) by Newton, the other loops in closed form. Cycloidal "
        "trajectories of all independent joints.",
    )
    studio.step("loading the reduced upper body three times")
    analytical, hybrid, numerical = (body.load(parts) for parts in ((), (TORSO,), ALL))
    _constraints(section, "reduced", body, (numerical, hybrid))
    studio.step("Table II")
    motion = _cycloids(analytical, 101 if studio.quick else 2001)
    _table_ii(section, analytical, hybrid, body.actuators(TORSO), motion)
    studio.step("Fig. 6: boxing")
    _boxing(section, studio)
    studio.step("Fig. 7: timing, reduced")
    sweeps = 2 if studio.quick else 10
    times = _times({"numerical": numerical, "analytical": analytical, "hybrid": hybrid}, sweeps)
    _fig_7(section, studio, times)
    studio.step("Fig. 9: timing, full")
    whole = full()
    robots = {"numerical": whole.load(ALL), "hybrid": whole.load((WRIST,))}
    robots["analytical"] = whole.load()
    _constraints(section, "full", whole, (robots["numerical"], robots["hybrid"]))
    section.claims.append(_wrist(whole, robots["hybrid"]))
    _fig_9(section, studio, _times(robots, sweeps))
    studio.step("Fig. 10: constraint embedding against direct inversion")
    _fig_10(section, studio, analytical, motion)
    return section


def _constraints(section: Section, name: str, body: UpperBody, robots: tuple[Robot, Robot]) -> None:
    """Sizes, and how many equations the numerical and the hybrid case leave to Newton."""
    n, m, p = (23, 13, 13) if name == "reduced" else (61, 20, 20)
    own = name == "full" and not body.published
    expected = CONSTRAINTS["full, ours" if own else name]
    found = tuple(numerical_constraints(robot) for robot in robots)
    sizes = {(robot.n, robot.m, robot.p) for robot in robots}
    section.claims.append(
        Claim(
            f"Sec. V, {name} upper body",
            "n = {}, m = {}, p = {}; n^c = {} numerical, {} hybrid".format(
                n, m, p, *CONSTRAINTS[name]
            ),
            "n = {}, m = {}, p = {}; n^c = {} and {}".format(*next(iter(sizes)), *found),
            sizes == {(n, m, p)} and found == expected,
            "our wrists have no idle joints, so more equations" if own else "",
        )
    )


def _wrist(body: UpperBody, hybrid: Robot) -> Claim:
    """One of the two wrists, which are all that is numerical in the hybrid full body."""
    component = hybrid.mechanism.components[hybrid.mechanism.numerical[0]]
    sizes = tuple(map(len, (component.joints, component.independent, component.active)))
    rows = numerical_constraints(hybrid) // len(hybrid.mechanism.numerical)
    source = "the published file has" if body.published else "ours, without idle joints, has"
    return Claim(
        "Sec. V, wrist (2SU[RRPR]+1U)",
        "18 joints, 2 independent, 2 driven; n^c = 10",
        "{}, {}, {}; {}".format(*sizes, rows),
        sizes == (16, 2, 2) and rows == (10 if body.published else 14),
        f"{source} 16 joints in a wrist, which add up to n = 61 as printed",
    )


def numerical_constraints(robot: Robot) -> int:
    """Independent equations of the loops that Newton's method solves."""
    mech = robot.mechanism
    closures = [mech.closures[c].loop_closure for c in mech.numerical]
    return sum(len(closure.plan.rows) for closure in closures if closure is not None)


def _cycloids(robot: Robot, count: int) -> tuple[Array, Array, Array, Array]:
    """Times [s], positions, velocities, accelerations: from one reachable state to another."""
    rng = np.random.default_rng(3)
    samples = robot.random_independent(rng, 200)
    low, high = samples.min(axis=0), samples.max(axis=0)
    start, goal = low + 0.3 * (high - low), low + 0.7 * (high - low)
    spline = _spline(cycloidal(start, goal, 2.0), start)
    t = np.linspace(0.0, 2.0, count)
    return (t, *spline.table(t))


def _spline(points: Points, start: Array) -> Spline:
    rest = np.zeros_like(start)
    return Spline(points, 0.0, Setpoint(0.0, start, rest, rest))


def _actuators(robot: Robot, names: Sequence[str], motion: Sequence[Array]) -> list[Array]:
    """u, ud, udd, tau of some actuators along a motion (y, yd, ydd)."""
    columns = [robot.names.actuator.index(name) for name in names]
    y, yd, ydd = motion
    state = robot.state(y, yd, ydd)
    tau = robot.inverse_dynamics(y, yd, ydd)
    assert state.ud is not None and state.udd is not None
    return [part[:, columns] for part in (state.u, state.ud, state.udd, tau)]


def _table_ii(
    section: Section,
    analytical: Robot,
    hybrid: Robot,
    names: Sequence[str],
    motion: tuple[Array, ...],
) -> None:
    ours = _actuators(analytical, names, motion[1:])
    other = _actuators(hybrid, names, motion[1:])
    for (what, paper), a, b in zip(TABLE_II.items(), ours, other, strict=True):
        rmse = np.sqrt(np.mean((a - b) ** 2, axis=0))
        close = rmse <= paper
        section.claims.append(
            Claim(
                f"Table II, {what}",
                "RMSE {:.3g}, {:.3g}".format(*paper),
                "RMSE {:.1e}, {:.1e}".format(*rmse),
                bool(close.all()),
                "both close the loops to rounding; the paper's numerical loop stops at about 1e-8",
            )
        )


def _boxing(section: Section, studio: Studio) -> None:
    """A boxing-like motion of the shipped robot, torso actuators analytical and hybrid."""
    shipped = SHIPPED["rh5_manus_reduced"]
    body = ours(shipped.name)
    robots = {"analytical": body.load(), "hybrid": body.load((TORSO,))}
    names = robots["analytical"].names.independent
    start, goal = (
        np.array([values.get(name, 0.0) for name in names])
        for values in (shipped.sample.start, shipped.sample.goal)
    )
    there = cycloidal(start, goal, shipped.sample.duration)
    back = cycloidal(goal, start, shipped.sample.duration)
    points = Points(
        np.concatenate([there.times, shipped.sample.duration + back.times]),
        *(
            np.concatenate([getattr(there, part), getattr(back, part)])
            for part in ("positions", "velocities", "accelerations")
        ),
    )
    t = np.linspace(0.0, float(points.times[-1]), 400)
    table = _spline(points, start).table(t)
    torso = body.actuators(TORSO)
    seen = {name: _actuators(robot, torso, table) for name, robot in robots.items()}
    worst = [np.abs(a - b).max() for a, b in zip(*seen.values(), strict=True)]
    scale = [np.abs(a).max() for a in seen["analytical"]]
    section.claims.append(
        Claim(
            "Fig. 6, boxing",
            "hybrid tracks as well as analytical (curves)",
            f"largest difference {worst[0]:.1e} m, {worst[3]:.1e} N",
            all(w <= ROUNDING * s for w, s in zip(worst, scale, strict=True)),
            "our own motion and robot: the paper's trajectory is not published; simulation only",
        )
    )
    caption = "Fig. 6: torso actuators while boxing, analytical (lines) and hybrid (dots)"
    with studio.plot(section, "kumar_2022_boxing", caption, columns=2) as axes:
        for k, label in ((0, "position [m]"), (3, "force [N]")):
            axis = axes[0, 0 if k == 0 else 1]
            axis.plot(t, seen["analytical"][k], label=torso)
            axis.set_prop_cycle(None)
            axis.plot(t[::20], seen["hybrid"][k][::20], "o", ms=3)
            axis.set(xlabel="t [s]", ylabel=label)
            axis.legend(fontsize=7)


def _times(robots: dict[str, Robot], sweeps: int) -> dict[str, dict[str, float]]:
    """Way -> call -> seconds; 1000 random states, every sweep visits all, in turns."""
    contenders: dict[tuple[str, str], Contender] = {}
    for way, robot in robots.items():
        states = make_states(robot, "random")
        for call, function, rows in _calls(robot, states):
            contenders[way, call] = row_by_row(f"{way} {call}", function, *rows)
    take_turns(list(contenders.values()), sweeps)
    times: dict[str, dict[str, float]] = {}
    for (way, call), contender in contenders.items():
        times.setdefault(way, {})[call] = contender.seconds
    return times


def _calls(
    robot: Robot, s: States
) -> list[tuple[str, Callable[..., object], tuple[Array, Array, Array]]]:
    return [
        ("state", robot.state, (s.y, s.yd, s.ydd)),
        ("inverse dynamics", robot.inverse_dynamics, (s.y, s.yd, s.ydd)),
        ("forward dynamics", robot.forward_dynamics, (s.y, s.yd, s.tau_u)),
    ]


WHY_TIMES = (
    "natively compiled Newton with a table of starts costs as little as a closed form; RBDL's "
    "assembly was the expensive part"
)


def _fig_7(section: Section, studio: Studio, times: dict[str, dict[str, float]]) -> None:
    section.claims += [
        _ratio("Fig. 7", times, "analytical", "about 5"),
        _ratio("Fig. 7", times, "hybrid", "about 2"),
    ]
    _bars(section, studio, "kumar_2022_fig7", "Fig. 7: reduced upper body, random states", times)


def _fig_9(section: Section, studio: Studio, times: dict[str, dict[str, float]]) -> None:
    section.claims.append(_ratio("Fig. 9", times, "hybrid", "about 1.3"))
    _bars(section, studio, "kumar_2022_fig9", "Fig. 9: full upper body, random states", times)


def _ratio(figure: str, times: dict[str, dict[str, float]], way: str, paper: str) -> Claim:
    """How much longer the numerical case takes: inverse dynamics as printed, the others beside."""
    of = {call: times["numerical"][call] / times[way][call] for call in times[way]}
    inverse = of.pop("inverse dynamics")
    others = ", ".join(f"{call} {ratio:.2f}" for call, ratio in of.items())
    return Claim(
        f"{figure}, ID numerical / {way}", paper, f"{inverse:.2f} ({others})", None, WHY_TIMES
    )


def _bars(
    section: Section, studio: Studio, name: str, caption: str, times: dict[str, dict[str, float]]
) -> None:
    with studio.plot(section, name, caption) as axes:
        axis = axes[0, 0]
        for k, (way, row) in enumerate(times.items()):
            places = np.arange(len(row)) + 0.25 * k
            axis.bar(places, [1e6 * t for t in row.values()], 0.22, label=way)
        calls = [call.replace(" ", "\n") for call in next(iter(times.values()))]
        axis.set_xticks(np.arange(3) + 0.25, calls)
        axis.set_ylabel("µs per call, from Python")
        axis.margins(y=0.2)
        axis.legend(fontsize=7, ncols=3, loc="upper center")


def _fig_10(section: Section, studio: Studio, robot: Robot, motion: tuple[Array, ...]) -> None:
    t, y, yd, ydd = motion
    tau = robot.inverse_dynamics(y, yd, ydd)
    embedded = robot.forward_dynamics(y, yd, tau)
    every = slice(None, None, 20)
    direct = robot.forward_dynamics(y[every], yd[every], tau[every], method="projection")
    rmse = float(np.sqrt(np.mean((embedded[every] - direct) ** 2)))
    section.claims.append(
        Claim(
            "Fig. 10, embedding against direct inversion",
            "RMSE zero",
            f"RMSE {rmse:.1e} rad/s^2 (largest acceleration {np.abs(direct).max():.1f})",
            rmse <= ROUNDING * np.abs(direct).max(),
        )
    )
    caption = "Fig. 10: accelerations by cluster ABA (lines) and by inverting M_y (dots)"
    with studio.plot(section, "kumar_2022_fig10", caption) as axes:
        axes[0, 0].plot(t, embedded, lw=1)
        axes[0, 0].set_prop_cycle(None)
        axes[0, 0].plot(t[every], direct, ".", ms=3)
        axes[0, 0].set(xlabel="t [s]", ylabel="ydd [rad/s²]")
