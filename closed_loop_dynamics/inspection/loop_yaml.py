"""Writes guessed loops as a commented submechanism file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import yaml

from ..arrays import Array
from ..closure.cut_joint import universal_axes
from ..model.poses import Poses, body_poses, link_pose
from ..model.tree import Tree
from ..se3 import inverse, pose
from .loop_branches import Guess
from .loop_mobility import Cut, Tip, locked_axis

_HEAD = """\
# Loops of {urdf}, guessed by `closed-loop new` from the geometry at q = 0.
# A guess is not knowledge: compare with the real robot which joints are driven, and look at
# `closed-loop check` and `closed-loop info`. Joints in no entry are plain serial joints.
submechanisms:
"""
_LEFT = """
# Not understood: these links end in the air, too. If they close a loop, say to what
# (closed-loop new ... --loop LINK~OTHER_LINK), or write the entry by hand:
"""
_PLAIN = np.eye(3)


def loop_file(
    tree: Tree, guesses: Sequence[Guess], left: Sequence[Tip], doubtful: Sequence[str], urdf: str
) -> str:
    """The text of the file; ``left`` and ``doubtful`` become comments."""
    text = _HEAD.format(urdf=_remark(urdf))
    for guess in guesses:
        text += "\n" + _entry(tree, guess)
    if left:
        text += _LEFT
        lines = (f"#   {_remark(tip.link)} (joint {_remark(tip.joint)})\n" for tip in left)
        text += "".join(lines)
    for sentence in doubtful:
        text += "\n# " + "\n#   ".join(textwrap.wrap(f"Not used: {sentence}", 94)) + "\n"
    return text


def _entry(tree: Tree, guess: Guess) -> str:
    names = [tree.bodies[b].joint.name for b in guess.joints]
    independent = [tree.bodies[b].joint.name for b in guess.independent]
    active = [tree.bodies[b].joint.name for b in guess.active]
    kind = "planar, " if guess.normal is not None else ""
    count = len(guess.cuts)
    loops = f"{count} loop{'s' * (count > 1)}"
    freedom = f"{len(independent)} degree{'s' * (len(independent) > 1)} of freedom"
    poses = body_poses(tree)
    lines = [
        f"  # {kind}{len(names)} joints, {loops}, {freedom}.",
        f"- name: {_scalar(guess.name)}",
        "  type: NUMERICAL                     # closed forms are found and used all the same",
        _names("jointnames_spanningtree", names),
        _names("jointnames_independent", independent) + "   # those you command",
        _names("jointnames_active", active) + "   # those a motor or cylinder drives: a guess",
        "  loop_constraints:",
    ]
    for cut in guess.cuts:
        normal = cut.normal if guess.normal is None else guess.normal
        lines += _cut_lines(tree, poses, cut, normal)
    return "\n".join(lines) + "\n"


def _scalar(name: str) -> str:
    """A name as YAML reads it back: quoted where it would mean something else (1, yes, a #b)."""
    return yaml.safe_dump([name], default_flow_style=True, allow_unicode=True, width=10**9)[1:-2]


def _remark(name: str) -> str:
    """A name in a comment: on one line."""
    return " ".join(name.split())


def _names(key: str, names: Sequence[str]) -> str:
    """A list over as many lines as it takes, broken between names."""
    start = f"  {key}: "
    words = [f"{_scalar(name)}," for name in names[:-1]] + [_scalar(name) for name in names[-1:]]
    lines = words[:1]
    for word in words[1:]:
        if len(lines[-1]) + len(word) < 96 - len(start):
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    break_line = "\n" + " " * (len(start) + 1)
    return f"{start}[{break_line.join(lines)}]"


def _cut_lines(tree: Tree, poses: Poses, cut: Cut, normal: Array | None) -> list[str]:
    if cut.swing is not None:
        return _swing_lines(tree, poses, cut)
    where = f"   # lies at {_remark(cut.coincides)} when q = 0" if cut.coincides else ""
    joint = _scalar(cut.tip.joint)
    lines = [
        f"  - cut_joint: {joint}   # the cut is at the origin of its child link at q = 0",
        f"    predecessor_body: {_scalar(cut.tip.link)}",
        f"    successor_body: {_scalar(cut.successor)}{where}",
    ]
    if normal is None:
        return [
            *lines,
            "    cut: spherical                    # the point is held, rotations are free",
        ]
    n = link_pose(tree, poses, cut.tip.link)[:3, :3].T @ normal
    lines.append("    constraint_axes:                  # the point is held in the plane")
    return [*lines, *(_axis(f"loopT{k + 1}", np.zeros(3), a) for k, a in enumerate(_across(n)))]


def _swing_lines(tree: Tree, poses: Poses, cut: Cut) -> list[str]:
    """A rod that spins and swings about a second hinge normal to the first: explicit frames."""
    assert cut.swing is not None
    rod = poses[cut.tip.body][:3, :3] @ tree.bodies[cut.tip.body].joint.axis
    x = locked_axis(tree, poses, cut)
    frame = pose(np.column_stack([x, np.cross(rod, x), rod]), cut.tip.point)
    successor = _scalar(cut.successor)
    lines = [
        f"  - predecessor_body: {successor}   # a hinge; the rod spins and swings on it",
        f"    successor_body: {_scalar(cut.tip.link)}",
    ]
    for key, link in (("predecessor_frame", cut.successor), ("successor_frame", cut.tip.link)):
        local = inverse(link_pose(tree, poses, link)) @ frame
        lines.append(f"    {key}: {{xyz: {_flow(local[:3, 3])}, rpy: {_flow(_rpy(local))}}}")
    lines.append("    constraint_axes:")
    lines += [_axis(f"loopT{c}", np.zeros(3), a) for c, a in zip("XYZ", _PLAIN, strict=True)]
    return [*lines, _axis("loopRX", _PLAIN[0], np.zeros(3))]


def _across(normal: Array) -> tuple[Array, Array]:
    """Two axes of the plane: coordinate axes where the normal is one."""
    k = int(np.argmax(np.abs(normal)))
    if abs(abs(normal[k]) - 1.0) < 1e-9:
        first, second = (a for i, a in enumerate(_PLAIN) if i != k)
        return first, second
    return universal_axes(normal / np.linalg.norm(normal))


def _axis(name: str, angular: Array, linear: Array) -> str:
    return f"    - {{name: {name}, axis: {_flow(np.concatenate([angular, linear]))}}}"


def _rpy(T: Array) -> Array:
    from scipy.spatial.transform import Rotation

    return np.asarray(Rotation.from_matrix(T[:3, :3]).as_euler("xyz"))


def _flow(values: Array) -> str:
    return "[" + ", ".join(f"{round(float(v), 13) + 0.0:.14g}" for v in values) + "]"
