"""What an SDF model holds and nobody uses: named, or refused where it may close a loop."""

from __future__ import annotations

from collections.abc import Iterator

from ..drake import WORDS as DRAKE
from ..remark import Remark
from ..urdf.unread import CLOSES, is_weld, local_name, sdf_ends, shortened
from ..xml_source import Element
from .values import truth_of

#: Children that are read, or that neither move a robot nor weigh on it.
_KNOWN = {
    "model": {
        *(
            "static",
            "self_collide",
            "allow_auto_disable",
            "pose",
            "frame",
            "link",
            "joint",
            "model",
        ),
        *("plugin", "gripper", "enable_wind", *DRAKE),
    },
    "link": {
        *("pose", "inertial", "collision", "visual", "sensor", "gravity", "self_collide"),
        *("kinematic", "velocity_decay", "must_be_base_link", "enable_wind", "projector", "light"),
        *("audio_sink", "audio_source", "battery", "particle_emitter", "plugin"),
    },
    "inertial": {"mass", "pose", "inertia", "density"},
    "joint": {
        *("parent", "child", "pose", "axis", "axis2", "physics", "sensor", "plugin"),
        *("thread_pitch", "screw_thread_pitch", "gearbox_ratio", "gearbox_reference_body"),
        *("rotor_inertia", "gear_ratio", "mimic", "controller_gains"),
    },
    "axis": {"xyz", "limit", "dynamics", "mimic", "use_parent_model_frame"},
}


def remarks_on_unread(model: Element) -> Iterator[Remark]:
    """Remarks on all that has, or may have, a meaning and is not used.

    Raises:
        UrdfError: an element of the model that may close a loop.
    """
    joints = [joint for joint in model.all("joint")]
    axes = [axis for joint in joints for tag in ("axis", "axis2") for axis in joint.all(tag)]
    links = model.all("link")
    for element in (
        model,
        *links,
        *(i for link in links for i in link.all("inertial")),
        *joints,
        *axes,
    ):
        known = _KNOWN["axis" if element.tag == "axis2" else element.tag]
        for child in element.children:
            if local_name(child) in known:
                continue
            if element is model and CLOSES.search(local_name(child)):
                raise child.error(
                    "it ties links together in a way that is not known here: without it the robot "
                    "would be an open tree",
                    "write a joint in its place, or remove the element",
                )
            message = f"<{local_name(child)}> is not read: {child.place}"
            yield Remark("warning", "unread-element", message)
    names = {link.get("name") for link in links}
    for plugin in model.all("plugin"):
        ends = sdf_ends(plugin)
        foreign = "DetachableJoint" in plugin.get("name") and not is_weld(plugin, model)
        if foreign and len(ends) == 2 and {*ends} <= names:
            message = (
                f"{plugin.place} is not read: it closes a loop from '{ends[0]}' to '{ends[1]}' if "
                "its <child_model> is this model; write __model__ there if so"
            )
            yield Remark("warning", "unread-loop", message, plugin.file, plugin.place)
    weightless = [link.get("name") for link in links if not truth_of(link, "gravity", True)]
    weightless += [link.get("name") for link in links if truth_of(link, "kinematic")]
    if weightless:
        message = f"gravity and kinematic of {shortened(weightless)} are not used: they weigh here"
        yield Remark("warning", "unread-force", message)
    for nested in model.all("model"):
        yield from remarks_on_unread(nested)
