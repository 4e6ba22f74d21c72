"""Robots drawn for the first time, by the command line alone: what stood in the way of that."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from support import sketches

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.link_reach import reach_of_link
from tools import reach
from tools.oracles.oracle import Oracle

#: The cuts of the suspension.
WISHBONES = {"upper_wishbone upright", "steering_rod upright", "lower_wishbone strut_rod"}


@pytest.fixture
def made(run: Any, tmp_path: Path) -> Any:
    """``made("klann")``: URDF, the loops that ``new`` finds, and what it says.

    ``"klann_bare"`` without marks at the ends of rods; ``"..._rounded"`` to tenths of millimetres.
    """

    def make(name: str) -> tuple[Path, Path, str]:
        urdf, loops = tmp_path / f"{name}.urdf", tmp_path / f"{name}.yaml"
        sketch, *words = name.split("_")
        draw = getattr(sketches, sketch)
        text = draw(marked=False) if "bare" in words else draw()
        if "rounded" in words:
            text = re.sub(r"\d+\.\d{9}", lambda found: f"{float(found[0]):.4f}", text)
        urdf.write_text(text, encoding="utf-8")
        outcome = run("new", urdf, "--yes", "-o", loops)
        assert outcome.status == 0, outcome.out + outcome.err
        return urdf, loops, outcome.out

    return make


@pytest.mark.parametrize(
    ("name", "cuts", "driven"),
    [
        # The rod's pin is on its way to the leg: its joint is called a pin. The rockers have no
        # looks: they end where even bars do. Only the crank has an effort.
        ("klann", {"connecting_rod lower_rocker_arm", "leg_link upper_rocker_arm"}, ["crank"]),
        # The mark of the first rod carries the ball: nothing ends there.
        ("tripod", {"platform rod_b", "platform rod_c"}, ["slide_a", "slide_b", "slide_c"]),
        # Both sides of a cut are marked: it is one cut.
        (
            "lift",
            {"bar1b bar2a", "bar1b roller1", "bar1a rod", "bar2a roller2"},
            ["cylinder"],
        ),
        # Arms end at pins of the rhombus, not at the bars that happen to start next to them.
        ("peaucellier", {"arm_a bar_ba", "arm_c bar_bc", "bar_ap bar_cp"}, ["crank"]),
        ("peaucellier_bare", {"arm_a bar_ap", "arm_c bar_cp", "bar_ap bar_cp"}, ["crank"]),
        ("peaucellier_bare_rounded", {"arm_a bar_ap", "arm_c bar_cp", "bar_ap bar_cp"}, ["crank"]),
        # The rod ends at the steering arm, which is on the far side of two ball joints; the strut
        # alone would make sense, too.
        ("suspension", WISHBONES, ["rack", "strut"]),
        ("suspension_bare", WISHBONES, ["rack", "strut"]),
    ],
)
def test_new_finds_the_loops_of_a_sketch(made: Any, name: str, cuts: set, driven: list) -> None:
    urdf, loops, _ = made(name)
    (entry,) = yaml.safe_load(loops.read_text(encoding="utf-8"))["submechanisms"]
    robot = cld.load(urdf, loops, prepare=())
    tree, found = robot.mechanism.tree, []
    for cut in entry["loop_constraints"]:
        ends = (cut["predecessor_body"], cut["successor_body"])
        found.append(" ".join(sorted(tree.bodies[tree.frames[end][0]].link for end in ends)))
    assert set(found) == cuts and len(found) == len(cuts)
    assert entry["jointnames_active"] == driven
    oracle = Oracle(urdf, loops, names=robot.names.spanning)
    rng = np.random.default_rng(3)
    for y in robot.random_independent(rng, 5):
        yd, ydd = rng.normal(size=(2, robot.m))
        state = robot.state(y, yd, ydd)
        assert np.abs(oracle.phi(state.q)).max() < 1e-12
        size = 1.0 + np.abs(state.qdd).max()
        K = oracle.K(state.q)
        assert np.abs(K @ state.qdd - oracle.k(state.q, state.qd)).max() < 1e-10 * size


@pytest.mark.parametrize("sketch", ["peaucellier", "peaucellier_bare"])
def test_the_pen_of_peaucellier_draws_a_straight_line(made: Any, sketch: str) -> None:
    urdf, loops, _ = made(sketch)
    robot = cld.load(urdf, loops, prepare=())
    for angle in np.linspace(-0.6, 0.6, 13):
        x, y, z = robot.pose("pen", [angle])[:3, 3]
        line = (0.2**2 - 0.13**2) / (2.0 * np.hypot(*robot.pose("crank_arm", [0.0])[:2, 3]))
        expected = [line, 0.0, -line * np.tan(0.5 * angle)]
        assert [x, y, z] == pytest.approx(expected, abs=1e-8)  # the sketch has nine digits


def test_the_rack_steers_the_wheel_and_the_strut_lifts_it(made: Any) -> None:
    """Equal lengths of rods and wishbones at any position, and the wheel at its two freedoms."""
    urdf, loops, _ = made("suspension")
    robot = cld.load(urdf, loops, prepare=())
    assert robot.names.independent == ("rack", "strut", "spin")

    def wheel(rack: float, strut: float) -> tuple[float, float]:
        pose = robot.pose("upright", [rack, strut, 0.0])
        return float(pose[2, 3]), float(np.arctan2(-pose[0, 1], pose[1, 1]))

    rest, toe = wheel(0.0, 0.0)
    up, bumped = wheel(0.0, -0.05)
    _, left = wheel(-0.04, 0.0)
    _, right = wheel(0.04, 0.0)
    assert up - rest > 0.05 and abs(bumped - toe) < 0.05  # bump hardly steers
    assert abs(toe) < 1e-9 and abs(left) > 0.25 and left * right < 0.0


def test_the_drive_of_a_named_loop_is_the_joint_with_an_effort(run: Any, tmp_path: Path) -> None:
    urdf, loops = tmp_path / "klann.urdf", tmp_path / "loops.yaml"
    urdf.write_text(sketches.klann(), encoding="utf-8")
    pairs = ("--loop", "rod_c~lower_rocker_arm", "--loop", "leg_e~upper_rocker_arm")
    outcome = run("new", urdf, "--yes", "--only", *pairs, "-o", loops)
    assert outcome.status == 0 and outcome.out.splitlines()[0].endswith("driven: crank")


def test_random_positions_come_from_all_that_a_loop_reaches(made: Any) -> None:
    """Not from a box around the reference alone: the tool of a symmetric tripod gets further."""
    urdf, loops, _ = made("tripod")
    robot = cld.load(urdf, loops, prepare=())
    (branch,) = robot.branches.values()
    low, high = branch.reachable_box()
    assert np.prod((high - low) / (branch.upper - branch.lower)) < 0.5
    y = robot.random_independent(np.random.default_rng(0), 60, everywhere=True)
    assert np.all((branch.lower <= y) & (y <= branch.upper))
    assert np.abs(robot.state(y).residual).max() < 1e-12
    beyond = np.any((y < low) | (y > high), axis=1)
    assert beyond.mean() > 0.5
    reached = reach_of_link(robot, "tool", 60)
    assert np.ptp(reached.points[:, 2]) > 0.15  # both ends of the stroke, 0.2 m, nearly


def test_poses_of_all_that_a_loop_reaches_are_found(made: Any, monkeypatch: Any) -> None:
    """The campaign of ``tools/reach.py`` draws them from outside the box around the reference."""
    urdf, loops, _ = made("tripod")
    robot = cld.load(urdf, loops, prepare=())
    (branch,) = robot.branches.values()
    monkeypatch.setattr(reach, "end_links", lambda _: ["tool"])
    reached = reach.campaign(robot, 40)
    assert (reached.found, reached.beyond, reached.off) == (40, 0, 0)

    def refuse(*_: object) -> None:
        raise cld.TargetNotReached("", y=None, misses=(), limits=())

    monkeypatch.setattr(cld.Robot, "inverse_kinematics", refuse)
    low, high = branch.reachable_box()
    drawn = np.array(reach.campaign(robot, 40).missed)
    assert np.any((drawn < low) | (drawn > high), axis=1).mean() > 0.5


def test_path_tells_where_the_loops_do_not_close(made: Any, run: Any, tmp_path: Path) -> None:
    urdf, loops, _ = made("tripod")
    words = ("--link", "tool", "--joint", "slide_b", "--grid", "41", "-o", tmp_path / "way.csv")
    outcome = run("path", urdf, loops, *words)
    assert outcome.status == 0
    assert "note: the loops close at 40 of 41 positions of slide_b, between -0.095" in outcome.err


def test_a_joint_over_itself_has_no_panel(made: Any, run: Any, tmp_path: Path, monkeypatch) -> None:
    pytest.importorskip("matplotlib", reason="matplotlib is not installed (extra `plot`)")
    figures: list[Any] = []
    monkeypatch.setattr(
        "closed_loop_dynamics.cli.commands.workspace.save_figure",
        lambda figure, *_: figures.append(figure),
    )
    urdf, loops, _ = made("klann")
    assert run("workspace", urdf, loops, "--grid", "21", "-o", tmp_path / "w.png").status == 0
    titles = [axes.get_title() for axes in figures[0].axes]
    assert not any("actuator position" in title for title in titles)
    assert any("force that holds" in title for title in titles)


def test_a_limit_is_put_before_the_dead_point_and_a_weak_drive_is_told(
    made: Any, run: Any, tmp_path: Path
) -> None:
    """At the dead point itself the lift could not be held, nor its stop be simulated."""
    urdf, loops, _ = made("lift")
    mended, motion = tmp_path / "mended.urdf", tmp_path / "motion.csv"
    outcome = run("check", urdf, loops, "--fix", mended)
    assert outcome.err.count("before its loop ends") == 2
    robot = cld.load(mended, loops, prepare=())
    (branch,) = robot.branches.values()
    wide = cld.load(urdf, loops, prepare=())
    (whole,) = wide.branches.values()
    low, high = whole.reachable_box(exact=True)
    assert branch.lower - low == pytest.approx(0.01 * (high - low), rel=0.05)
    assert high - branch.upper == pytest.approx(0.01 * (high - low), rel=0.05)
    motion.write_text("time,cylinder\n0,0\n1,0.06\n2,-0.05\n3,-0.05\n", encoding="utf-8")
    words = ("--follow", motion, "--rest", "--step", "0.004", "-o", tmp_path / "sim.csv")
    outcome = run("simulate", mended, loops, *words)
    assert outcome.status == 0, outcome.err
    assert "note: cylinder can give no more than its 2e+04, at 1." in outcome.err
    assert "cylinder hits its lower stop" in outcome.err


def test_a_platform_that_moves_sideways_is_told_what_to_use(made: Any) -> None:
    urdf, loops, _ = made("tripod")
    text = loops.read_text(encoding="utf-8")
    text += "  task_space: {platform: tool, axes: [z, roll, pitch]}\n"
    with pytest.raises(cld.SubmechanismError, match=r"has no task space: use `robot\.inverse_kin"):
        cld.load(urdf, text, prepare=()).task_space()
