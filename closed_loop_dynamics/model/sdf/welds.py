"""Gazebo's system DetachableJoint between two links of one model: a joint that closes a loop.

Loops are cut there rather than at a joint of the file: a weld has no friction to lose.

<plugin filename="gz-sim-detachable-joint-system" name="gz::sim::systems::DetachableJoint">
  <parent_link>rod</parent_link> <child_model>robot</child_model> <child_link>pin</child_link>
</plugin>
"""

from __future__ import annotations

from ..urdf.unread import is_weld, sdf_ends
from ..xml_source import Element

#: Attribute of the joints that are added.
WELD = "detachable"


def add_welds(model: Element) -> None:
    """A fixed joint for each of them, nested models too."""
    links = {link.get("name") for link in model.all("link")}
    for plugin in model.all("plugin"):
        ends = sdf_ends(plugin)
        if is_weld(plugin, model) and len(ends) == 2 and {*ends} <= links:
            words = {"name": "~".join(ends), "type": "fixed", WELD: "true"}
            joint = Element("joint", words, plugin.file, plugin.line, model)
            for tag, link in zip(("parent", "child"), ends, strict=True):
                joint.children.append(Element(tag, {}, plugin.file, plugin.line, joint, text=link))
            model.children.append(joint)
    for nested in model.all("model"):
        add_welds(nested)
