"""Parameters of a configured node change only where it reads them live; files and guide agree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

import rclpy
from rclpy.node import Node
from rclpy.parameter import Parameter

from closed_loop_dynamics.ros import trajectory_publisher
from closed_loop_dynamics.ros.feedforward import Feedforward
from closed_loop_dynamics.ros.joint_state_completer import JointStateCompleter
from closed_loop_dynamics.ros.parameters import COMMON, DOUBLES, STRINGS, NodeParameters, Spec
from closed_loop_dynamics.ros.simulator import Simulator

pytestmark = pytest.mark.ros
ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "nodes.md"
NODE_FILES = [ROOT / "config" / "closed_loop.yaml", *sorted((ROOT / "config").glob("*_nodes.yaml"))]


@pytest.fixture
def node() -> Iterator[Node]:
    context = rclpy.Context()
    rclpy.init(context=context)
    found = Node("parameters", context=context, start_parameter_services=False)
    yield found
    found.destroy_node()
    context.try_shutdown()


def change(node: Node, name: str, value: Any) -> Any:
    return node.set_parameters([Parameter(name, value=value)])[0]


def test_configured_node_refuses_what_it_has_read(node: Node) -> None:
    specs = (
        Spec("factor", 1.0, "", 0.5, 2.0),
        Spec("places", DOUBLES, ""),
        Spec("mass", 0.0, "", 0.0, 9.0, live=True),
    )
    parameters = NodeParameters(node, specs)
    assert change(node, "factor", 2.0).successful
    parameters.locked = True
    for name, value in (("factor", 1.5), ("places", [1.0]), ("use_sim_time", True)):
        refused = change(node, name, value)
        assert not refused.successful
        assert f"'{name}' is read when the node is configured" in refused.reason
    assert (parameters["factor"], parameters["places"]) == (2.0, [])
    assert change(node, "mass", 3.0).successful and parameters["mass"] == 3.0
    assert not change(node, "mass", 10.0).successful
    assert change(node, "factor", 2.0).successful  # no change at all
    parameters.locked = False
    assert change(node, "factor", 1.5).successful
    assert change(node, "places", [1.0]).successful


IN_COMMON = "What all three have in common"
TABLES = {
    IN_COMMON: COMMON,
    "feedforward": Feedforward.PARAMETERS,
    "simulator": Simulator.PARAMETERS,
    "joint_state_completer": JointStateCompleter.PARAMETERS,
    "trajectory_publisher": trajectory_publisher.PARAMETERS,
}


def written(default: Any) -> str:
    """A default as the guide writes it."""
    if default in (DOUBLES, STRINGS):
        return "[]"
    return str(default).lower() if isinstance(default, bool) else str(default)


def guide_on(section: str) -> str:
    """What the guide says under a heading."""
    return GUIDE.read_text(encoding="utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0]


@pytest.mark.parametrize("path", NODE_FILES, ids=lambda path: path.name)
def test_parameter_file_names_only_parameters_that_exist(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert content
    for key, section in content.items():
        node = key.removeprefix("/**/")
        assert key == f"/**/{node}", "for any namespace"
        known = {spec.name for spec in (*COMMON, *TABLES[node])} | {"use_sim_time"}
        assert not set(section["ros__parameters"]) - known, node


@pytest.mark.parametrize("node", [name for name in TABLES if name != IN_COMMON])
def test_guide_describes_each_node_under_the_same_headings_with_all_parameters(node: str) -> None:
    section = guide_on(node)
    headings = [line.removeprefix("### ") for line in section.splitlines() if line[:4] == "### "]
    assert headings == ["Commands", "Interfaces", "Parameters", "Failure behaviour"]
    table = section.split("### Parameters")[1].split("### ")[0]
    first_cells = [row.split("|")[1] for row in table.splitlines() if row.startswith("| `")]
    described = {name for cell in first_cells for name in cell.split("`")[1::2]}
    assert described == {spec.name for spec in TABLES[node]}
    assert all(f"| `{spec.name}` |" in guide_on(IN_COMMON) for spec in COMMON)


@pytest.mark.parametrize("section", TABLES)
def test_guide_gives_the_defaults(section: str) -> None:
    text = guide_on(section)
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| `")]
    table = {row[1].strip(" `"): row[2].strip() for row in rows}
    described = text.count("\n| `payload_link`, `payload_mass`, `payload_com`, `payload_inertia` |")
    for spec in TABLES[section]:
        if described and spec.name.startswith("payload_"):
            continue  # by reference to the node that has them first
        assert table[spec.name].strip('"') == written(spec.default), spec.name


def test_parameters_that_may_change_live_are_the_payload() -> None:
    live = {spec.name for specs in TABLES.values() for spec in specs if spec.live}
    assert live == {"payload_mass", "payload_com", "payload_inertia"}
    text = " ".join(GUIDE.read_text(encoding="utf-8").split())
    assert "`payload_mass`, `payload_com` and `payload_inertia` may be set while" in text
