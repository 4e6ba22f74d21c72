"""``new``: the file that it guesses means the same robot as the one that a person wrote."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
import pytest
import yaml
from support.rh5 import FILES, needs_models

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.commands import new
from closed_loop_dynamics.cli.robot_argument import find_robot
from closed_loop_dynamics.closure.cut_joint import resolve
from closed_loop_dynamics.closure.derive import with_derived_loops
from closed_loop_dynamics.closure.loop_system import LoopSystem
from closed_loop_dynamics.engine.symbolic import ca, tracing
from closed_loop_dynamics.inspection.loop_branches import Hints
from closed_loop_dynamics.inspection.loop_doubts import doubts
from closed_loop_dynamics.inspection.loop_guess import guess_loops, pair_guesses, with_pairs
from closed_loop_dynamics.inspection.loop_yaml import _names, loop_file
from closed_loop_dynamics.model import read_submechanisms, read_urdf
from closed_loop_dynamics.model.clusters import split_components
from closed_loop_dynamics.model.tree import Tree

ROOT = Path(__file__).resolve().parents[2]
#: Links at which the wrist's loops were cut, on each side.
ENDS = ("rod_end_tip", "rod")
#: All that the guess understands: (independent, active) must be those of the shipped file.
UNDERSTOOD = (
    "crank_leg",
    "rh5_leg",
    "four_bar",
    "parallelogram",
    "antiparallelogram",
    "lambda_rrpr",
    "spu2_u",
    "sprr2_u",
    "pus2_u",
    "rrr3",
    "active_ankle",
    "ups6",
    "rus6",
    "wrist",
)


def entries(tree: Tree, source: object) -> list:
    """Submechanisms with loops, of a file."""
    found = [with_derived_loops(tree, e) for e in read_submechanisms(source, tree)]
    return [entry for entry in found if entry.loops]


def guessed(urdf: object) -> tuple[Tree, list]:
    tree = read_urdf(urdf)
    guesses, left = guess_loops(tree)
    assert not left
    return tree, entries(tree, loop_file(tree, guesses, left, [], "robot.urdf"))


def assert_same_joints(mine: list, theirs: list) -> None:
    for key in ("spanning", "independent", "active"):
        sets = [{frozenset(getattr(entry, key)) for entry in side} for side in (mine, theirs)]
        assert sets[0] == sets[1], key


def cut_links(side: list) -> set[frozenset[str]]:
    """Which links are joined; the order means nothing."""
    return {frozenset((c.predecessor, c.successor)) for entry in side for c in entry.loops}


def residual_and_rank(tree: Tree, entry, q: dict[str, float]) -> tuple[float, int]:
    """max|phi| of an entry's loops at spanning positions, and the rank of their K there."""
    largest, rank = 0.0, 0
    for c in split_components(tree, [entry]):
        cuts = tuple(resolve(tree, entry, loop) for loop in c.loops)
        system = LoopSystem(entry.name, tree, c.joints, (), cuts, ())
        with tracing():
            x = ca.SX.sym("q", len(c.joints))
            phi = system.phi(x)
            f = ca.Function("f", [x], [phi, ca.jacobian(phi, x)])
            values, K = f([q[tree.bodies[b].joint.name] for b in c.joints])
        largest = max(largest, float(np.abs(np.asarray(values)).max()))
        rank += int(np.linalg.matrix_rank(np.asarray(K), tol=1e-6))
    return largest, rank


def assert_same_motion(tree: Tree, robot: cld.Robot, mine: list, tolerance: float) -> None:
    """Along the shipped robot's motion the guessed loops stay closed, and leave no freedom more."""
    rng = np.random.default_rng(5)
    for y in 0.7 * robot.random_independent(rng, 3):
        q = dict(zip(robot.names.spanning, robot.state(y).q, strict=True))
        for entry in mine:
            gap, rank = residual_and_rank(tree, entry, q)
            assert gap < tolerance
            assert rank == len(entry.spanning) - len(entry.independent)


@pytest.mark.parametrize("name", UNDERSTOOD)
def test_guessed_joints_are_those_of_the_shipped_file(name: str) -> None:
    _, urdf, yaml = find_robot(name)
    tree, mine = guessed(urdf)
    assert_same_joints(mine, entries(tree, yaml))


@pytest.mark.parametrize(
    "name", ["crank_leg", "rh5_leg", "four_bar", "spu2_u", "sprr2_u", "rrr3", "wrist"]
)
def test_guessed_loops_are_those_of_the_shipped_file(name: str) -> None:
    _, urdf, yaml = find_robot(name)
    tree, mine = guessed(urdf)
    assert_same_motion(tree, cld.load(urdf, yaml), mine, 1e-9)


@needs_models
@pytest.mark.parametrize("name", ["reduced", "leg"])
def test_published_robots_are_understood(name: str) -> None:
    urdf, yaml = FILES[name]
    tree, mine = guessed(urdf)
    assert_same_joints(mine, entries(tree, yaml))
    # The published leg is planar to micrometres only.
    assert_same_motion(tree, cld.load(urdf, yaml), mine, 1e-9 if name == "reduced" else 1e-4)


@needs_models
def test_the_wrists_of_the_whole_published_robot_are_understood_and_its_head_is_doubted() -> None:
    urdf, yaml = FILES["full"]
    tree, mine = guessed(urdf)
    theirs = entries(tree, yaml)
    assert len(mine) == 5
    assert_same_joints(mine, theirs)
    assert cut_links(mine) == cut_links(theirs)
    (sentence,) = doubts(tree, guess_loops(tree)[0])
    assert "HeadActL_Link, HeadActR_Link, HeadPitch_Link" in sentence and "couplings" in sentence


def test_a_rod_without_a_place_is_doubted() -> None:
    """The wrist's rods with ball joints, but no cranks: nothing fits, and that is said."""
    text = Path(find_robot("rh5_manus").urdf).read_text(encoding="utf-8")
    tree = read_urdf(re.sub(r'<mass value="0.03"', '<mass value="0.003"', text))
    found = " ".join(doubts(tree, []))
    assert "--loop left_wrist_left_ball_2_link~OTHER_LINK" in found
    assert "left_wrist_left_ball_2_link" not in " ".join(doubts(tree, guess_loops(tree)[0]))


@pytest.mark.parametrize(
    ("name", "pair"),
    [
        ("spu2_u", "left_rod~platform"),
        ("wrist", "left_rod_end_tip~left_crank_link"),
        ("rh5_leg", "ankle_left_cylinder_rod~ankle_left_hinge_link"),
    ],
)
def test_one_named_loop_does_not_lose_the_others(run, tmp_path: Path, name: str, pair: str) -> None:
    plain, told = tmp_path / "plain.yaml", tmp_path / "told.yaml"
    assert run("new", name, "--yes", "-o", plain).status == 0
    assert run("new", name, "--yes", "--loop", pair, "-o", told).status == 0
    assert told.read_text(encoding="utf-8") == plain.read_text(encoding="utf-8")


def test_a_named_loop_that_was_not_found_joins_the_found_ones(run, tmp_path: Path) -> None:
    """Told that the left rod ends elsewhere, it keeps the guessed right one beside it."""
    out = tmp_path / "loops.yaml"
    outcome = run("new", "spu2_u", "--yes", "--loop", "platform~left_rod", "-o", out)
    assert outcome.status == 0, outcome.err
    tree = read_urdf(find_robot("spu2_u").urdf)
    guesses, _ = guess_loops(tree)
    hints = Hints(points={"left_u_2_link": np.array([0.0, 0.05, 0.1])})
    (found,) = with_pairs(tree, guesses, [("left_u_2_link", "platform")], hints)
    ends = {(cut.tip.link, cut.successor) for cut in found.cuts}
    assert ends == {
        ("left_u_2_link", "platform"),
        ("left_rod", "platform"),
        ("right_rod", "platform"),
    }


def test_joints_in_no_loop_are_listed(run, tmp_path: Path) -> None:
    outcome = run("new", "crank_leg", "--yes", "-o", tmp_path / "loops.yaml")
    assert "in no loop, so each driven by itself" in outcome.out
    assert outcome.out.splitlines()[-2].endswith(": hip")


def test_a_chain_of_parallelograms_is_searched_for() -> None:
    _, urdf, yaml = find_robot("parallelogram_chain")
    tree, mine = guessed(urdf)
    assert cut_links(mine) == cut_links(entries(tree, yaml))
    assert [entry.active for entry in mine] == [("drive",)]


def test_what_is_not_understood_is_said_and_not_guessed(run, tmp_path: Path) -> None:
    out = tmp_path / "loops.yaml"
    outcome = run("new", "irsbot_4u", "--yes", "-o", out)
    assert outcome.status == 1 and "no loops found" in outcome.err
    assert "ends in the air at (" in outcome.out and "--loop" in outcome.out
    assert not out.exists()


@pytest.mark.parametrize("name", ["geared_rotor", "belt_pair", "differential"])
def test_a_robot_without_legs_gets_no_file(run, tmp_path: Path, name: str) -> None:
    assert run("new", name, "--yes", "-o", tmp_path / "x.yaml").status == 1


def test_with_the_loops_named_a_wrist_is_understood(run, tmp_path: Path) -> None:
    out = tmp_path / "wrist.yaml"
    pairs = [f"{side}_{end}~{side}_crank_link" for side in ("left", "right") for end in ENDS]
    words = [word for pair in pairs for word in ("--loop", pair)]
    outcome = run("new", "wrist", "--yes", *words, "-o", out)
    assert outcome.status == 0, outcome.err
    _, urdf, yaml = find_robot("wrist")
    tree = read_urdf(urdf)
    assert_same_joints(entries(tree, out), entries(tree, yaml))
    mine, theirs = cld.load(urdf, out), cld.load(urdf, yaml)
    y = [0.1, -0.15]
    a = dict(zip(mine.names.spanning, mine.state(y).q, strict=True))
    b = dict(zip(theirs.names.spanning, theirs.state(y).q, strict=True))
    assert a == pytest.approx(b, abs=1e-9)


@needs_models
def test_with_the_loops_named_the_published_wrist_is_understood() -> None:
    urdf, yaml = FILES["wrist"]
    tree = read_urdf(urdf)
    theirs = entries(tree, yaml)
    pairs = [(loop.predecessor, loop.successor) for entry in theirs for loop in entry.loops]
    mine = entries(tree, loop_file(tree, pair_guesses(tree, pairs), [], [], "wrist.urdf"))
    assert_same_joints(mine, theirs)


@pytest.mark.parametrize("name", ["four_bar", "spu2_u", "lambda_rrpr", "ups6"])
def test_named_loops_lead_to_the_same_joints_as_guessed_ones(name: str) -> None:
    tree = read_urdf(find_robot(name).urdf)
    (guess,), _ = guess_loops(tree)
    (named,) = pair_guesses(tree, [(cut.tip.link, cut.successor) for cut in guess.cuts])
    for key in ("joints", "independent", "active"):
        assert set(getattr(named, key)) == set(getattr(guess, key))


# -- the command ----------------------------------------------------------------------------------


def test_the_written_file_loads_and_gives_the_same_numbers(run, leg, tmp_path: Path) -> None:
    out = tmp_path / "loops.yaml"
    urdf = ROOT / "urdf" / "crank_leg.urdf"
    outcome = run("new", urdf, "--yes", "-o", out)
    assert outcome.status == 0
    assert "knee: knee_cylinder_rod ~ shank; you command knee; driven: knee_cylinder" in outcome.out
    robot = cld.load(urdf, out)
    y = {"hip": -0.4, "knee": 0.8, "ankle": -0.2}
    mine = robot.inverse_dynamics(*([y[j] * s for j in robot.names.independent] for s in (1, 2, 3)))
    theirs = leg.inverse_dynamics(*([y[j] * s for j in leg.names.independent] for s in (1, 2, 3)))
    mine = dict(zip(robot.names.actuator, mine, strict=True))
    assert mine == pytest.approx(dict(zip(leg.names.actuator, theirs, strict=True)), rel=1e-9)
    assert run("check", urdf, out, "--strict").status == 0


#: Names that a URDF may have and that YAML takes for something else, if not quoted.
STRANGE = (
    *("1", "yes", "on", "null", "~", "0x1F", "2024-01-01", "1:30", "-", "---", "=", "<<"),
    *("rod: a", "a #b", "[x]", "a, b", "{x}", "*a", "&a", "!a", "%a", "@a", "`a`", "? a", "- a"),
    *('"q"', "it's", "|", ">", " leading", "trailing ", "two  spaces", "back\\slash", "a\nb", "ü"),
)


def renamed(text: str, kind: str, names: Sequence[str]) -> str:
    """A URDF whose first links or joints have other names."""
    for old, name in zip(re.findall(rf'<{kind} name="([^"]*)"', text), names, strict=False):
        place = rf'(<{kind} name=|<(?:parent|child) {kind}=)"{re.escape(old)}"'
        quoted = quoteattr(name, {"\n": "&#10;"})
        text = re.sub(place, lambda found, quoted=quoted: found[1] + quoted, text)
    return text


@pytest.mark.parametrize("shift", range(0, len(STRANGE), 8))
def test_names_are_written_so_that_they_are_read_back(shift: int) -> None:
    names = STRANGE[shift:] + STRANGE[:shift]
    text = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    tree, mine = guessed(renamed(renamed(text, "link", names), "joint", names))
    _, theirs = guessed(text)
    same = dict(zip(read_urdf(text).frames, tree.frames, strict=True))
    assert cut_links(mine) == {frozenset(same[link] for link in cut) for cut in cut_links(theirs)}
    bodies = [body.joint.name for body in tree.bodies]
    assert {name for entry in mine for name in entry.spanning} <= set(bodies)
    assert [len(entry.spanning) for entry in mine] == [len(entry.spanning) for entry in theirs]


def test_a_robot_with_strange_names_gets_its_file(run, tmp_path: Path) -> None:
    text = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    urdf = tmp_path / "robot.urdf"
    urdf.write_text(renamed(renamed(text, "link", STRANGE), "joint", STRANGE), encoding="utf-8")
    outcome = run("new", urdf, "--yes", "-o", tmp_path / "loops.yaml")
    assert outcome.status == 0, outcome.err


def test_lists_of_many_names_are_broken_between_names() -> None:
    names = [f"joint  number {k}" for k in range(30)]
    text = _names("jointnames_spanningtree", names)
    assert yaml.safe_load(text) == {"jointnames_spanningtree": names}
    assert max(map(len, text.splitlines())) <= 97 and len(text.splitlines()) > 3


def test_nothing_is_overwritten_without_force(run, tmp_path: Path) -> None:
    out = tmp_path / "loops.yaml"
    out.write_text("mine", encoding="utf-8")
    outcome = run("new", "crank_leg", "--yes", "-o", out)
    assert outcome.status == 2 and "--force" in outcome.err
    assert out.read_text(encoding="utf-8") == "mine"
    assert run("new", "crank_leg", "--yes", "--force", "-o", out).status == 0
    assert out.read_text(encoding="utf-8").startswith("# Loops of crank_leg.urdf")


def test_the_next_command_can_be_pasted(run, tmp_path: Path) -> None:
    urdf, out = tmp_path / "my robot.urdf", tmp_path / "my loops.yaml"
    urdf.write_bytes((ROOT / "urdf" / "crank_leg.urdf").read_bytes())
    said = run("new", urdf, "--yes", "-o", out).out
    words = shlex.split(said.partition("next: closed-loop ")[2])
    assert words == ["check", str(urdf), str(out)]


def test_standard_output_has_only_the_file(run) -> None:
    outcome = run("new", "four_bar", "--yes", "-o", "-")
    assert outcome.out.startswith("# Loops of") and "you command rocker" in outcome.err
    _, urdf, _ = find_robot("four_bar")
    assert len(entries(read_urdf(urdf), outcome.out)) == 1


def test_nobody_to_ask_is_a_usage_error(run, tmp_path: Path) -> None:
    outcome = run("new", "crank_leg", "-o", tmp_path / "x.yaml")
    assert outcome.status == 2 and "give --yes" in outcome.err


def test_answers_change_the_file(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answers = iter(["", "knee", "kneecylinder", "knee_cylinder_tilt", "n"])
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("builtins.input", answer)
    out = tmp_path / "loops.yaml"
    monkeypatch.setattr(new, "_somebody_is_there", lambda: True)
    outcome = run("new", "crank_leg", "-o", out)
    assert outcome.status == 0, outcome.err
    assert "no joint 'kneecylinder' here; did you mean 'knee_cylinder'?" in outcome.out
    assert len(asked) == 5
    (entry,) = entries(read_urdf(ROOT / "urdf" / "crank_leg.urdf"), out)
    assert entry.active == ("knee_cylinder_tilt",) and entry.independent == ("knee",)


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("rod", "write LINK~LINK"),
        ("knee_cylinder_rodd~shank", "did you mean 'knee_cylinder_rod'?"),
        ("ankle_rod_tip~ankle_push_rod", "do not move relative to each other"),
    ],
)
def test_wrong_pairs(run, tmp_path: Path, pair: str, message: str) -> None:
    words = ["--yes", "--loop", pair, "-o", tmp_path / "x.yaml"]
    outcome = run("new", "crank_leg", *words)
    assert outcome.status == 2 and message in outcome.err
