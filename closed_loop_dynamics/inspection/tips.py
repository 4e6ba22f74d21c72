"""Do the ends of a cut meet? A cut without frames is closed at q = 0 by definition, wherever the
links are that it joins: tips that were meant to lie on each other may be apart without a word.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ..closure.cut_joint import CutJoint
from ..model.clusters import Component
from ..model.poses import body_poses, link_pose
from ..model.tree import Tree

#: More than rounded dimensions [m].
GAP = 1e-4
#: A tip that is further away, in sizes of the loop, marks something else.
ELSEWHERE = 0.25


def tip_gaps(
    tree: Tree, component: Component, cuts: Sequence[CutJoint]
) -> Iterator[tuple[str, str]]:
    """Severity and sentence for each tip (a massless link at the end of a chain) off its cut.

    Where both sides of the cut are tips they were meant to meet, however far apart they are.
    """
    poses = body_poses(tree)
    for loop, cut in zip(component.loops, cuts, strict=True):
        if cut.explicit:
            continue
        P = poses[cut.predecessor] @ cut.frame_p
        points = np.array([poses[b][:3, 3] for b in cut.bodies])
        size = float(np.linalg.norm(np.ptp(points, axis=0)))
        links = (loop.predecessor, loop.successor)
        both = all(is_tip(tree, link) for link in links)
        for link in links:
            away = P[:3, :3].T @ (link_pose(tree, poses, link)[:3, 3] - P[:3, 3])
            gap = float(np.linalg.norm([axis @ away for axis in cut.translations]))
            if gap > GAP and (both or (gap < ELSEWHERE * size and is_tip(tree, link))):
                yield (
                    "error" if both else "warning",
                    f"{loop.predecessor} ~ {loop.successor}: the origin of '{link}' is "
                    f"{1e3 * gap:.3g} mm away from the cut, the origin of the link of "
                    f"'{loop.cut_joint}', at q = 0; move one of them, or give predecessor_frame "
                    "and successor_frame",
                )


def is_tip(tree: Tree, link: str) -> bool:
    """Whether a link has no mass and carries no joint: it is there to mark a point."""
    body, _ = tree.frames[link]
    mass = tree.link_inertias.get(link, (0.0,))[0]
    moved = body >= 0 and tree.bodies[body].link == link
    carries = link == tree.root_link or (moved and any(b.parent == body for b in tree.bodies))
    return mass == 0.0 and not carries
