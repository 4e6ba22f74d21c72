"""Writes guessed loops as a commented submechanism file."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
import yaml

from ..arrays import Array
from ..closure.cut_joint import universal_axes
from ..model.poses import link_pose
from ..model.tree import Tree
from ..se3 import inverse, pose
from .loop_branches import COINCIDENT, Branches, Cut, Guess, Tip

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
    text, view = _HEAD.format(urdf=_remark(urdf)), Branches(tree)
    for guess in guesses:
        text += "\n" + _entry(view, guess)
    if left:
        text += _LEFT
        lines = (f"#   {_remark(tip.link)} (joint {_remark(tip.joint)})\n" for tip in left)
        text += "".join(lines)
    for sentence in doubtful:
        text += "\n# " + "\n#   ".join(textwrap.wrap(f"Not used: {sentence}", 94)) + "\n"
    return text


def _entry(view: Branches, guess: Guess) -> str:
    names, independent, active = (
        [view.tree.bodies[b].joint.name for b in bodies]
        for bodies in (guess.joints, guess.independent, guess.active)
    )
    kind = "planar, " if guess.normal is not None else ""
    count = len(guess.cuts)
    loops = f"{count} loop{'s' * (count > 1)}"
    freedom = f"{len(independent)} degree{'s' * (len(independent) > 1)} of freedom"
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
        lines += _cut_lines(view, cut, normal)
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


def _cut_lines(view: Branches, cut: Cut, normal: Array | None) -> list[str]:
    if cut.swing is not None:
        return _swing_lines(view, cut)
    where = f"   # lies at {_remark(cut.coincides)} when q = 0" if cut.coincides else ""
    joint = _scalar(cut.tip.joint)
    lines = [
        f"  - cut_joint: {joint}   # the cut is at the origin of its child link at q = 0",
        f"    predecessor_body: {_scalar(cut.tip.link)}",
        f"    successor_body: {_scalar(cut.successor)}{where}",
    ]
    R = link_pose(view.tree, view.poses, cut.tip.link)[:3, :3]
    if np.linalg.norm(view.point(cut.tip.link) - cut.tip.point) > COINCIDENT:  # as the user says
        lines[0:2] = [f"  - predecessor_body: {_scalar(cut.tip.link)}"]
        lines += _frames(view, (cut.tip.link, cut.successor), pose(R, cut.tip.point))
    if cut.kind != "spherical":
        axis = [] if cut.kind == "fixed" else [f"    axis: {_flow(R.T @ cut.axis)}"]
        return [*lines, f"    cut: {cut.kind}", *axis]
    if normal is None:
        return [
            *lines,
            "    cut: spherical                    # the point is held, rotations are free",
        ]
    n = R.T @ normal
    lines.append("    constraint_axes:                  # the point is held in the plane")
    return [*lines, *(_axis(f"loopT{k + 1}", np.zeros(3), a) for k, a in enumerate(_across(n)))]


def _swing_lines(view: Branches, cut: Cut) -> list[str]:
    """A rod that spins and swings about a second hinge normal to the first: explicit frames."""
    rod, x = view.axis(cut.tip.body), view.locked_axis(cut)
    frame = pose(np.column_stack([x, np.cross(rod, x), rod]), cut.tip.point)
    successor = _scalar(cut.successor)
    lines = [
        f"  - predecessor_body: {successor}   # a hinge; the rod spins and swings on it",
        f"    successor_body: {_scalar(cut.tip.link)}",
    ]
    lines += [*_frames(view, (cut.successor, cut.tip.link), frame), "    constraint_axes:"]
    lines += [_axis(f"loopT{c}", np.zeros(3), a) for c, a in zip("XYZ", _PLAIN, strict=True)]
    return [*lines, _axis("loopRX", _PLAIN[0], np.zeros(3))]


def _frames(view: Branches, links: tuple[str, str], frame: Array) -> list[str]:
    """One pose (4, 4) in the root frame at q = 0, as seen from both links."""
    from scipy.spatial.transform import Rotation

    lines = []
    for side, link in zip(("predecessor", "successor"), links, strict=True):
        local = inverse(link_pose(view.tree, view.poses, link)) @ frame
        rpy = Rotation.from_matrix(local[:3, :3]).as_euler("xyz")
        lines.append(f"    {side}_frame: {{xyz: {_flow(local[:3, 3])}, rpy: {_flow(rpy)}}}")
    return lines


def _across(normal: Array) -> tuple[Array, Array]:
    """Two axes of the plane: coordinate axes where the normal is one."""
    k = int(np.argmax(np.abs(normal)))
    if abs(abs(normal[k]) - 1.0) < 1e-9:
        first, second = (a for i, a in enumerate(_PLAIN) if i != k)
        return first, second
    return universal_axes(normal / np.linalg.norm(normal))


def _axis(name: str, angular: Array, linear: Array) -> str:
    return f"    - {{name: {name}, axis: {_flow(np.concatenate([angular, linear]))}}}"


def _flow(values: Array) -> str:
    return "[" + ", ".join(f"{round(float(v), 13) + 0.0:.14g}" for v in values) + "]"
