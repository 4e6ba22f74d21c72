"""What a link looks like, as its file says it: shapes and names of mesh files; nothing is drawn."""

from __future__ import annotations

from dataclasses import dataclass

from ..arrays import Array

BOX, CYLINDER, SPHERE, MESH = "box", "cylinder", "sphere", "mesh"


@dataclass(frozen=True, eq=False)
class Visual:
    """One visible thing that is fixed to a link.

    Attributes:
        pose: (4, 4) in the frame of the link.
        kind: BOX, CYLINDER (along z), SPHERE or MESH.
        size: box: edges; cylinder: radius, length; sphere: radius [m].
        mesh: name of the file, as it is written; scale: (3,) along its axes.
        color: red, green, blue from 0 to 1, if the file names one; material: its name, if any.
        problem: why it cannot be shown; empty if it can. A picture with a gap is better than a
            robot that does not load.
    """

    pose: Array
    kind: str = ""
    size: tuple[float, ...] = ()
    mesh: str = ""
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    color: tuple[float, float, float] | None = None
    material: str = ""
    problem: str = ""
