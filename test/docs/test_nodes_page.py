"""docs/nodes.md names every topic and service of the nodes."""

from __future__ import annotations

import ast

from support.doc_pages import ROOT

PAGE = (ROOT / "docs" / "nodes.md").read_text(encoding="utf-8")
CALLS = ("create_publisher", "create_lifecycle_publisher", "create_subscription", "create_service")


def names_in_the_code() -> set[str]:
    """Literal names that the nodes hand to rclpy or to their own helpers, such as "~/wrench"."""
    found: set[str] = set()
    for path in (ROOT / "closed_loop_dynamics" / "ros").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).endswith(CALLS):
                texts = [arg.value for arg in node.args if isinstance(arg, ast.Constant)]
                found |= {text for text in texts if isinstance(text, str)}
            elif isinstance(node, ast.Constant) and str(node.value).startswith("~/"):
                found.add(str(node.value))
    return {
        name for name in found if " " not in name and name != "~/"
    }  # before a name in a variable


def test_all_topics_and_services_are_described() -> None:
    names = names_in_the_code()
    assert {"~/joint_trajectory", "~/task_trajectory", "~/effort_command", "~/reset"} <= names
    assert not [name for name in sorted(names) if f"`{name}`" not in PAGE]
