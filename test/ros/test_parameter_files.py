"""Every parameter file that is shipped, as rcl itself reads it.

rcl has a YAML of its own: an unquoted y is a truth value to it, and a list must be of one kind.
What PyYAML makes of a file proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

pytest.importorskip("rclpy", reason="rclpy is not installed (extra `ros`)")

import rclpy
from rclpy.node import Node
from rclpy.parameter import parameter_dict_from_yaml_file

from closed_loop_dynamics.ros.launch_checks import LaunchRefused, parameters_file

pytestmark = pytest.mark.ros
CONFIG = Path(__file__).resolve().parents[2] / "config"
FILES = [
    CONFIG / "closed_loop.yaml",
    *sorted(CONFIG.glob("*_nodes.yaml")),
    *sorted(CONFIG.glob("ros2_control_*.yaml")),
]
#: Every node has these.
NODES_OWN = ("use_sim_time", "start_type_description_service")


def flat(values: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested names joined by dots, as parameters are called."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        if isinstance(value, dict):
            found |= flat(value, f"{prefix}{name}.")
        else:
            found[prefix + name] = value
    return found


def as_rcl_reads(path: Path, node: str) -> dict[str, Any]:
    """The parameters that a node of this name, in a namespace, is given by a file."""
    context = rclpy.Context()
    rclpy.init(args=["--ros-args", "--params-file", str(path)], context=context)
    try:
        found = Node(
            node,
            namespace="left" if path.name.endswith(("_nodes.yaml", "loop.yaml")) else "",
            context=context,
            start_parameter_services=False,
            automatically_declare_parameters_from_overrides=True,
        )
        values = {name: p.value for name, p in found.get_parameters_by_prefix("").items()}
        found.destroy_node()
    finally:
        context.try_shutdown()
    given = {name: value for name, value in values.items() if name not in NODES_OWN}
    return {
        n: v if isinstance(v, str) or not hasattr(v, "__len__") else [*v] for n, v in given.items()
    }


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_rcl_reads_what_the_file_says(path: Path) -> None:
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    assert content
    assert parameters_file(str(path)) == str(path)
    for key, section in content.items():
        meant = flat(section["ros__parameters"])
        assert meant
        assert as_rcl_reads(path, key.rpartition("/")[2]) == meant
        assert set(parameter_dict_from_yaml_file(str(path), target_nodes=[key])) >= set(meant)


def test_a_name_that_yaml_takes_for_a_truth_value_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    text = (CONFIG / "six_ups_nodes.yaml").read_text(encoding="utf-8")
    assert '"y"' in text
    file.write_text(text.replace('"y"', "y"), encoding="utf-8")
    with pytest.raises(LaunchRefused, match=r"parameters_file:=.*nodes\.yaml: ROS cannot read it"):
        parameters_file(str(file))
