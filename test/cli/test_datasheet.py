"""``report``: a robot on one page, with the numbers of the library."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.commands.report import _loads, _Poses, _spaces


class Page(HTMLParser):
    """Rows of all tables, headings, and what the page would load."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.titles: list[str] = []
        self.loads: list[str] = []
        self._in = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._in = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")
        self.loads += [value or "" for key, value in attrs if key in ("src", "srcset", "href")]

    def handle_endtag(self, tag: str) -> None:
        self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in in ("td", "th"):
            self.rows[-1][-1] += data
        if self._in in ("h1", "h2"):
            self.titles.append(data)

    def row(self, first: str, cells: int) -> list[str]:
        (found,) = [row for row in self.rows if row[0] == first and len(row) == cells]
        return found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    from closed_loop_dynamics.cli.command_line import main

    path = tmp_path_factory.mktemp("report") / "leg.html"
    assert main(["report", "crank_leg", "--poses", "12", "--grid", "5", "-o", str(path)]) == 0
    return Page(path.read_text(encoding="utf-8"))


def test_the_page_has_every_chapter_and_loads_nothing(page: Page) -> None:
    chapters = ["Findings", "Joints", "Limits in both spaces", "Loads at rest"]
    assert page.titles == ["crank_leg", *chapters, "Transmission: knee", "Transmission: ankle"]
    assert len({*page.loads}) == 5  # the drawing, and two mechanisms light and dark
    for url in page.loads:
        kind, _, data = url.partition(",")
        assert kind == "data:image/png;base64"
        assert base64.b64decode(data).startswith(b"\x89PNG")


def test_numbers_are_those_of_the_library(page: Page, leg: cld.Robot) -> None:
    y = leg.random_independent(np.random.default_rng(0), 12)
    zero = np.zeros(3)
    tau = np.array([leg.inverse_dynamics(each, zero, zero) for each in y])
    (cells,) = [row for row in page.rows if row[0] == "knee_cylinder" and row[3] == "N"]
    low, high, _, share = cells[1:]
    assert [low, high] == [f"{tau[:, 1].min():.4g}", f"{tau[:, 1].max():.4g}"]
    assert float(share) == pytest.approx(100 * np.abs(tau[:, 1]).max() / 2500, rel=0.01)
    reach = leg.submechanism("knee").reachable_interval()
    limits = page.row("knee", 9)
    assert limits[1:4] == ["rad", "-0.05", "1.8"] and limits[-1] == "80 N·m"
    assert [float(v) for v in limits[4:6]] == pytest.approx(reach, abs=1e-3)
    rows = [row[:7] for row in page.rows if row[0] == "hip" and len(row) == 9]
    assert rows == 2 * [["hip", "rad", "-1.4", "0.8", "-1.4", "0.8", ""]]
    u = np.array([leg.state(each).u[1] for each in y])
    cells = [f"{u.min():.4g}", f"{u.max():.4g}", "at least"]
    assert page.row("knee_cylinder", 9)[4:7] == cells
    forces = np.max([leg.internal_loads(each, zero, zero).forces for each in y], axis=0)
    names = leg.internal_loads(y[0], zero, zero).names
    row = next(row for row in page.rows if row[0] == "ankle" and row[1:3] == ["shank", "foot"])
    assert float(row[3]) == pytest.approx(forces[names.index("ankle")], rel=1e-3)
    M = np.array([leg.mass_matrix(each)[0, 0] for each in y])
    assert page.row("hip", 4)[1:] == [f"{M.min():.3g}", f"{M.max():.3g}", "kg·m²"]


def test_findings_are_those_of_check_and_loads_may_not_be_determined(run, tmp_path: Path) -> None:
    urdf = tmp_path / "two.urdf"
    joint = (
        '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{2}"/>'
        '<axis xyz="0 1 0"/>'
        '<limit lower="-1" upper="1" effort="5" velocity="1"/></joint>'
    )
    link = (
        '<link name="{}"><inertial><origin xyz="0 0 -0.1"/><mass value="1"/><inertia ixx="0.01" '
        'iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    urdf.write_text(
        f'<robot name="two"><link name="a"/>{link.format("b")}{link.format("c&lt;d")}'
        f"{joint.format('j', 'a', 'b')}{joint.format('k', 'b', 'c&lt;d')}</robot>"
    )
    loops = tmp_path / "loops.yaml"
    loops.write_text(
        "submechanisms:\n  - {name: s, type: serial, jointnames_spanningtree: [j, k],\n"
        "     jointnames_independent: [j, k], jointnames_active: [j]}\n"
    )
    out = tmp_path / "two.html"
    outcome = run("report", urdf, loops, "--poses", "3", "-o", out)
    assert outcome.status == 0 and outcome.out == f"wrote {out}\n"
    text = out.read_text(encoding="utf-8")
    assert "They are not determined" in text and "b → c&lt;d" in text and "c<d" not in text
    for finding in cld.load(urdf, loops).report().findings:
        words = re.sub(r"['\"<>&].*", "", finding.message)
        assert words in text


def test_rounding_is_no_force_and_all_that_limits_allow_is_no_least() -> None:
    robot = cld.load("rh5_leg", prepare=())
    seen = _Poses(robot, 0.1 * robot.random_independent(np.random.default_rng(0), 2))
    seen.tau[:, robot.names.actuator.index("hip_yaw")] = 1e-15, -2e-15
    (row,) = [row for row in Page(_loads(robot, seen)).rows if row[::3] == ["hip_yaw", "N·m"]]
    assert [float(cell) for cell in (*row[1:3], row[4])] == [0.0, 0.0, 0.0]
    page = Page(_spaces(robot, robot.report(), seen))
    row = page.row("ankle_pitch", 9)
    assert row[2:4] == row[4:6] and row[6] == ""
    assert page.row("ankle_left_cylinder", 9)[6] == "at least"


def test_wrong_names_are_refused_before_the_work(run, tmp_path: Path) -> None:
    outcome = run("report", "crank_leg", "-o", tmp_path / "x.pdf")
    assert outcome.status == 2 and "name it .html" in outcome.err
