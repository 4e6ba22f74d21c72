"""``closed-loop new``: guess the submechanism file of a URDF."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from ...errors import ClosedLoopError, did_you_mean
from ...inspection.loop_branches import Guess, Hints
from ...inspection.loop_doubts import doubts
from ...inspection.loop_guess import guess_loops, with_pairs
from ...inspection.loop_yaml import loop_file
from ...model import read_urdf
from ...model.poses import body_poses, link_pose
from ...model.tree import Tree
from ...model.urdf.drives import driven_joints
from ...model.urdf.elements import read_root
from ...robot import load
from ..arguments import STANDARD, real
from ..mistakes import FileProblem, UsageError
from ..output import check_place, put
from ..progress import Compilations, loading
from ..robot_argument import RobotFile, find_robot
from ..terminal import folded

DESCRIPTION = """\
Guess the submechanism file of a URDF whose loops were cut open: which links were joined, which
joints belong together, which you command and which are driven. Looks for chains that end in the air
(a slider, or a massless link that marks the tip of a rod) beside another chain, for cylinders that
move a platform through cranks and rods, for links that coincide at q = 0 or are drawn where a rod
ends, and counts degrees of freedom against drives: those of <transmission> and <ros2_control>, or
guessed ones. Says what it did not use or understand. Asks before it believes; --yes takes every
guess. The file that it writes is loaded before it is kept: loops that do not close, or that leave
other degrees of freedom than it says, are not written.
"""
KINDS = ("revolute", "spherical", "universal", "fixed")
EPILOG = """\
examples:
  closed-loop new robot.urdf                          # asks; writes robot_submechanisms.yaml
  closed-loop new robot.urdf --yes -o loops.yaml
  closed-loop new robot.urdf --yes -o -               # to standard output
  closed-loop new robot.urdf --loop rod_tip~shank     # tell it one loop, it finds the rest
  closed-loop new robot.urdf --loop rod~foot --at 0 0 0.3 --cut revolute --active crank

Not found: gears and belts (write `couplings:`, see docs/file_format.md), other legs between legs
(use --loop), a wrong choice of drives (use --active).
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "urdf", type=RobotFile, metavar="URDF", help="a URDF file, or the name of a shipped robot"
    )
    parser.add_argument(
        "--loop",
        action="append",
        default=[],
        metavar="LINK~LINK",
        help="a loop you know: the link that ends at the cut, and the one it was joined to",
    )
    parser.add_argument(
        "--at",
        action="append",
        nargs=3,
        default=[],
        type=real,
        metavar=("X", "Y", "Z"),
        help="where the loop of --loop was cut, in the frame of its first link [m]; one for each",
    )
    parser.add_argument("--cut", choices=KINDS, default="", help="the joint that --loop closes")
    for role, what in (("active", "driven"), ("independent", "those you command")):
        help = f"joints that are {what}, in place of a guess"
        parser.add_argument(f"--{role}", nargs="+", default=[], metavar="JOINT", help=help)
    parser.add_argument("--only", action="store_true", help="the loops of --loop, no guesses")
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--force", action="store_true", help="overwrite an existing file")
    parser.add_argument(
        "-o",
        "--output",
        metavar="YAML",
        help="default: URDF's name with _submechanisms.yaml, in the current folder",
    )


def run(options: argparse.Namespace) -> int:
    """Guess, ask, write, load."""
    sources = find_robot(options.urdf)
    root = read_root(sources.urdf)
    tree = read_urdf(root)
    output = options.output or f"{sources.name}_submechanisms.yaml"
    if output != STANDARD:
        check_place(output, options)
        if Path(output).expanduser().is_file() and not options.force:
            raise UsageError(f"'{output}' exists; give --force to overwrite it, or another name")
    asks = not options.yes
    if asks and not _somebody_is_there():
        raise UsageError("there is nobody to ask (no terminal); give --yes")
    pairs = [_pair(tree, word) for word in options.loop]
    hints = _hints(tree, driven_joints(root), pairs, options)
    guesses, left = ([], []) if options.only else guess_loops(tree, replace(hints, kind=""))
    guesses = with_pairs(tree, guesses, pairs, hints)
    chosen = _bodies(tree, options.independent, "--independent")
    for n, guess in enumerate(guesses):
        own = tuple(b for b in chosen if b in guess.joints)
        guesses[n] = replace(guess, independent=own or guess.independent)
    tips = {cut.tip.link for guess in guesses for cut in guess.cuts}
    left = [tip for tip in left if tip.link not in tips]
    if asks:
        guesses = [g for guess in guesses if (g := _asked(tree, guess)) is not None]
    doubtful = doubts(tree, guesses)
    text = loop_file(tree, guesses, left, doubtful, f"{sources.name}.urdf")
    note = sys.stderr if output == STANDARD else sys.stdout
    for guess in guesses:
        print(_sentence(tree, guess), file=note)
    for tip in left:
        at = ", ".join(f"{value:.4g}" for value in tip.point + 0.0)
        told = f"not understood: {tip.link} ends in the air at ({at}) when all joints are at zero"
        print(folded(f"{told}; say what it was joined to: --loop {tip.link}~LINK"), file=note)
    for sentence in doubtful:
        print(folded(f"not used: {sentence}"), file=note)
    if not guesses:
        raise FileProblem("no loops found, nothing written; name them with --loop LINK~LINK")
    if rest := _alone(tree, guesses):
        print(folded(rest), file=note)
    with Compilations(sources.name), loading(sources.name):
        _prove(sources.urdf, text)
    if output == STANDARD:
        sys.stdout.write(text)
    else:
        put(output, text)
        files = shlex.join([options.urdf, output])
        print(f"wrote {output}; next: closed-loop check {files}")
    return 0


def _somebody_is_there() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()


def _hints(
    tree: Tree, driven: Sequence[str], pairs: Sequence[tuple[str, str]], options: argparse.Namespace
) -> Hints:
    """What the URDF and the user say."""
    if options.at and len(options.at) != len(pairs):
        raise UsageError(f"{len(options.at)} --at for {len(pairs)} --loop; give one for each")
    if options.cut and not pairs:
        raise UsageError("--cut is the joint that --loop closes; name the loop")
    poses = body_poses(tree)
    points = {}
    for word, (first, _), at in zip(options.loop, pairs, options.at, strict=False):
        typed = link_pose(tree, poses, word.partition("~")[0].strip())
        points[first] = typed[:3, :3] @ at + typed[:3, 3]
    known = [name for name in driven if name in tree.joint_names]
    bodies = _bodies(tree, options.active, "--active") or [tree.joint_index(name) for name in known]
    return Hints(frozenset(bodies), points, options.cut)


def _bodies(tree: Tree, names: Sequence[str], option: str) -> list[int]:
    for name in names:
        if name not in tree.joint_names:
            raise UsageError(f"{option}: no joint '{name}'; {did_you_mean(name, tree.joint_names)}")
    return [tree.joint_index(name) for name in names]


def _prove(urdf: str | Path, text: str) -> None:
    """The file must load, and its ends must meet."""
    try:
        for finding in load(urdf, text).report().errors:
            if finding.code == "gap":
                raise FileProblem(finding.message)
    except ClosedLoopError as error:
        raise FileProblem(
            f"the guess does not load: {error}; leave a loop out (answer n), or name the right "
            "ones with --loop and --only"
        ) from error


def _pair(tree: Tree, word: str) -> tuple[str, str]:
    first, found, second = (part.strip() for part in word.partition("~"))
    if not found:
        raise UsageError(f"--loop '{word}': write LINK~LINK, such as rod_tip~shank")
    for link in (first, second):
        if link not in tree.frames:
            raise UsageError(f"--loop: no link '{link}'; {did_you_mean(link, tree.frames)}")
    if tree.frames[first][0] == tree.frames[second][0]:
        raise UsageError(f"--loop: '{first}' and '{second}' do not move relative to each other")
    if tree.frames[first][0] < 0:
        first, second = second, first
    return first, second


def _joint_names(tree: Tree, bodies: Sequence[int]) -> list[str]:
    return [tree.bodies[b].joint.name for b in bodies]


def _alone(tree: Tree, guesses: Sequence[Guess]) -> str:
    used = {b for guess in guesses for b in guess.joints}
    rest = [b for b in range(len(tree.bodies)) if b not in used]
    if not rest:
        return ""
    names = " ".join(_joint_names(tree, rest))
    return f"in no loop, so each driven by itself (gears and belts: see --help): {names}"


def _sentence(tree: Tree, guess: Guess) -> str:
    cuts = ", ".join(f"{cut.tip.link} ~ {cut.successor}" for cut in guess.cuts)
    moved, driven = (" ".join(_joint_names(tree, b)) for b in (guess.independent, guess.active))
    return f"{guess.name}: {cuts}; you command {moved}; driven: {driven}"


# -- asking ---------------------------------------------------------------------------------------


def _asked(tree: Tree, guess: Guess) -> Guess | None:
    """The guess with the user's corrections, or None."""
    print(f"\n{guess.name}: {len(guess.joints)} joints")
    for cut in guess.cuts:
        extra = f" (it lies at {cut.coincides} there)" if cut.coincides else ""
        print(f"  {cut.tip.link} ends in the air at q = 0: joined to {cut.successor}?{extra}")
    if not _yes("  is this a mechanism?"):
        return None
    independent = _choose(tree, guess, guess.independent, "joints you command")
    active = _choose(tree, guess, guess.active, "driven joints")
    return replace(guess, independent=independent, active=active)


def _yes(question: str) -> bool:
    while True:
        answer = input(f"{question} [Y/n] ").strip().lower()
        if answer in ("", "y", "yes"):
            return True
        if answer in ("n", "no"):
            return False


def _choose(tree: Tree, guess: Guess, default: Sequence[int], what: str) -> tuple[int, ...]:
    """Joints of the mechanism by name; return keeps the default."""
    names = _joint_names(tree, guess.joints)
    proposal = " ".join(_joint_names(tree, default))
    while True:
        words = input(f"  {what} [{proposal}]: ").replace(",", " ").split()
        unknown = [word for word in words if word not in names]
        if not words:
            return tuple(default)
        if not unknown:
            return tuple(tree.joint_index(word) for word in words)
        print(f"    no joint '{unknown[0]}' here; {did_you_mean(unknown[0], names)}")
