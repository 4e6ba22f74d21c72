"""Wrong units are caught in every shipped robot, and right ones in none."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from support.published import MODELS, ZOO, needs_models, needs_zoo

import closed_loop_dynamics as cld
from closed_loop_dynamics.cli.commands.zoo import beside
from closed_loop_dynamics.inspection import units_of_files
from closed_loop_dynamics.shipped import model_files

SHIPPED = model_files()
shipped = pytest.mark.parametrize("name", SHIPPED)
Xml = ElementTree.Element


@shipped
def test_shipped_robots_are_right(name: str) -> None:
    assert units_of_files(*SHIPPED[name][1:]) == []


def published(folder: Path) -> Iterator[Path]:
    return (p for p in sorted(folder.rglob("*")) if p.suffix in (".urdf", ".xml"))


@needs_models
def test_published_models_are_right() -> None:
    for path in published(MODELS):
        assert units_of_files(path, beside(path)) == [], path


@needs_zoo
def test_of_the_zoo_one_robot_has_balls_of_654_tons() -> None:
    found = {p.parent.name: units_of_files(p, beside(p)) for p in published(ZOO)}
    found = {name: findings for name, findings in found.items() if findings}
    (finding,) = found.pop("onshape_5bar")
    assert not found
    assert (finding.code, finding.severity) == ("units-mass", "warning")
    assert "'sphere'" in finding.message and "6.545e+05 kg" in finding.message


# -- mutants ---------------------------------------------------------------------------------------


def scale(element: Xml | None, factor: float, *keys: str) -> None:
    for key in keys if element is not None else ():
        if key in element.attrib:
            values = np.array(element.get(key).split(), float) * factor
            element.set(key, " ".join(f"{x:.12g}" for x in values))


def origins(robot: Xml) -> list[Xml]:
    return [*robot.iterfind("joint/origin"), *robot.iterfind("link/inertial/origin")]


def limits(robot: Xml, kind: str) -> list[Xml]:
    return [e for j in robot.iterfind("joint") if j.get("type") == kind for e in j.iter("limit")]


INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


def lengths_in_mm(robot: Xml) -> None:
    for origin in origins(robot):
        scale(origin, 1e3, "xyz")
    for limit in limits(robot, "prismatic"):
        scale(limit, 1e3, "lower", "upper")


def masses_in_g(robot: Xml) -> None:
    for mass in robot.iter("mass"):
        scale(mass, 1e3, "value")


def inertias_times(factor: float) -> Callable[[Xml], None]:
    def change(robot: Xml) -> None:
        for inertia in robot.iter("inertia"):
            scale(inertia, factor, *INERTIA)

    return change


def angles_in_degrees(robot: Xml) -> None:
    for origin in origins(robot):
        scale(origin, 180.0 / np.pi, "rpy")
    for limit in limits(robot, "revolute"):
        scale(limit, 180.0 / np.pi, "lower", "upper")


def all_of(*changes: Callable[[Xml], None]) -> Callable[[Xml], None]:
    return lambda robot: [change(robot) for change in changes]


MUTANTS = {
    "lengths in mm": (lengths_in_mm, "units-length"),
    "lengths in mm, inertia in kg mm2": (
        all_of(lengths_in_mm, inertias_times(1e6)),
        "units-length",
    ),
    "mm, g, g mm2": (all_of(lengths_in_mm, masses_in_g, inertias_times(1e9)), "units-length"),
    "masses in g": (masses_in_g, "units-mass"),
    "masses in g, inertia in g m2": (all_of(masses_in_g, inertias_times(1e3)), "units-mass"),
    "inertia in g mm2": (inertias_times(1e9), "units-inertia"),
    "inertia in g cm2": (inertias_times(1e7), "units-inertia"),
    "inertia in kg mm2": (inertias_times(1e6), "units-inertia"),
    "g, g mm2": (all_of(masses_in_g, inertias_times(1e9)), "units-inertia"),
    "angles in degrees": (angles_in_degrees, "units-angle"),
}


def mutated(name: str, change: Callable[[Xml], None]) -> str:
    robot = ElementTree.fromstring(SHIPPED[name].urdf.read_text(encoding="utf-8"))
    change(robot)
    return ElementTree.tostring(robot, encoding="unicode")


@pytest.mark.parametrize("mutant", MUTANTS)
@shipped
def test_a_robot_in_other_units_is_caught(name: str, mutant: str) -> None:
    change, code = MUTANTS[mutant]
    findings = units_of_files(mutated(name, change), SHIPPED[name].submechanisms)
    assert code in {finding.code for finding in findings}
    assert {f.code for f in findings if f.severity == "error"} <= {code}


def length(origin: Xml) -> float:
    return float(np.linalg.norm(np.array(origin.get("xyz", "0 0 0").split(), float)))


def one_inertia(robot: Xml) -> Xml:
    """Of the heaviest link that moves, in g mm2."""
    carried = {joint.find("child").get("link") for joint in robot.iterfind("joint")}
    links = [e for e in robot.iterfind("link[inertial]") if e.get("name") in carried]
    link = max(links, key=lambda e: float(e.find("inertial/mass").get("value")))
    scale(link.find("inertial/inertia"), 1e9, *INERTIA)
    return link


def one_mass(robot: Xml) -> Xml:
    link = one_inertia(robot)
    scale(link.find("inertial/inertia"), 1e-9, *INERTIA)
    scale(link.find("inertial/mass"), 1e3, "value")
    return link


def one_origin(robot: Xml) -> Xml:
    joint = max(robot.iterfind("joint[origin]"), key=lambda e: length(e.find("origin")))
    scale(joint.find("origin"), 1e3, "xyz")
    return joint


def one_limit(robot: Xml) -> Xml:
    joints = [e for e in robot.iterfind("joint[limit]") if e.get("type") == "revolute"]
    joint = max(joints, key=lambda e: abs(float(e.find("limit").get("upper", "0"))))
    scale(joint.find("limit"), 180.0 / np.pi, "lower", "upper")
    return joint


ONES = {
    one_inertia: "units-inertia",
    one_mass: "units-mass",
    one_origin: "units-length",
    one_limit: "units-angle",
}


@pytest.mark.parametrize("change", ONES, ids=lambda change: change.__name__)
@shipped
def test_one_number_in_other_units_is_caught_and_named(name: str, change) -> None:
    robot = ElementTree.fromstring(SHIPPED[name].urdf.read_text(encoding="utf-8"))
    changed = change(robot)
    text = ElementTree.tostring(robot, encoding="unicode")
    (finding,) = units_of_files(text, SHIPPED[name].submechanisms)
    assert finding.code == ONES[change]
    assert finding.place == f"{changed.tag} '{changed.get('name')}'"
    assert finding.remedy and "probably" in finding.message


ARM = """<robot name="arm">
  <link name="base"/><link name="upper"/>
  <joint name="swing" type="revolute">
    <parent link="base"/><child link="upper"/>
    <origin xyz="0 0 0.3" rpy="{rpy}"/>{axis}
    <limit lower="{lower}" upper="{upper}"/>
  </joint>
</robot>"""
RIGHT = {"rpy": "1.5708 0 -4.71", "axis": '<axis xyz="0 0 1"/>', "lower": -2, "upper": 2}


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"rpy": "90 0 0"}, "units-angle"),
        ({"rpy": "0 0 -45"}, "units-angle"),
        ({"rpy": "0 9.42478 0"}, None),  # three half turns
        ({"axis": ""}, "missing-axis"),
        ({"lower": -40, "upper": 17}, "units-angle"),
        ({"lower": -180, "upper": 180}, "units-angle"),
        ({"lower": -1000, "upper": 1000}, None),  # people write that for none
        ({"lower": -31.41593, "upper": 31.41593}, None),  # ten turns
        ({"lower": -6.98, "upper": 6.98}, None),  # wrists of industrial arms
    ],
)
def test_angles_and_axes(change: dict[str, object], code: str | None) -> None:
    found = [f for f in units_of_files(ARM.format(**RIGHT | change)) if f.code != "massless-leaf"]
    assert [f.code for f in found] == [code] * (code is not None)
    assert all("joint 'swing'" in f.place and f.remedy in f.message for f in found)


def test_the_report_has_them() -> None:
    report = cld.load(ARM.format(**RIGHT | {"rpy": "90 0 0", "axis": ""})).report()
    found = {f.code: f for f in report.findings}
    assert found["units-angle"].place == "joint 'swing'/origin (line 5)"
    assert "'90 0 0'" in found["units-angle"].message.replace('"', "'")
    assert "means x" in found["missing-axis"].message
