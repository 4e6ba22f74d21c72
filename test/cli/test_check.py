"""``check`` and ``info``: the linter's findings, the exit status, the facts."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support.rh5 import COUNTS, FILES, kinds, needs_models

import closed_loop_dynamics as cld

ROOT = Path(__file__).resolve().parents[2]


def test_a_clean_robot_has_status_0(run) -> None:
    outcome = run("check", "crank_leg", "--strict")
    assert outcome.status == 0 and "no errors, no warnings" in outcome.out


def test_json_is_the_report(run, leg: cld.Robot) -> None:
    data = json.loads(run("check", "crank_leg", "--json").out)
    expected = json.loads(json.dumps(leg.report().as_dict()))
    assert data.pop("ok") is True
    assert data == expected


def underactuated(folder: Path) -> Path:
    text = (ROOT / "config" / "crank_leg.yaml").read_text(encoding="utf-8")
    path = folder / "underactuated.yaml"
    path.write_text(text.replace("active: [ankle_crank]", "active: []"), encoding="utf-8")
    return path


def test_warnings_fail_only_with_strict(run, tmp_path: Path) -> None:
    files = ROOT / "urdf" / "crank_leg.urdf", underactuated(tmp_path)
    outcome = run("check", *files)
    assert outcome.status == 0 and "1 warning" in outcome.out
    assert run("check", *files, "--strict").status == 1
    quiet = run("check", *files, "--quiet").out.splitlines()
    assert quiet[0].startswith("warning:") and len(quiet) == 2


def test_errors_fail(run, tmp_path: Path) -> None:
    urdf = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    tree = ElementTree.fromstring(urdf)
    for link in tree.iter("link"):
        for inertial in link.findall("inertial"):
            link.remove(inertial)
    path = tmp_path / "massless.urdf"
    path.write_bytes(ElementTree.tostring(tree))
    outcome = run("check", path, ROOT / "config" / "crank_leg.yaml")
    assert outcome.status == 1 and "error:" in outcome.out and "singular-inertia" in outcome.out


def test_what_is_not_used_of_a_urdf_is_said(run, tmp_path: Path) -> None:
    urdf = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    path, loops = tmp_path / "more.urdf", ROOT / "config" / "crank_leg.yaml"
    path.write_text(urdf.replace("</robot>", "<constraint name='c'/></robot>"), encoding="utf-8")
    outcome = run("check", path, loops)
    assert outcome.status == 0 and "constraint 'c'" in outcome.out and "1 warning" in outcome.out
    assert run("check", path).status == 1  # without the file that closes the loops


def broken(folder: Path) -> Path:
    text = (ROOT / "config" / "crank_leg.yaml").read_text(encoding="utf-8")
    path = folder / "broken.yaml"
    path.write_text(text.replace("successor_body: foot", "successor_body: foots"), encoding="utf-8")
    return path


def test_a_file_that_does_not_load_fails_with_place_and_remedy(run, tmp_path: Path) -> None:
    outcome = run("check", ROOT / "urdf" / "crank_leg.urdf", broken(tmp_path))
    assert outcome.status == 1 and outcome.out == ""
    assert "broken.yaml: submechanisms[2].loop_constraints[0].successor_body" in outcome.err
    assert "did you mean 'foot'?" in outcome.err


def test_json_of_a_file_that_does_not_load(run, tmp_path: Path) -> None:
    outcome = run("check", ROOT / "urdf" / "crank_leg.urdf", broken(tmp_path), "--json")
    data = json.loads(outcome.out)
    assert outcome.status == 1 and data["ok"] is False
    assert data["findings"][0]["place"].endswith("successor_body")


def test_wrong_units_are_named_beside_the_loop_that_they_keep_open(run, tmp_path: Path) -> None:
    tree = ElementTree.parse(ROOT / "urdf" / "delta.urdf")
    for origin in tree.iterfind("joint/origin"):
        degrees = np.degrees(np.array(origin.get("rpy", "0 0 0").split(), float))
        origin.set("rpy", " ".join(map(str, degrees)))
    path = tmp_path / "degrees.urdf"
    tree.write(path)
    files = path, ROOT / "config" / "delta.yaml"
    outcome = run("check", *files)
    assert outcome.status == 1 and "too many independent joints" in outcome.err
    lines = outcome.out.splitlines()
    assert lines and all("degrees.urdf: joint" in s and "[units-angle]" in s for s in lines)
    found = json.loads(run("check", *files, "--json").out)["findings"]
    assert [f["code"] for f in found] == ["model", *["units-angle"] * len(lines)]


def with_wrong_mass(folder: Path) -> Path:
    """The crank leg with the mass of its shank in g, in line 60 or so."""
    text = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    at = text.index("<mass value=", text.index('<link name="shank">')) + len('<mass value="')
    end = text.index('"', at)
    path = folder / "leg, in g.urdf"
    mass = 1e3 * float(text[at:end])
    path.write_text(f"{text[:at]}{mass}{text[end:]}", encoding="utf-8")
    return path


def line_with(path: Path, words: str) -> int:
    lines = path.read_text(encoding="utf-8").splitlines()
    return 1 + next(i for i, line in enumerate(lines) if words in line)


def test_annotations_for_github_name_file_and_line(run, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    path, loops = with_wrong_mass(tmp_path), ROOT / "config" / "crank_leg.yaml"
    outcome = run("check", path.name, loops, "--format", "github")
    (line,) = outcome.out.splitlines()
    at = line_with(path, '<link name="shank">')
    start = f"::warning file=leg%2C in g.urdf,line={at},title=units-mass::leg, in g.urdf: link"
    assert line.startswith(start) and outcome.status == 0
    broken_one = run("check", path.name, broken(tmp_path), "--format", "github")
    first = broken_one.out.splitlines()[0]
    at = line_with(tmp_path / "broken.yaml", "foots")
    assert first.startswith("::error file=") and f"broken.yaml,line={at},title=model::" in first
    assert broken_one.status == 1


def test_sarif_names_rules_files_and_lines(run, tmp_path: Path) -> None:
    path, loops = with_wrong_mass(tmp_path), ROOT / "config" / "crank_leg.yaml"
    log = json.loads(run("check", path, loops, "--format", "sarif").out)
    assert log["version"] == "2.1.0"
    (told,) = log["runs"]
    assert told["tool"]["driver"]["rules"] == [{"id": "units-mass"}]
    (result,) = told["results"]
    assert (result["ruleId"], result["level"]) == ("units-mass", "warning")
    place = result["locations"][0]["physicalLocation"]
    assert place["artifactLocation"]["uri"].endswith("leg, in g.urdf")
    assert place["region"]["startLine"] == line_with(path, '<link name="shank">')


@needs_models
def test_the_published_rh5_manus_has_warnings_and_no_errors(run) -> None:
    assert run("check", *FILES["full"]).status == 0
    outcome = run("check", *FILES["full"], "--strict", "--json")
    data = json.loads(outcome.out)
    assert outcome.status == 1
    assert (data["n"], data["m"], data["p"]) == COUNTS["full"]
    codes = {finding["code"] for finding in data["findings"]}
    assert {"idle-joint", "limits-past-toggle"} <= codes


def test_info_knows_what_the_api_knows(run, leg: cld.Robot) -> None:
    data = json.loads(run("info", "crank_leg", "--json").out)
    assert (data["n"], data["m"], data["p"]) == (leg.n, leg.m, leg.p)
    for key in ("independent", "spanning", "actuator"):
        assert tuple(data[key]) == getattr(leg.names, key)
    knee, ankle = data["loops"]
    assert knee["cuts"][0]["predecessor"] == "knee_cylinder_rod"
    assert ankle["mobility"] == 1 and ankle["solver"] == "analytical"
    assert [c["parent"] for c in data["clusters"]] == [None, 0, 1]
    low, high = leg.report()["knee"].reachable["knee"]
    np.testing.assert_allclose(knee["reachable"]["knee"], [low, high])


def test_info_says_how_a_loop_is_solved_and_why(run) -> None:
    assert "analytical: closed form by legs: planar stroke" in run("info", "crank_leg").out
    numerical = run("info", "crank_leg", "--solver", "numerical", "--only", "loops").out
    assert "numerical: Newton on 2 unknowns in blocks 2; asked for" in numerical
    assert "tree" not in numerical


def test_info_draws_the_tree(run) -> None:
    lines = run("info", "crank_leg", "--only", "tree").out.splitlines()
    assert "     ├─ knee → shank" in lines
    assert "        └─ knee_cylinder slides → knee_cylinder_rod" in lines


def test_info_refuses_unknown_sections(run) -> None:
    outcome = run("info", "crank_leg", "--only", "loop")
    assert outcome.status == 2 and "did you mean 'loops'?" in outcome.err


@kinds("reduced", "leg")
def test_info_counts_joints_and_loops(run, name: str) -> None:
    data = json.loads(run("info", *FILES[name], "--json").out)
    assert (data["n"], data["m"], data["p"]) == COUNTS[name]
    assert all(loop["mobility"] == len(loop["independent"]) for loop in data["loops"])


def test_graph_is_an_svg_with_every_joint_and_cluster(run, leg: cld.Robot, tmp_path: Path) -> None:
    path = tmp_path / "leg.svg"
    outcome = run("graph", "crank_leg", "-o", path)
    assert outcome.status == 0 and outcome.out == f"wrote {path}\n"
    svg = ElementTree.parse(path).getroot()
    texts = {element.text for element in svg.iter("{http://www.w3.org/2000/svg}text")}
    assert {*leg.names.spanning, "base_link", "crank_leg"} <= texts
    boxes = [r for r in svg.iter("{http://www.w3.org/2000/svg}rect") if r.get("rx") == "7"]
    assert len(boxes) == 1 + len(leg.mechanism.clusters)
    assert len(list(svg.iter("{http://www.w3.org/2000/svg}path"))) == len(leg.mechanism.clusters)
    assert run("graph", "crank_leg").out == path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["four_bar", "crank_leg", "rh5_leg", "rh5_humanoid"])
def test_words_of_the_graph_stay_on_the_page_and_apart(run, tmp_path: Path, name: str) -> None:
    """With the widths that the letters have in matplotlib's own font, a wide one."""
    from matplotlib.textpath import TextPath

    svg = ElementTree.fromstring(run("graph", name).out)
    rows: dict[float, list[tuple[float, float]]] = {}
    for text in svg.iter("{http://www.w3.org/2000/svg}text"):
        size = float(text.get("font-size", ""))
        x, y = float(text.get("x", "")), float(text.get("y", ""))
        end = x + float(TextPath((0, 0), text.text or "", size=size).get_extents().x1)
        for beside in text:  # where it starts is the browser's work
            length = TextPath((0, 0), beside.text or "", size=13).get_extents().x1
            end += float(beside.get("dx", "")) + float(length)
        rows.setdefault(y, []).append((x, end))
        assert end < float(svg.get("width", "")) and y < float(svg.get("height", ""))
    dot = 18.0  # with the space around it, in front of a word
    for row in rows.values():
        ends = sorted(row)
        assert all(a[1] + dot <= b[0] for a, b in pairwise(ends)), row


def test_boxes_of_the_graph_do_not_overlap() -> None:
    from closed_loop_dynamics.cli.cluster_drawing import _all, _boxes, _place

    robot = cld.load(ROOT / "urdf" / "rh5_leg.urdf", ROOT / "config" / "rh5_leg.yaml")
    root = _boxes(robot)
    _place(root)
    boxes = _all(root)
    for i, a in enumerate(boxes):
        for b in boxes[:i]:
            apart_x = a.x + a.width <= b.x or b.x + b.width <= a.x
            assert apart_x or a.y + a.height <= b.y or b.y + b.height <= a.y


def test_what_has_one_right_answer_is_put_right_in_a_copy(run, tmp_path: Path) -> None:
    """A limit past the end of a loop's reach; the other limit and all else stay, to the letter."""
    model, loops = ROOT / "urdf/mechanisms/four_bar.urdf", ROOT / "config/mechanisms/four_bar.yaml"
    text = model.read_text(encoding="utf-8")
    at = text.index("<limit", text.index('<joint name="rocker"'))
    tag = text[at : text.index(">", at) + 1]
    wide = re.sub('upper="[^"]*"', 'upper="3.0"', re.sub('lower="[^"]*"', 'lower="-3.0"', tag))
    path, copy = tmp_path / "wide.urdf", tmp_path / "mended.urdf"
    path.write_text(text.replace(tag, wide), encoding="utf-8")
    outcome = run("check", path, loops, "--fix", copy)
    assert "limits-past-toggle" in outcome.out and outcome.err.count("before its loop ends") == 1
    assert "limits-past-toggle" not in run("check", copy, loops).out
    mended = copy.read_text(encoding="utf-8")
    start = mended.index("<limit", mended.index('<joint name="rocker"'))
    assert mended[:start] == text[:at]
    assert mended[mended.index(">", start) :] == text[text.index(">", at) :]
    assert run("check", path, loops, "--fix", path).status == 2


def test_angles_in_degrees_are_put_right_in_a_copy(run, tmp_path) -> None:
    text = (ROOT / "urdf" / "crank_leg.urdf").read_text(encoding="utf-8")
    assert text.count('rpy="0 3.085314117301 0"') == 1
    path, copy = tmp_path / "degrees.urdf", tmp_path / "mended.urdf"
    path.write_text(text.replace("0 3.085314117301 0", "0 176.775477 0"), encoding="utf-8")
    outcome = run("check", path, ROOT / "config" / "crank_leg.yaml", "--fix", copy)
    assert "rpy in degrees, 0 176.775477 0, is 0 3.08531411 0 rad" in outcome.err
    assert copy.read_text(encoding="utf-8") == text.replace("3.085314117301", "3.08531411")
