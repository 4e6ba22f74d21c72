"""``report``: a robot on one page, with the numbers of the library."""

from __future__ import annotations

import base64
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from support.browser import start_browser

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.commands.report import _loads, _Poses, _spaces
from closed_loop_dynamics.cli.terminal import alike, is_number, short


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
        if tag == "wbr":  # inside a name
            return
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
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from closed_loop_dynamics.cli.command_line import main

    path = tmp_path_factory.mktemp("report") / "leg.html"
    assert main(["report", "crank_leg", "--poses", "12", "--grid", "5", "-o", str(path)]) == 0
    return path


@pytest.fixture(scope="module")
def page(file: Path) -> Page:
    return Page(file.read_text(encoding="utf-8"))


def test_the_page_has_every_chapter_and_loads_nothing(page: Page) -> None:
    chapters = ["Findings", "Joints", "Limits in both spaces", "Loads at rest"]
    assert page.titles == ["crank_leg", *chapters, "Transmission: knee", "Transmission: ankle"]
    # The drawing; of two mechanisms five panels each, light and dark
    assert len({*page.loads}) == 1 + 2 * 2 * 5
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


@pytest.mark.parametrize("width", [390, 1280])
@pytest.mark.parametrize("light", ["light", "dark"])
def test_charts_fit_the_page_and_can_be_read(file: Path, width: int, light: str) -> None:
    browser = start_browser()
    try:
        scheme = {"features": [{"name": "prefers-color-scheme", "value": light}]}
        screen = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", scheme)
        browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", screen)
        browser.get(file.as_uri())
        assert browser.execute_script("return document.documentElement.scrollWidth") == width
        charts = browser.execute_script(
            "return [...document.querySelectorAll('.charts img')].map(i => {"
            "const b = i.getBoundingClientRect(); return [b.left, b.right, i.naturalWidth]})"
        )
        assert len(charts) == 10
        for left, right, natural in charts:
            assert 0 <= left < right <= width
            assert right - left > 0.75 * natural  # letters of 8 points and more
        assert len({left for left, *_ in charts}) == (1 if width == 390 else 3)
    finally:
        browser.quit()


def test_loads_show_as_many_decimals_for_all_pins_and_mark_what_is_not_determined() -> None:
    assert alike([453.412, 0.0, 7.046, -0.3]) == ["453.41", "0", "7.05", "-0.30"]
    assert alike([2.0e4, 3.0]) == ["20000", "3"] and alike([]) == []
    assert [short(v) for v in (2e4, 12.3456, 1e-5, 3e7)] == ["20000", "12.35", "1e-05", "3e+07"]
    assert is_number("360.1*") and not is_number("knee*")
    robot = cld.load("rh5_leg", prepare=())
    text = _loads(robot, _Poses(robot, robot.random_independent(np.random.default_rng(0), 2)))
    rows = {row[0]: row for row in Page(text).rows if len(row) == 5 and "[" not in row[3]}
    assert rows["knee"][3].endswith("*") and not rows["hip_yaw"][3].endswith("*")
    assert "minimum norm" in text


def test_wrong_names_are_refused_before_the_work(run, tmp_path: Path) -> None:
    outcome = run("report", "crank_leg", "-o", tmp_path / "x.pdf")
    assert outcome.status == 2 and "name it .html" in outcome.err
