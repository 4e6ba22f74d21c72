"""The cluster tree of a robot as SVG: one box per cluster, from the root on the left outwards."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape

from ..model.tree import PRISMATIC
from ..robot import Robot

FONT = "system-ui, 'Segoe UI', Helvetica, Arial, sans-serif"
LETTER = 7.1  # mean width of a letter at 13 px [px]
LINE, PAD, GAP_X, GAP_Y, MARGIN, TITLE = 19.0, 10.0, 46.0, 14.0, 24.0, 44.0
INK, GREY, EDGE = "#23272e", "#6b7280", "#9aa3af"
ROLES = {
    "commanded and driven": "#8e44ad",
    "commanded": "#2a9d3a",
    "driven": "#d62728",
    "dependent": "#ffffff",
}
FILLS = {
    "closed form": "#e3f1fd",
    "Newton": "#fdebd8",
    "coupling": "#efe7fb",
    "no loop": "#f3f4f6",
}


@dataclass(eq=False)
class Box:
    """One cluster on the page."""

    title: str
    kind: str
    joints: list[tuple[str, str, bool]]  # name, role, slides
    children: list[Box] = field(default_factory=list)
    parent_link: str = ""
    x: float = 0.0
    y: float = 0.0

    @property
    def width(self) -> float:
        longest = max([len(self.title) + 1, *(len(name) + 4 for name, _, _ in self.joints)])
        return max(2 * PAD + LETTER * longest, 84.0)

    @property
    def height(self) -> float:
        return 2 * PAD + LINE * (1 + len(self.joints)) - 4.0

    def below(self) -> float:
        """Height of all that hangs on the box."""
        return sum(child.extent() + GAP_Y for child in self.children) - GAP_Y

    def extent(self) -> float:
        """Height of the box with all that hangs on it."""
        return max(self.height, self.below())


def cluster_svg(robot: Robot) -> str:
    """The drawing."""
    root = _boxes(robot)
    name = robot.mechanism.tree.name
    facts = (
        f"{robot.n} joints, {robot.m} independent, {robot.p} driven, "
        f"{len(robot.mechanism.clusters)} clusters"
    )
    width = max(_place(root), MARGIN + 12.5 * len(name) + LETTER * len(facts)) + MARGIN
    legend, end = _legend(TITLE + root.extent() + MARGIN + LINE + 16.0, width)
    height = end + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
        f'viewBox="0 0 {width:.0f} {height:.0f}" '
        f'font-family="{FONT}" font-size="13" fill="{INK}">',
        f"<title>Cluster tree of {escape(root.title)}</title>",
        '<rect width="100%" height="100%" fill="#ffffff"/>',
        _text(MARGIN, 30, name, size=18, weight="600").removesuffix("</text>")
        + f'<tspan dx="14" font-size="13" font-weight="400" fill="{GREY}">{facts}</tspan></text>',
    ]
    parts += _edges(root)
    parts += [line for box in _all(root) for line in _draw(box)]
    return "\n".join([*parts, *legend, "</svg>"]) + "\n"


def _boxes(robot: Robot) -> Box:
    mech = robot.mechanism
    root = Box(mech.tree.root_link, "root", [])
    of_body: dict[int, Box] = {}
    for cluster in mech.clusters:
        names = list(dict.fromkeys(mech.components[c].entry.name for c in cluster.components))
        kinds = [mech.closures[c].kind for c in cluster.components]
        joints = []
        for b in cluster.bodies:
            joint = mech.tree.bodies[b].joint
            joints.append((joint.name, _role(robot, joint.name), joint.kind == PRISMATIC))
        box = Box(", ".join(names), _kind(kinds), joints)
        if cluster.parent >= 0:
            box.parent_link = mech.tree.bodies[cluster.parent].link
        of_body.get(cluster.parent, root).children.append(box)
        of_body.update(dict.fromkeys(cluster.bodies, box))
    return root


def _role(robot: Robot, name: str) -> str:
    commanded, driven = name in robot.names.independent, name in robot.names.actuator
    if commanded and driven:
        return "commanded and driven"
    return "commanded" if commanded else "driven" if driven else "dependent"


def _kind(kinds: list[str]) -> str:
    if "numerical" in kinds:
        return "Newton"
    if "analytical" in kinds or "function" in kinds:
        return "closed form"
    return "coupling" if "coupling" in kinds else "no loop"


# -- places ---------------------------------------------------------------------------------------


def _all(box: Box) -> list[Box]:
    return [box, *(b for child in box.children for b in _all(child))]


def _place(root: Box) -> float:
    """Set x and y of all boxes, a column for every generation; returns the right end."""
    x, end, level = MARGIN, MARGIN, [root]
    while level:
        for box in level:
            box.x = x
        end = x + max(box.width for box in level)
        x = end + GAP_X
        level = [child for box in level for child in box.children]
    _place_down(root, TITLE + MARGIN / 2)
    return end


def _place_down(box: Box, top: float) -> None:
    extent = box.extent()
    box.y = top + (extent - box.height) / 2
    top += (extent - box.below()) / 2
    for child in box.children:
        _place_down(child, top)
        top += child.extent() + GAP_Y


# -- strokes --------------------------------------------------------------------------------------


def _edges(root: Box) -> list[str]:
    lines = []
    for box in _all(root):
        x0, y0 = box.x + box.width, box.y + box.height / 2
        for child in box.children:
            x1, y1 = child.x, child.y + child.height / 2
            bend = x1 - GAP_X / 2
            hint = f"<title>on link {escape(child.parent_link or root.title)}</title>"
            lines.append(
                f'<path d="M{x0:.1f},{y0:.1f} L{x1 - GAP_X:.1f},{y0:.1f} C{bend:.1f},{y0:.1f} '
                f'{bend:.1f},{y1:.1f} {x1:.1f},{y1:.1f}" fill="none" stroke="{EDGE}" '
                f'stroke-width="1.6">{hint}</path>'
            )
    return lines


def _draw(box: Box) -> list[str]:
    fill = FILLS.get(box.kind, "#4b5563")
    ink = "#ffffff" if box.kind == "root" else INK
    lines = [
        f'<rect x="{box.x:.1f}" y="{box.y:.1f}" width="{box.width:.1f}" '
        f'height="{box.height:.1f}" rx="7" fill="{fill}" stroke="{EDGE}"/>',
        _text(box.x + PAD, box.y + PAD + 11, box.title, weight="600", color=ink),
    ]
    for k, (name, role, slides) in enumerate(box.joints):
        y = box.y + PAD + 8 + LINE * (k + 1)
        lines.append(_dot(box.x + PAD + 5, y, role, slides))
        lines.append(_text(box.x + PAD + 18, y + 4, name))
    return lines


def _dot(x: float, y: float, role: str, slides: bool) -> str:
    style = f'fill="{ROLES[role]}" stroke="{INK}" stroke-width="1"'
    if slides:
        return f'<rect x="{x - 5:.1f}" y="{y - 4:.1f}" width="10" height="8" {style}/>'
    return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4.6" {style}/>'


def _text(
    x: float, y: float, text: str, *, size: int = 13, weight: str = "400", color: str = INK
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" font-weight="{weight}" '
        f'fill="{color}">{escape(text)}</text>'
    )


def _legend(top: float, width: float) -> tuple[list[str], float]:
    """What dots and fills mean, in as many lines as fit into the width; where they end."""
    lines, x, y = [], MARGIN + 5, top
    dots = [*((role, role, False) for role in ROLES), ("slides", "dependent", True)]
    for text, role, slides in [*dots, *((kind, "", False) for kind in FILLS)]:
        wide = 34.0 + LETTER * len(text) + 4.0 * text.count("m")
        if x + wide > width:
            x, y = MARGIN + 5, y + LINE
        box = (
            f'<rect x="{x - 5:.1f}" y="{y - 11:.1f}" width="14" height="14" rx="3" '
            f'fill="{FILLS.get(text)}" stroke="{EDGE}"/>'
        )
        lines.append(_dot(x, y - 4, role, slides) if role else box)
        lines.append(_text(x + 13, y, text, size=12, color=GREY))
        x += wide
    return lines, y
