"""MJCF text -> MuJoCo's compiled model; defaults, frames, units and inertias are its business.

Looks are left out, and so are meshes whose files are not there: a body whose mass was to come from
such a mesh is named.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import MjcfError
from ..remark import Remark
from ..text_source import clip
from ..xml_source import Element

#: What is read of a compiled model.
_NUMBERS = (
    *("body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia", "qpos0"),
    *("jnt_pos", "jnt_axis", "jnt_range", "dof_armature", "dof_damping", "dof_frictionloss"),
    *("site_pos", "site_quat", "eq_data", "jnt_stiffness", "qpos_spring", "tendon_stiffness"),
    "tendon_lengthspring",
)
_POINTER = b"version https://git-lfs"
#: What makes many bodies of one line, or code of a file.
_REFUSED = ("replicate", "composite", "flexcomp", "flex", "plugin", "extension", "attach")


def compiled(source: str | os.PathLike[str], root: Element) -> tuple[Any, tuple[Remark, ...]]:
    """The ``mujoco.MjModel`` of a path or text, and what had to be left out of it.

    Raises:
        MjcfError: MuJoCo is not installed, refuses the file, or something is not read here.
    """
    try:
        import mujoco
    except ImportError:
        raise MjcfError(
            "MJCF is read by MuJoCo's own compiler, which is not installed",
            file=root.file,
            remedy="pip install closed_loop_dynamics[mujoco]",
        ) from None
    for element in _below(root):
        if element.tag in _REFUSED:
            raise MjcfError(
                f"<{element.tag}> is not read",
                file=element.file,
                place=element.place,
                remedy="write rigid bodies and joints out",
            )
    remarks: tuple[Remark, ...] = ()
    is_text = isinstance(source, str) and source.lstrip("\ufeff \t\r\n").startswith("<")
    try:
        if is_text:
            spec = mujoco.MjSpec.from_string(str(source).lstrip("\ufeff \t\r\n"))
        else:
            spec = mujoco.MjSpec.from_file(os.fspath(source))
        folder = None if is_text else Path(os.fspath(source)).parent
        remarks = _without_looks(spec, folder, mujoco)
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            model = spec.compile()
    except (ValueError, RuntimeError, OverflowError, MemoryError, mujoco.FatalError) as problem:
        text = " ".join(str(problem).split())
        lost = "; put the mesh files where the file says, too" if remarks else ""
        raise MjcfError(
            f"MuJoCo's compiler refuses it ({clip(text, 400)})",
            file=root.file,
            remedy=f"correct what it names{lost}",
        ) from None
    for key in _NUMBERS:
        if not np.all(np.isfinite(getattr(model, key))):
            raise MjcfError(
                f"numbers that are not finite (MuJoCo's {key})",
                file=root.file,
                remedy="write finite numbers",
            )
    heard = (Remark("warning", "mujoco", f"MuJoCo: {clip(str(w.message), 300)}") for w in said)
    return model, (*remarks, *heard)


def _without_looks(spec: Any, folder: Path | None, mujoco: Any) -> tuple[Remark, ...]:
    """Delete materials, and meshes that are not there with the geoms that show them."""
    missing = {
        mesh.name or Path(mesh.file).stem for mesh in spec.meshes if _absent(mesh, spec, folder)
    }
    from_geoms = spec.compiler.inertiafromgeom == mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE
    lighter: list[str] = []
    for shown in (*spec.geoms, *spec.sites, *spec.tendons):
        shown.material = ""
    for geom in list(spec.geoms):
        if geom.meshname in missing:
            body = geom.parent
            if from_geoms or not body.explicitinertial:
                lighter.append(body.name)
            spec.delete(geom)
    for mesh in list(spec.meshes):
        if (mesh.name or Path(mesh.file).stem) in missing:
            spec.delete(mesh)
    for unused in (spec.pairs, spec.sensors, spec.skins, spec.textures, spec.materials):
        for each in list(unused):
            spec.delete(each)
    if not lighter:
        return ()
    message = (
        f"mesh files are missing: without them {', '.join(dict.fromkeys(lighter))} has no mass "
        "of its own"
    )
    return (Remark("warning", "missing-mesh", message),)


def _absent(mesh: Any, spec: Any, folder: Path | None) -> bool:
    if not mesh.file:
        return False  # vertices in the file itself
    place = (folder or Path()) / (spec.meshdir or "") / mesh.file
    if not place.is_file():
        return True
    with place.open("rb") as file:  # what git leaves where large files were not fetched
        return file.read(len(_POINTER)) == _POINTER


def _below(element: Element) -> Iterator[Element]:
    yield element
    for child in element.children:
        yield from _below(child)
