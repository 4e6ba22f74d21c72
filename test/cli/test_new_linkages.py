"""``new`` on linkages drawn by hand: what it writes moves as compass and ruler say."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import closed_loop_dynamics as cld
from tools.robots.mechanisms.blueprint import Blueprint, X, Y, Z, turned
from tools.robots.mechanisms.parts import cylinder
from tools.robots.mechanisms.ups6 import anchors

ROOT = Path(__file__).resolve().parents[2]

# -- Theo Jansen's leg, by its published "holy numbers" ------------------------------------------

a, b, c, d, e, f, g, h, i, j, k, l, m = (
    *(0.38, 0.415, 0.393, 0.401, 0.558, 0.394, 0.367),
    *(0.657, 0.49, 0.5, 0.619, 0.078, 0.15),
)


def meet(P: np.ndarray, r: float, Q: np.ndarray, s: float, side: float) -> np.ndarray:
    """Where circles about P and Q meet, left (1) or right (-1) of the way from P to Q."""
    D = Q - P
    along = (r * r - s * s + D @ D) / (2.0 * np.linalg.norm(D))
    across = math.sqrt(r * r - along * along)
    t = D / np.linalg.norm(D)
    return P + along * t + side * across * np.array([-t[1], t[0]])


def jansen_points(angle: float) -> dict[str, np.ndarray]:
    """All pins in the x-z plane for a direction of the crank."""
    O, A = np.zeros(2), np.array([-a, -l])
    M = O + m * np.array([math.cos(angle), math.sin(angle)])
    B, C = meet(A, b, M, j, 1.0), meet(A, c, M, k, -1.0)
    D = meet(A, d, B, e, 1.0)
    E = meet(D, f, C, g, -1.0)
    return {"O": O, "A": A, "M": M, "B": B, "C": C, "D": D, "E": E, "F": meet(E, h, C, i, -1.0)}


def jansen(start: float) -> str:
    """The leg as a tree, cut open where three rods end; nothing marks the other sides."""
    at = {name: np.array([p[0], 0.0, p[1]]) for name, p in jansen_points(start).items()}
    board = Blueprint("jansen")

    def bars(link: str, *ends: str) -> None:
        for way in ends:
            board.rod(link, at[way[0]], at[way[1]], 0.008, 0.1)

    bars("base_link", "OA")
    crank = board.revolute("crank", "base_link", at["O"], -Y)
    upper = board.revolute("upper", "base_link", at["A"], -Y)
    lower = board.revolute("lower", "base_link", at["A"], -Y)
    rods = {}
    for name, parent, way in (("j", crank, "MB"), ("k", crank, "MC"), ("f", upper, "DE")):
        rods[name] = board.revolute(f"rod_{name}", parent, at[way[0]], -Y)
        bars(rods[name], way)
        board.frame(f"rod_{name}_end", rods[name], at[way[1]])
    foot = board.revolute("foot", lower, at["C"], -Y)
    bars(crank, "OM")
    bars(upper, "AB", "BD", "DA")
    bars(lower, "AC")
    bars(foot, "CE", "EF", "FC")
    board.frame("sole", foot, at["F"])
    return board.urdf()


NAMED = ("rod_j_end_tip~upper_link", "rod_k_end_tip~lower_link", "rod_f_end_tip~foot_link")


@pytest.mark.parametrize("drawn", [True, False])
def test_all_loops_of_a_jansen_leg_are_found_and_its_foot_walks(
    run, tmp_path: Path, drawn: bool
) -> None:
    """Where nothing is drawn nothing says what the rods join: that is not guessed, but told."""
    start, words = 0.5, []
    urdf, loops = tmp_path / "jansen.urdf", tmp_path / "loops.yaml"
    text = jansen(start)
    if not drawn:
        text = re.sub("<visual>.*?</visual>", "", text, flags=re.DOTALL)
        words = [word for pair in NAMED for word in ("--loop", pair)]
        words += ["--active", "crank", "--independent", "crank"]
    urdf.write_text(text, encoding="utf-8")
    if not drawn:
        outcome = run("new", urdf, "--yes", "-o", loops)
        assert outcome.status == 1 and "rod_j_end_tip ends in the air" in outcome.out
        assert not loops.exists()
    outcome = run("new", urdf, "--yes", *words, "-o", loops)
    assert outcome.status == 0, outcome.err
    (entry,) = yaml.safe_load(loops.read_text(encoding="utf-8"))["submechanisms"]
    assert len(entry["loop_constraints"]) == 3
    assert entry["jointnames_independent"] == entry["jointnames_active"] == ["crank"]
    robot = cld.load(urdf, loops)
    for turn in (-0.6, 0.0, 0.9, 2.0):
        walked = robot.pose("sole_tip", [turn])[:3, 3]
        F = jansen_points(start + turn)["F"]
        assert walked == pytest.approx([F[0], 0.0, F[1]], abs=1e-8)


# -- a Delta robot with hinges only: parallelograms, and a platform that the first leg carries ----

ARM, ROD, BASE, TOP, HALF = 0.2, 0.45, 0.15, 0.06, 0.04


def delta() -> tuple[str, list[np.ndarray]]:
    """Tree of hinges, and where the three bars meet the platform."""
    board, ends, platform = Blueprint("delta"), [], ""
    floor = -math.sqrt(ROD**2 - (BASE + ARM * math.cos(0.3) - TOP) ** 2) - ARM * math.sin(0.3)
    for n in range(3):
        out, side = turned(X, 120.0 * n), turned(Y, 120.0 * n)
        shoulder = BASE * out
        elbow = shoulder + ARM * (math.cos(0.3) * out - math.sin(0.3) * Z)
        end = TOP * out + floor * Z
        normal = np.cross(side, elbow - end)
        arm = board.revolute(f"arm_{n}", "base_link", shoulder, side, (-1.0, 1.0), effort=20.0)
        board.rod(arm, shoulder, elbow, 0.01, 0.3)
        wrist = board.revolute(f"wrist_{n}", arm, elbow, side)
        board.rod(wrist, elbow - HALF * side, elbow + HALF * side, 0.006, 0.05)
        rods = []
        for name, s in (("left", HALF), ("right", -HALF)):
            link = board.revolute(f"{name}_{n}", wrist, elbow + s * side, normal)
            board.rod(link, elbow + s * side, end + s * side, 0.004, 0.05)
            rods.append(link)
        bar = board.revolute(f"bar_{n}", rods[0], end + HALF * side, normal)
        board.rod(bar, end - HALF * side, end + HALF * side, 0.005, 0.05)
        board.frame(f"right_{n}_end", rods[1], end - HALF * side)
        if n == 0:
            platform = board.revolute("platform", bar, end, side, link="platform")
        else:
            board.frame(f"bar_{n}_end", bar, end)
        board.rod(platform, floor * Z, end, 0.012, 0.1)
        ends.append(end)
    return board.urdf(), ends


def test_hinged_parallelograms_leave_a_delta_robot_three_freedoms(run, tmp_path: Path) -> None:
    urdf, loops = tmp_path / "delta.urdf", tmp_path / "loops.yaml"
    text, ends = delta()
    urdf.write_text(text, encoding="utf-8")
    outcome = run("new", urdf, "--yes", "-o", loops)
    assert outcome.status == 0, outcome.out + outcome.err
    robot = cld.load(urdf, loops)
    assert robot.names.independent == robot.names.actuator == ("arm_0", "arm_1", "arm_2")
    home = robot.pose("platform", np.zeros(3))
    for y in np.random.default_rng(2).uniform(-0.2, 0.2, (3, 3)):
        pose = robot.pose("platform", y)
        assert np.allclose(pose[:3, :3], home[:3, :3], atol=1e-8)  # it only translates
        for n, end in enumerate(ends):
            elbow = robot.pose(f"wrist_{n}_link", y)[:3, 3]
            moved = end + pose[:3, 3] - home[:3, 3]
            assert np.linalg.norm(elbow - moved) == pytest.approx(ROD, abs=1e-8)


# -- a Stewart platform that is carried by one of its legs, through a ball of three hinges --------


def test_legs_end_on_the_platform_that_one_of_them_carries(run, tmp_path: Path) -> None:
    board, legs = Blueprint("hexapod"), anchors(0.2, 0.12, 0.3, (12.0, 12.0))
    board.rod("base_link", -0.02 * Z, -0.01 * Z, 0.2, 5.0)
    for n, (foot, head) in enumerate(legs):
        cylinder(board, f"leg_{n}", foot, head, (-0.12, 0.12))
    link = "leg_0_rod"
    for n, axis in enumerate((X, Y, Z)):
        link = board.revolute(f"ball_{n}", link, legs[0][1], axis)
    board.rod(link, 0.3 * Z, 0.32 * Z, 0.12, 4.0)
    urdf, loops = tmp_path / "hexapod.urdf", tmp_path / "loops.yaml"
    urdf.write_text(board.urdf(), encoding="utf-8")
    outcome = run("new", urdf, "--yes", "-o", loops)
    assert outcome.status == 0, outcome.out + outcome.err
    (entry,) = yaml.safe_load(loops.read_text(encoding="utf-8"))["submechanisms"]
    assert [cut["successor_body"] for cut in entry["loop_constraints"]] == [link] * 5
    robot = cld.load(urdf, loops)
    assert robot.m == robot.p == 6 and robot.names.actuator == tuple(f"leg_{n}" for n in range(6))
    y = 0.03 * np.array([1, -1, 0.5, 1, -1, 0.7])
    state, pose = robot.state(y), robot.pose(link, y)
    home = robot.pose(link, np.zeros(6))
    for n, (foot, head) in enumerate(legs):
        moved = pose @ np.linalg.solve(home, np.append(head, 1.0))
        length = float(np.linalg.norm(moved[:3] - foot))
        assert length == pytest.approx(np.linalg.norm(head - foot) + state.u[n], abs=1e-8)


# -- what the files and the user say --------------------------------------------------------------

LEG = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
CONTROL = '<joint name="{}"><command_interface name="effort"/></joint>'
SAID = {
    "transmission": '<transmission name="t"><type>transmission_interface/SimpleTransmission</type>'
    '<joint name="{}"/><actuator name="m"/></transmission>',
    "ros2_control": f'<ros2_control name="c" type="system">{CONTROL}</ros2_control>',
}


@pytest.mark.parametrize("way", SAID)
def test_the_urdf_says_what_is_driven(run, tmp_path: Path, way: str) -> None:
    urdf, loops = tmp_path / "leg.urdf", tmp_path / "loops.yaml"
    driven = ("knee_cylinder_tilt", "ankle_rod")  # neither would have been guessed
    urdf.write_text(
        LEG.replace("</robot>", "".join(map(SAID[way].format, driven)) + "</robot>"),
        encoding="utf-8",
    )
    assert run("new", urdf, "--yes", "-o", loops).status == 0
    entries = yaml.safe_load(loops.read_text(encoding="utf-8"))["submechanisms"]
    assert [entry["jointnames_active"] for entry in entries] == [[name] for name in driven]


def written(run, tmp_path: Path, urdf: str, *words: object) -> tuple[object, Path]:
    file, loops = tmp_path / "leg.urdf", tmp_path / "loops.yaml"
    file.write_text(urdf, encoding="utf-8")
    return run("new", file, "--yes", "--only", *words, "-o", loops), loops


def at_ankle(robot: cld.Robot) -> dict[str, float]:
    """All joints with the ankle bent and the other independent ones at zero."""
    y = [0.3 * (name == "ankle") for name in robot.names.independent]
    return dict(zip(robot.names.spanning, robot.state(y).q, strict=True))


def test_a_rod_is_cut_at_its_far_end(run, leg, tmp_path: Path) -> None:
    """By the marker on the rod, by where the user says it is, and else not at all."""
    outcome, loops = written(run, tmp_path, LEG, "--loop", "ankle_push_rod~foot")
    assert outcome.status == 0 and "cut_joint: ankle_rod_end" in loops.read_text(encoding="utf-8")
    loops.unlink()
    joint = LEG.index('<joint name="ankle_rod_end"')
    end = LEG.index("</joint>", joint) + len("</joint>")
    xyz = LEG[joint:end].split('xyz="')[1].split('"')[0].split()
    bare = re.sub('<link name="ankle_rod_tip">.*?</link>', "", LEG[:joint], flags=re.DOTALL)
    bare += LEG[end:]
    assert "ankle_rod_tip" not in bare
    outcome, _ = written(run, tmp_path, bare, "--loop", "ankle_push_rod~foot")
    assert outcome.status == 1 and "--at" in outcome.err and not loops.exists()
    words = ("--loop", "ankle_push_rod~foot", "--at", *xyz, "--active", "ankle_crank")
    for kind in ((), ("--cut", "revolute")):
        outcome, _ = written(run, tmp_path, bare, *words, *kind, "--force")
        assert outcome.status == 0, outcome.err
        mine, theirs = (at_ankle(robot) for robot in (cld.load(bare, loops), leg))
        for name in ("ankle_crank", "ankle_rod"):
            assert mine[name] == pytest.approx(theirs[name], abs=1e-9)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--at", 0, 0, 0, "--at", 0, 0, 0), "2 --at for 1 --loop"),
        (("--active", "ankle_crnk"), "did you mean 'ankle_crank'?"),
        (("--independent", "ankl"), "did you mean 'ankle'?"),
    ],
)
def test_wrong_words(run, tmp_path: Path, words: tuple[object, ...], message: str) -> None:
    outcome, loops = written(run, tmp_path, LEG, "--loop", "ankle_rod_tip~foot", *words)
    assert outcome.status == 2 and message in outcome.err and not loops.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--independent", "ankle", "ankle_crank"), "the loops leave 1 degrees of freedom"),
        (("--cut", "fixed"), "at least one independent joint"),
    ],
)
def test_other_freedoms_than_it_says_are_not_written(
    run, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    outcome, loops = written(run, tmp_path, LEG, "--loop", "ankle_rod_tip~foot", *words)
    assert outcome.status == 1 and message in outcome.err and not loops.exists()
